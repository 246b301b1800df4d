#!/bin/bash
# The packages as their users get them: Debian packages installed, used and removed in an empty Debian 12, and the wheel in
# an empty environment. Needs root and the network (mmdebstrap).
#   run_package_test.sh SOURCE_FOLDER
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
example='
import treesample as ts
m = ts.Model()
rain, grass = m.variable("rain", ["no", "yes"]), m.variable("grass", ["dry", "wet"])
m.table([rain], [0.8, 0.2])
m.table([rain, grass], [[0.9, 0.1], [0.2, 0.8]])
answer = m.infer(evidence={"grass": "wet"})
assert abs(answer["rain"]["yes"] - 2 / 3) < 1e-12 and answer.log_z.exact, answer
print(answer)'

"$source/scripts/install-packages" mmdebstrap lintian
make -C "$source" --no-print-directory deb wheel
lintian --fail-on error "$source"/build-deb/*.deb || fail "lintian finds errors"

root=$work/root
mmdebstrap --quiet --variant=apt bookworm "$root" /etc/apt/sources.list.d/debian.sources
mkdir "$root/packages"
cp "$source"/build-deb/*.deb "$source/examples/models/asia.bif" "$root/packages"
before=$(chroot "$root" find /usr -name '*treesample*' | wc -l)
chroot "$root" sh -c 'apt-get -qq update && apt-get -qq install -y /packages/treesample_*.deb /packages/python3-*.deb' \
  > "$work/log" 2>&1 || { tail -20 "$work/log"; fail "the packages cannot be installed"; }
chroot "$root" treesample infer /packages/asia.bif
chroot "$root" python3 -c "$example"
chroot "$root" apt-get -qq purge -y treesample python3-treesample > "$work/log" 2>&1
after=$(chroot "$root" find /usr -name '*treesample*' | wc -l)
[ "$before" = "$after" ] || fail "something is left after the packages were removed"

"$source/scripts/install-packages" python3-venv
/usr/bin/python3 -m venv --system-site-packages "$work/environment"  # NumPy is Debian's
pip="$work/environment/bin/pip --quiet --disable-pip-version-check"
try() { (cd "$work" && "$work/environment/bin/python" -c "$example") || fail "$1 does not work"; }
$pip install --no-index "$source"/build-wheel/treesample-*.whl && try "the wheel"
$pip uninstall --yes treesample
$pip install --no-index --editable "$source" && try "the editable installation"
$pip uninstall --yes treesample
(cd "$source" && PYTHONPATH=python /usr/bin/python3 -c "import wheel_backend; wheel_backend.build_sdist('$work')")
$pip install --no-index "$work"/treesample-*.tar.gz && try "the sdist"
echo "packages, wheel, editable installation and sdist work"

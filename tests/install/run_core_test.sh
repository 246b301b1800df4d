#!/bin/bash
# The core alone in an empty Debian 12 that has fmt but none of the packages of the other libraries: programs
# are built against an installed prefix and run. Needs root and the network (mmdebstrap). The root is kept where
# ROOT=folder names one, and used again.
#   run_core_test.sh BUILD_FOLDER
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=${ROOT:-$work/root}
if [ ! -e "$root/etc/debian_version" ]; then
  "$here/../../scripts/install-packages" mmdebstrap
  mmdebstrap --quiet --variant=apt --include=g++,cmake,make,libfmt-dev bookworm "$root" \
    /etc/apt/sources.list.d/debian.sources
fi
rm -rf "$root/treesample"
mkdir "$root/treesample"
cmake --install "$build" --component library --prefix "$root/treesample/prefix" > "$work/install.log"
cp -r "$here/consumers" "$root/treesample/consumers"
for package in libsqlite3-dev libhiredis-dev libssl-dev libcpp-httplib-dev libgmp-dev libcadical-dev libhwy-dev libeigen3-dev nlohmann-json3-dev; do
  ! chroot "$root" dpkg-query -W "$package" 2> /dev/null || { echo "the empty Debian has $package"; exit 1; }
done
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }
in_root cmake -S /treesample/consumers -B /treesample/build -DCMAKE_PREFIX_PATH=/treesample/prefix
in_root cmake --build /treesample/build
for consumer in exact_answer own_callable bounds core_alone; do
  echo "$consumer"
  in_root "/treesample/build/$consumer"
done

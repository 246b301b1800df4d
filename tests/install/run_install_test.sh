#!/bin/bash
# Installs a build into an empty prefix, moves it, and builds and runs programs against it: by find_package from a
# project without any settings, and by pkg-config.
#   run_install_test.sh BUILD_FOLDER
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }

cmake --install "$build" --prefix "$work/first" > "$work/install.log"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
for file in bin/treesample include/treesample/treesample.hpp share/doc/treesample/LICENSE; do
  [ -e "$prefix/$file" ] || fail "not installed: $file"
done
"$prefix/bin/treesample" --version
libraries=$(dirname "$(find "$prefix" -name 'libtreesample.*' | head -1)")
core=(exact_answer own_callable bounds core_alone)

# A consumer of the core links fmt and none of the packages of the other libraries.
check_small() {
  ! ldd "$1" | grep -E 'libsqlite3|libhiredis|libcrypto|libssl|libcpp-httplib|libbrotli|libhwy' || fail "$1 links what it does not need"
}

cmake -S "$here/consumers" -B "$work/found" -DCMAKE_PREFIX_PATH="$prefix" -DWITH_CALLS=ON > "$work/configure.log"
cmake --build "$work/found" -j2
for consumer in "${core[@]}" learned; do
  echo "find_package: $consumer"
  "$work/found/$consumer"
  [ "$consumer" = learned ] || check_small "$work/found/$consumer"
done

export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra flags <<< "$(pkg-config --cflags treesample)"
# One is compiled with these flags; of the others, what find_package has compiled is linked.
g++ "${flags[@]}" -c "$here/consumers/exact_answer.cpp" -o "$work/exact_answer.o"
for mode in "" --static; do
  for consumer in "${core[@]}" learned; do
    package=treesample
    [ "$consumer" != learned ] || package=treesample-calls
    read -ra libs <<< "$(pkg-config $mode --libs $package)"
    [ -f "$work/$consumer.o" ] || cp "$work/found/CMakeFiles/$consumer.dir/$consumer.cpp.o" "$work/$consumer.o"
    g++ "$work/$consumer.o" "${libs[@]}" -Wl,-rpath,"$libraries" -o "$work/$consumer"
    echo "pkg-config $mode: $consumer"
    "$work/$consumer"
  done
done

# The ten-line program, stripped: 2.5 MB at most.
g++ "${flags[@]}" -O2 -c "$here/../../examples/quick_start.cpp" -I"$prefix/include" -o "$work/quick_start.o"
read -ra libs <<< "$(pkg-config --libs treesample)"
g++ "$work/quick_start.o" "${libs[@]}" -Wl,-rpath,"$libraries" -o "$work/quick_start"
"$work/quick_start" | diff - "$here/../../examples/quick_start.output"
strip "$work/quick_start"
bytes=$(stat -c %s "$work/quick_start")
echo "quick_start: $bytes bytes"

#!/bin/bash
# Installs a build into an empty prefix, moves it, and builds and runs programs against it: by find_package from a
# project without any settings, and by pkg-config.
#   run_install_test.sh BUILD_FOLDER
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" > "$work/install.log"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
for file in bin/treesample include/treesample/treesample.hpp share/doc/treesample/LICENSE; do
  [ -e "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
"$prefix/bin/treesample" --version
libraries=$(dirname "$(find "$prefix" -name 'libtreesample.*' | head -1)")

cmake -S "$here/consumers" -B "$work/found" -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log"
cmake --build "$work/found" -j2
for consumer in exact_answer own_callable bounds; do
  echo "find_package: $consumer"
  "$work/found/$consumer"
done

export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra flags <<< "$(pkg-config --cflags treesample)"
for mode in "" --static; do
  read -ra libs <<< "$(pkg-config $mode --libs treesample)"
  for consumer in exact_answer own_callable bounds; do
    [ -f "$work/$consumer.o" ] || g++ "${flags[@]}" -c "$here/consumers/$consumer.cpp" -o "$work/$consumer.o"
    g++ "$work/$consumer.o" "${libs[@]}" -Wl,-rpath,"$libraries" -o "$work/$consumer"
    echo "pkg-config $mode: $consumer"
    "$work/$consumer"
  done
done

#!/bin/bash
# The ways that build the library anew: as a folder of another project, and as a shared library.
#   run_build_test.sh SOURCE_FOLDER
set -eu
source=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launcher=()
if command -v ccache > /dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

cmake -S "$here/parent" -B "$work/parent" -DTREESAMPLE_SOURCE="$source" "${launcher[@]}" > "$work/configure.log"
fail() { echo "$1"; exit 1; }
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$work/parent/CMakeCache.txt" || fail "the parent's build type was changed"
cmake --build "$work/parent" -j2 > "$work/build.log" || { tail -50 "$work/build.log"; exit 1; }
for consumer in exact_answer own_callable bounds core_alone; do
  echo "add_subdirectory: $consumer"
  "$work/parent/$consumer"
done
[ -z "$(find "$work/parent" -name treesample -type f)" ] || fail "the program was built in a sub-project"
[ -z "$(find "$work/parent" -name '*experiments*')" ] || fail "the experiments were built in a sub-project"

# The core alone. What the other libraries do is refused by name.
cmake -S "$here/parent" -B "$work/small" -DTREESAMPLE_SOURCE="$source" -DTREESAMPLE_CALLS=OFF -DTREESAMPLE_FORMULAS=OFF "${launcher[@]}" \
  > "$work/configure.log"
cmake --build "$work/small" -j2 > "$work/build.log" || { tail -50 "$work/build.log"; exit 1; }
for consumer in exact_answer own_callable bounds core_alone; do
  echo "the core alone: $consumer"
  "$work/small/$consumer"
  if ldd "$work/small/$consumer" | grep -E 'libsqlite3|libhiredis|libcrypto|libcpp-httplib|libgmp|libhwy'; then fail "links what was left out"; fi
done

# Without optimisation: it is the package that is tested.
cmake -S "$source" -B "$work/shared" -DBUILD_SHARED_LIBS=ON -DTREESAMPLE_DEVELOPER=OFF -DCMAKE_BUILD_TYPE=Debug "${launcher[@]}" \
  > "$work/configure.log"
cmake --build "$work/shared" -j2 > "$work/build.log" || { tail -50 "$work/build.log"; exit 1; }
"$here/run_install_test.sh" "$work/shared"
version=$(sed -n 's/^project(treesample VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
for library in treesample treesample-formulas treesample-calls treesample-train; do
  file=$work/shared/lib$library.so.$version
  [ -f "$file" ] || fail "no $file"
  foreign=$(nm --dynamic --defined-only --demangle "$file" | cut -d' ' -f3- | grep -vE 'treesample::|treesample_[a-z]*_is_linked' || true)
  [ -z "$foreign" ] || fail "lib$library shows symbols that are not its own: $foreign"
done

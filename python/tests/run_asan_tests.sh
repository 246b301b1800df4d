#!/bin/bash
# The Python tests under the address and undefined-behaviour sanitizers: run_asan_tests.sh SOURCE_FOLDER [PYTEST ARGUMENT...]
# The interpreter is not instrumented, so the sanitizer's library is loaded before it. What the interpreter itself never
# frees is no leak of ours, so leaks are not looked for (test_memory_does_not_grow does).
set -eu
source=$1
shift
cd "$source"
cmake --preset asan -DTREESAMPLE_PYTHON=ON -DTREESAMPLE_DEVELOPER=ON > /dev/null
cmake --build build-asan --target treesample_python treesample_cli
asan=$(g++ -print-file-name=libasan.so)
ubsan=$(g++ -print-file-name=libubsan.so)
cxx=$(g++ -print-file-name=libstdc++.so.6)  # its exceptions have to be there when the sanitizer looks for them
export LD_PRELOAD="$asan $ubsan $cxx" ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export PYTHONPATH=$PWD/build-asan/python PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc
export TREESAMPLE_PROGRAM=$PWD/build-asan/treesample TREESAMPLE_MODELS=$PWD/examples/models
exec /usr/bin/python3 -m pytest -q -p no:cacheprovider python/tests "$@"

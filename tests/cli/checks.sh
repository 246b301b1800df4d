# Shared by the command-line tests: sourced with PROGRAM and MODELS_FOLDER as arguments. Works in an
# empty folder that is removed at the end.
set -u
program=$1
models=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
num_failed=0
export TREESAMPLE_ALLOW_PROGRAMS=1  # consent has tests of its own

# check NAME CONDITION...: counts a failure unless the condition holds.
check() {
  local name=$1
  shift
  if ! "$@"; then
    echo "FAILED: $name"
    echo "  stdout: $(head -c 600 out)"
    echo "  stderr: $(head -c 600 err)"
    num_failed=$((num_failed + 1))
  fi
}
run() { "$program" "$@" > out 2> err; code=$?; }
exits() { [ "$code" -eq "$1" ]; }
says() { grep -q -- "$2" "$1"; }
lines() { [ "$(wc -l < "$1")" -eq "$2" ]; }

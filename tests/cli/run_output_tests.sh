#!/bin/bash
# Files, standard output, names and words of the command line as a careless or hostile user hands them in.
# usage: run_output_tests.sh PROGRAM MODELS_FOLDER
# shellcheck source=checks.sh
source "$(dirname "$0")/checks.sh" "$@"
grid="$models/ising-8x8.uai"
cp "$models/chain.uai" chain.uai

# Output that is lost is an error: exit code 74 (EX_IOERR) and one line, for everything that prints.
for arguments in "infer chain.uai" "infer chain.uai --json -" "infer chain.uai --samples 2000" "info chain.uai" \
  "generate chain" "generate chain --fields" "compare chain.uai --budgets 10 --runs 1 --methods sis" \
  "bench --budget 10" "--help" "--version" "-v" "help" "help infer" "infer --help" ""; do
  # shellcheck disable=SC2086
  "$program" $arguments > /dev/full 2> err
  code=$?
  check "full: '$arguments'" exits 74
  check "full: '$arguments': one line" lines err 1
  check "full: '$arguments': what happened" says err '^treesample: standard output: cannot be written: No space left'
  # shellcheck disable=SC2086
  "$program" $arguments >&- 2> err
  code=$?
  check "closed: '$arguments'" exits 74
  check "closed: '$arguments': what happened" says err '^treesample: standard output: cannot be written: it is closed$'
  # shellcheck disable=SC2086
  { "$program" $arguments 2> err; echo $? > pipe_code; } | true
  code=$(cat pipe_code)
  check "no reader: '$arguments'" exits 74
  check "no reader: '$arguments': what happened" says err '^treesample: standard output: cannot be written: Broken pipe$'
done
: > out
# It is known before the work: nothing is written.
"$program" infer chain.uai --json early.json >&- 2> err
check "closed: nothing is computed" [ ! -e early.json ]
# Files come first, so that they are there although nobody reads the summary.
"$program" infer chain.uai --json kept.json > /dev/full 2> err
check "full: the file is written" says kept.json '"log_z"'
# Remarks that cannot be written are no reason to fail, nor to end up in another file.
"$program" infer chain.uai --method exact --budget 10 --json quiet.json > out 2> /dev/full
check "standard error full" [ $? -eq 0 ]
"$program" infer missing.uai > out 2> /dev/full
check "standard error full: the code stays" [ $? -eq 66 ]
"$program" infer chain.uai --method exact --budget 10 --json quiet.json > out 2>&-
check "standard error closed" [ $? -eq 0 ]
check "standard error closed: the file is JSON" python3 -c 'import json; json.load(open("quiet.json"))'
"$program" infer chain.uai > out 2> err 1< chain.uai
check "standard output that can only be read" [ $? -eq 74 ]

# A file that cannot be written is an error with its name, and known before the work.
: > err
printf 'old' > old.json
message=$(ulimit -f 0; trap '' XFSZ; "$program" infer chain.uai --json old.json 2>&1 > /dev/null)
code=$?
check "no room for the file" exits 74
check "no room for the file: its name" [ "$message" = "treesample: old.json: cannot be written: File too large" ]
check "no room for the file: the old one stays" [ "$(cat old.json)" = old ]
# What the disk has no room for at the end of the work does not take the rest of the answer with it.
with_room() {  # of some KiB for each file, but not for standard output
  (ulimit -f "$1"; trap '' XFSZ; "$program" "${@:2}" 2> err; echo $? > code_file) | cat > out
  code=$(cat code_file)
}
with_room 8 infer chain.uai --samples 2000 --json large.json --marginals-out small.csv
check "a full disk at the end" exits 74
check "a full disk at the end: one line" lines err 1
check "a full disk at the end: its name" says err '^treesample: large.json: cannot be written: File too large$'
check "a full disk at the end: the summary" says out '^spent '
check "a full disk at the end: other files" says small.csv '^variable,state,probability'
check "a full disk at the end: no part of the file" [ ! -e large.json ]
with_room 4 infer "$grid" --select gap --leaf uniform --time 3 --memory 4M --trace t.csv --quiet
check "a trace that is cut off" exits 74
check "a trace that is cut off: its name" says err '^treesample: t.csv: cannot be written: File too large$'
check "a trace that is cut off: the answer" says out '^spent .*stopped: '
printf 'x0\n' > cases.csv
for _ in $(seq 200); do echo 0; done >> cases.csv
with_room 8 infer chain.uai --cases cases.csv --query x1 --cases-out rows.csv
check "a table of cases without room" exits 74
check "a table of cases without room: its rows" [ "$(wc -l < out)" -eq 201 ]
for arguments in "infer chain.uai --json" "infer chain.uai --trace" "infer chain.uai --uai-out" "generate chain --out"; do
  # shellcheck disable=SC2086
  run $arguments no/such/folder/file
  check "$arguments: no folder" exits 74
  check "$arguments: one line" lines err 1
  check "$arguments: nothing was computed" lines out 0
done
run infer chain.uai --json /dev/full
check "a full device" exits 74
check "a full device: its name" says err '^treesample: /dev/full: cannot be written'

# Names that are not UTF-8, or that a terminal would obey.
odd=$'bad\xff\x1b[31m\nname.uai'
cp chain.uai "$odd"
printf '1 0 0\n' > $'ev\xfe.evid'
run infer "$odd" --evidence $'ev\xfe.evid' --json -
check "a name that is not UTF-8" exits 0
check "a name that is not UTF-8: valid JSON" python3 -c '
import json
answer = json.loads(open("out", "rb").read().decode("utf-8"))
assert answer["model"]["file"] == "bad\ufffd\x1b[31m\nname.uai", answer["model"]
assert answer["options"]["evidence"] == "ev\ufffd.evid", answer["options"]'
run infer "$odd" --json $'out\xfd.json'
check "the summary shows what is odd" says out '^model       bad\\xff\\x1b\[31m\\x0aname.uai: 10 variables, 19 factors'
check "the file has its name" python3 -c 'import json; json.load(open(b"out\xfd.json"))'
run infer $'missing\x1b]0;x\x07.uai'
check "names in errors" says err '^treesample: missing\\x1b\]0;x\\x07.uai: cannot be read'
check "names in errors: one line" lines err 1
run info "$odd"
check "names in info" says out '^model           bad\\xff\\x1b\[31m\\x0aname.uai$'
run compare "$odd" --budgets 10 --runs 1 --methods sis --out report
check "names in compare" says out '^Methods compared on bad\\xff\\x1b\[31m\\x0aname.uai$'
check "names in files of compare" [ "$(grep -c $'\x1b' report/report.html)" -eq 0 ]
cat > escape.json << 'END'
{"variables": [{"name": "a\u001b]0;pwned\u0007", "states": ["\u001b[2Jx", "y\nlog Z 1, exact"]}], "factors": []}
END
run infer escape.json --samples 3
check "names of variables and states" says out '^  a\\x1b\]0;pwned\\x07 '
check "names of variables and states: no escape" [ "$(grep -c $'\x1b' out)" -eq 0 ]
check "names of variables and states: no line of their own" [ "$(grep -c '^log Z 1' out)" -eq 0 ]

# Nested JSON and inputs without an end.
python3 -c 'print("{\"variables\": [{\"name\": \"a\", \"states\": " + "[" * 100000 + "]" * 100000 + "}], \"factors\": []}")' > deep.json
run infer deep.json
check "nested JSON" exits 65
check "nested JSON: one line" says err '^treesample: deep.json:1: lists and objects are nested deeper than the allowed 64 levels$'
ln -s /dev/zero zero.uai
# Under a sanitizer nothing starts with little memory.
memory=1000000
(ulimit -v $memory; "$program" --version) > out 2> err || memory=unlimited
(ulimit -v $memory; "$program" infer zero.uai > out 2> err)
code=$?
check "a file without an end" exits 69
check "a file without an end: the limit" says err '^treesample: zero.uai: too large to be read, allowed are 67108864 bytes'
run infer chain.uai --leaf net:zero.uai
check "a network without an end" says err '^treesample: --leaf: zero.uai: too large to be read'
truncate -s 2G large.uai
run infer large.uai
check "a large file" says err '^treesample: large.uai: too large to be read, allowed are 1073741824 bytes'
mkdir folder.uai
run infer folder.uai
check "a folder" says err '^treesample: folder.uai: cannot be read: Is a directory'
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket.uai")'
run infer socket.uai
check "a socket" says err '^treesample: socket.uai: cannot be read'
printf '{"variables": [{"name": "a", "states": 2}], "factors": [{"scope": ["a"], "log_values": [1e308, 0]}, {"scope": ["a"], "log_values": [1e308, 0]}]}' > beyond.json
printf '1 0 0\n' > beyond.evid
run infer beyond.json --evidence beyond.evid
check "values beyond all numbers" [ "$code" -ne 0 ]
check "values beyond all numbers: the file" says err '^treesample: beyond.json: '
printf '\xef\xbb\xbf' | cat - chain.uai > mark.uai
printf '\xef\xbb\xbf1 0 0\n' > mark.evid
run infer mark.uai --evidence mark.evid
check "a byte order mark" says out '1 observed$'
printf 'MARKOV\n1\n2\n1\n1 0\n2 -0 1\n' > minus.uai
run infer minus.uai
check "minus zero in a table" says out '^log Z       0.000000 (log10: 0.000000), exact'
check "one is singular" says out '^model       minus.uai: 1 variable, 1 factor$'
check "one is singular: simplified" says out '^simplified  1 variable forced, 1 constant factor; left: 0 variables, 0 factors$'

# Whole numbers may be written with an exponent, in every command.
for number in 1e3 1000 1.0e3 +1000 10e2; do
  run infer chain.uai --space tree --budget $number
  check "--budget $number" says out '^spent       1000 reward evaluations'
done
for number in 1.5e0 1e30 1e-1 0x10 1e '' abc 99999999999999999999; do
  run infer chain.uai --space tree --budget "$number"
  check "--budget '$number'" exits 64
  check "--budget '$number': one line" says err \
    "^treesample: --budget is '$number', allowed are whole numbers from 0 to 9223372036854775807 (see 'treesample infer --help')$"
done
run generate chain --n 1e1 --seed 1e0
check "generate --n 1e1" says out '^10$'
run infer chain.uai --memory 1e9
check "--memory 1e9" exits 0
run bench --budget 1e2
check "bench --budget 1e2" exits 0
run compare chain.uai --budgets 1e1,1.5 --methods sis
check "compare --budgets 1.5" says err "'1.5' is not a whole number"

# A word that is not known is named, with what was probably meant.
run infer chain.uai --buget 100
check "unknown option" exits 64
check "unknown option: help" says err "^treesample: unknown option '--buget'; did you mean --budget? (see 'treesample infer --help')$"
run infer --buget=100
check "unknown option before a missing model" says err "^treesample: unknown option '--buget'; did you mean --budget?"
run train --epsiodes 3
check "unknown option of train" says err "'--epsiodes'; did you mean --episodes? (see 'treesample train --help')$"
run infer chain.uai --xyzzy
check "an option like no other" says err "^treesample: unknown option '--xyzzy' (see 'treesample infer --help')$"
run infer chain.uai other.uai
check "one word too many" says err "^treesample: 'other.uai' is one word too many (see 'treesample infer --help')$"
run infr chain.uai
check "unknown command" says err "did you mean infer?"
run
check "no word at all" exits 0
check "no word at all: help" says out '^Commands:'
run help
check "help" says out '^Commands:'
run help infer
check "help infer" says out '^Usage: treesample infer '
run help nothing
check "help nothing" exits 64
for word in -v --version; do
  run $word
  check "$word" says out '^treesample [0-9]'
done
run info --help
check "info takes .json" says out '\.json'
run compare --help
check "compare lists its methods" says out 'elbo'

# Samples, shown within the time, and how many there were.
"$program" generate ising --n 10 --seed 1 --out ising.uai
run infer ising.uai --method bp --samples 3
check "few samples by belief propagation" exits 0
check "few samples by belief propagation: all of them" says out '^samples     3$'
printf 'MARKOV\n2\n1048576 2\n1\n1 1\n2 1 3\n' > many_states.uai
SECONDS=0
run infer many_states.uai --select gap --samples 2 --quiet
check "samples of a million states" says out '^samples     2$'
check "samples of a million states: soon" [ $SECONDS -lt 20 ]
for options in "" "--json -" "--method smc"; do
  SECONDS=0
  # shellcheck disable=SC2086
  run infer chain.uai --samples 1000000000 --time 2 $options
  check "samples without an end $options" exits 0
  check "samples without an end $options: how many" says err '^[0-9]* of 1000000000 samples: the time limit (--time) is over$'
  check "samples without an end $options: in time" [ $SECONDS -lt 20 ]
done

echo "$num_failed failed"
[ $num_failed -eq 0 ]

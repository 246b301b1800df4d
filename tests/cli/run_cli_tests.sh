#!/bin/bash
# Runs the program as a user would: what it prints, where, and with which exit code.
# usage: run_cli_tests.sh PROGRAM MODELS_FOLDER
# shellcheck source=checks.sh
source "$(dirname "$0")/checks.sh" "$@"

run --version
check "version" exits 0
check "version text" says out '^treesample [0-9]'
run --help
check "help lists commands" says out 'infer'
for command in infer info generate bench; do
  run $command --help
  check "$command has help" exits 0
  check "$command help has examples" says out 'Examples:'
done

run infer "$models/chain.uai" --space andor --budget 10000
check "infer" exits 0
check "infer is exact" says out ', exact'
check "nothing on stderr without a terminal" [ ! -s err ]

run infer "$models/permuted-chain.uai" --space tree --budget 1000 --samples 3 --seed 5 --json a.json
check "tree is an estimate" says out ', estimate'
check "importance estimate" says out 'importance sampling'
run infer "$models/permuted-chain.uai" --space tree --budget 1000 --samples 3 --seed 5 --json b.json
grep -v '"seconds"\|per_second' a.json > a.stable
grep -v '"seconds"\|per_second' b.json > b.stable
check "same seed, same JSON" cmp -s a.stable b.stable
run infer "$models/chain.uai" --json -
check "JSON alone on stdout" says out '^{'
check "JSON says exact" says out '"exact": true'
check "JSON has log Z" says out '"estimate":'

# Every method answers.
for method in "treesample" "exact" "sis" "smc" "gibbs" "gibbs --gibbs-mode chain --burn-in 5 --sweeps 1" "bp" \
  "treesample --prior mini-bucket:2"; do
  run infer "$models/factor-graphs-1.uai" --method $method --budget 5000 --samples 1
  check "method $method" exits 0
  check "method $method samples" says out '^samples     1'
done

# Evidence beside the model is used, and said so.
cp "$models/chain.uai" .
echo "1 0 2" > chain.uai.evid
run infer chain.uai
check "evidence is found" says err 'chain.uai.evid'
check "evidence is counted" says out '1 observed'
echo "1 0 9" > chain.uai.evid
run infer chain.uai
check "bad evidence" exits 65
check "bad evidence names file, value and range" says err 'chain.uai.evid:1.*9'
check "one line" lines err 1

# A model with zeros is simplified first: x0 is forced, x1 loses a state; answers speak of the whole model.
printf 'MARKOV\n3\n2 3 2\n3\n1 0\n2 0 1\n2 1 2\n2 0 1\n6 1 1 1 2 0 3\n6 1 2 1 1 5 4\n' > zeros.uai
run infer zeros.uai --method exact --samples 4 --json zeros.json
check "what was removed is said" says out '^simplified  1 variables forced, 1 impossible states removed'
check "log Z of the whole model" says out '^log Z       3.496508'
check "removed states have marginal 0" says out 'x1 .* 0: 0.1818  1: 0.0000  2: 0.8182'
check "forced variables are certain" says out 'x0 .* 0: 0.0000  1: 1.0000'
check "samples are whole" says out '^  1 [02] [01]$'
check "JSON says it" says zeros.json '"removed_states": 1'
run infer zeros.uai --method exact --no-simplify
check "the same without" says out '^log Z       3.496508'
check "nothing is said without" [ "$(grep -c simplified out)" -eq 0 ]
run info zeros.uai
check "info shows it" says out '^simplified'
printf 'MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n2 1 0\n4 0 0 1 1\n' > impossible.uai
for method in auto treesample exact sis smc gibbs bp; do
  run infer impossible.uai --method $method --samples 1 --json impossible.json
  check "impossible model, $method" exits 0
  check "no marginals of an impossible model, $method" says impossible.json '"marginals": \[\]'
done

# Bad input: one line, a non-zero code, nothing written.
run infer missing.uai --json x.json
check "missing file" exits 66
check "missing file is named" says err 'missing.uai'
check "one line" lines err 1
check "no partial output" [ ! -e x.json ]
printf 'MARKOV\n2\n2 x\n' > broken.uai
run infer broken.uai
check "broken file" exits 65
check "broken file names line and token" says err "broken.uai:3.*'x'"
rm chain.uai.evid
run infer chain.uai --budget -1
check "bad number" exits 64
check "bad number is explained" says err "\-\-budget is '-1', allowed"
run infer chain.uai --space cube
check "bad word" exits 64
run infer chain.uai --memory lots
check "bad size" exits 64
run frobnicate
check "unknown command" exits 64
run infer broken.xyz
check "unknown extension" exits 64
run infer chain.uai --json /no/such/folder/x.json
check "unwritable output" [ "$code" -ne 0 ]

# generate writes what infer reads; the same seed gives the same file.
for family in chain permuted-chain factor-graphs-1 factor-graphs-2 ising; do
  run generate $family --seed 3 --out one.uai
  check "generate $family" exits 0
  run generate $family --seed 3
  check "$family: same seed same bytes" cmp -s out one.uai
  run info one.uai
  check "info $family" says out 'min-fill'
  run infer one.uai --budget 500
  check "infer $family" exits 0
done
run generate chain --set nonsense=1
check "unknown field" exits 64

# Ctrl-C: the answer so far.
"$program" generate ising --n 30 --out big.uai
# One order alone, so that the search has begun when the signal comes; the time limit is for when it has not.
setsid "$program" infer big.uai --space andor --restarts 1 --budget 1000000000000 --time 60 --importance 0 > out 2> err &
pid=$!
sleep 1
kill -INT $pid
wait $pid
code=$?
check "Ctrl-C ends well" exits 0
check "Ctrl-C gives the answer so far" says out 'stopped: interrupted'
run infer big.uai --space tree --time 0.3 --budget 1000000000000 --importance 0
check "time limit" says out 'stopped: time'
run infer big.uai --space tree --memory 1M --budget 1000000000000 --importance 0
check "memory limit" says out 'stopped: memory'
run infer big.uai --method exact --memory 1M
check "elimination refuses" exits 69
check "elimination names the size" says err 'allowed'

echo "$num_failed failed"
[ $num_failed -eq 0 ]

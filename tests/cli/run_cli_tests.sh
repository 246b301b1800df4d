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

# The best configuration: proved where log Z comes from elimination, else the best found.
run infer "$models/ising-8x8.uai" --json best.json
check "elimination has the optimum" says out '^best        log density 75.633241 at 1 1 0 .*; optimal (certified to [0-9]e-[0-9]*)$'
check "JSON says optimal" says best.json '"optimal": true'
check "JSON bounds the optimum" says best.json '"gap": [0-9.]*e-'
check "no remarks" lines err 0
run infer "$models/ising-8x8.uai" --select gap --json best.json
check "the best that a search found is proved" says out '^best .*; optimal (certified to [0-9]e-[0-9]*)$'
run infer "$models/ising-8x8.uai" --select q-uct --budget 1000 --json best.json
check "the paper's search has the best found" says out '^best .*; best found$'
check "JSON says that it is not proved" says best.json '"optimal": false'
run infer "$models/ising-8x8.uai" --method exact --memory 46K --json best.json
check "little memory for the optimum: in slices" says out '^best .*; optimal (certified to [0-9]e-[0-9]*)$'
check "JSON says that it is proved" says best.json '"optimal": true'
run infer "$models/ising-8x8.uai" --method exact --memory 600 --json best.json
check "slices have log Z" says out '^log Z  *85.358342 .*exact'
check "no memory for the optimum" says err '^the most probable configuration was not looked for: not enough memory'
check "no memory for marginals" says err '^no marginals: not enough memory'
check "one that is possible is given" says out '^best  *log density .*; best found$'
check "JSON does not say that it is optimal" says best.json '"optimal": null'
printf 'MARKOV\n3\n2 2 3\n3\n2 0 1\n2 1 2\n1 2\n4\n1 2 3 4\n6\n1 5 0 2 2 0\n3\n1 1 9\n' > optimum.uai
run infer optimum.uai
check "the optimum is possible" says out '^best        log density 2.708050 at 1 0 1; optimal (certified to [0-9]e-[0-9]*)$'
printf '1 0 0\n' > optimum.uai.evid
run infer optimum.uai
check "the optimum agrees with the evidence" says out '^best        log density 1.609438 at 0 0 1; optimal (certified to [0-9]e-[0-9]*)$'
printf '2 2 2 0 0\n' > optimum.uai.evid
run infer optimum.uai
check "nothing is best where nothing is possible" [ -z "$(grep '^best' out)" ]

# Every method answers.
for method in "tree" "search" "exact" "sis" "smc" "gibbs" "gibbs --gibbs-mode chain --burn-in 5 --sweeps 1" "bp" \
  "tree --leaf mini-bucket:2"; do
  run infer "$models/factor-graphs-1.uai" --method $method --budget 5000 --samples 1
  check "method $method" exits 0
  check "method $method samples" says out '^samples     1'
done

# The search for factors that are functions: asked for by either of its words, and chosen where a factor is a program.
run infer "$models/permuted-chain.uai" --select mass --space tree --budget 1000 --samples 1 --json mass.json
check "mass" exits 0
check "mass learns its values" says out 'unresolved mass, space tree.* leaf calibrated'
check "mass is an estimate" says out ', estimate'
check "mass has a best configuration" says out '^best '
check "JSON says mass" says mass.json '"select": "mass"'
run infer "$models/permuted-chain.uai" --leaf calibrated --budget 1000
check "calibrated means mass" says out 'unresolved mass, space andor'
check "mass in andor is exact" says out ', exact'
run infer "$models/permuted-chain.uai" --leaf calibrated --select gap
check "calibrated with another rule" exits 64
check "calibrated with another rule says why" says err 'goes with --select mass only'
run infer "$models/permuted-chain.uai" --select mass --leaf mini-bucket
check "mass with mini-buckets" exits 64
cat > half.py <<'END'
import json, sys
sys.stdin.readline()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "log_values": [-s[0] - s[1] for s in request["assignments"]]}), flush=True)
END
cat > half.json <<'END'
{"variables": [{"name": "a", "states": 2}, {"name": "b", "states": 3}],
 "programs": {"p": {"command": ["python3", "-S", "half.py"]}},
 "factors": [{"name": "f", "scope": ["a", "b"], "program": "p"}]}
END
run infer half.json --budget 100
check "program" exits 0
check "program: what was picked" says err 'select mass --leaf calibrated'
check "program: exact log Z" says out '^log Z       0.720868'  # log((1 + 1/e) (1 + 1/e + 1/e^2))
run infer half.json --budget 100 --select q-uct
check "program: the paper's rule when asked for" says out '^log Z       0.720868'

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
check "what was removed is said" says out '^simplified  1 variable forced, 1 impossible state removed'
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
for method in auto tree search exact sis smc gibbs bp; do
  run infer impossible.uai --method $method --samples 1 --json impossible.json
  check "impossible model, $method" exits 0
  check "no marginals of an impossible model, $method" says impossible.json '"marginals": {}'
done

# Result files of the UAI competitions: the whole model, observed and forced variables included.
echo "1 2 1" > zeros.uai.evid
run infer zeros.uai --uai-out zeros.uai --quiet
check "result files" exits 0
check "PR" says zeros.uai.PR '^1\.20411998265592'  # log10 of 2 * 2 + 3 * 4
check "PR has two lines" lines zeros.uai.PR 2
check "MAR" says zeros.uai.MAR '^3 2 0 1 3 0\.2[45][0-9]* 0 0\.7[45][0-9]* 2 0 1$'
check "MAR has two lines" lines zeros.uai.MAR 2
run infer impossible.uai --uai-out impossible.uai
check "impossible: PR" says impossible.uai.PR '^-inf'
check "impossible: no MAR" [ ! -e impossible.uai.MAR ]
check "impossible: no MAR is said" says err 'impossible.uai.MAR is not written'
# Nothing possible was found, which is not to say that nothing is.
printf "MARKOV\n3\n2 2 2\n3\n2 0 1\n2 1 2\n2 0 2\n4\n0 1 1 0\n4\n0 1 1 0\n4\n0 1 1 0\n" > open.uai
run infer open.uai --select gap --budget 0 --no-simplify --leaf uniform --uai-out open
check "nothing found: no PR" [ ! -e open.PR ]
check "nothing found: no PR is said" says err 'open.PR is not written'
run infer zeros.uai --uai-out /no/such/folder/x
check "unwritable result files" [ "$code" -ne 0 ]

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
check "unwritable output" exits 74

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
run infr one.uai
check "unknown command" exits 64
check "unknown command: named" says err "'infr' is no command, allowed are infer|"

# Ctrl-C: the answer so far.
"$program" generate ising --n 30 --out big.uai
# One order alone, so that the search has begun when the signal comes; the time limit is for when it has not.
setsid "$program" infer big.uai --space andor --restarts 1 --budget 1000000000000 --time 60 --importance 0 > out 2> err &
pid=$!
# A background command ignores the signal until the program listens to it, which a busy machine may delay.
while sleep 1 && kill -INT $pid 2> /dev/null; do :; done
wait $pid
code=$?
check "Ctrl-C: the exit code" exits 130
check "Ctrl-C gives the answer so far" says out 'stopped: interrupted'
run infer big.uai --space tree --time 0.3 --budget 1000000000000 --importance 0
check "time limit" says out 'stopped: time'
"$program" generate ising --n 12 --out small.uai
run infer small.uai --space tree --memory 200K --budget 1000000000000 --importance 0
check "memory limit" says out 'stopped: memory'
run infer small.uai --method exact --memory 100
check "elimination refuses" exits 69
check "elimination names the size" says err 'allowed'

echo "$num_failed failed"
[ $num_failed -eq 0 ]

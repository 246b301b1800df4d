#!/bin/bash
# The search with bounds as a user runs it: infer --select gap, its samplers and limits, and traces in figures.
# usage: run_bounds_tests.sh PROGRAM MODELS_FOLDER
# shellcheck source=checks.sh
source "$(dirname "$0")/checks.sh" "$@"

# number FILE KEY [AFTER]: the first value of a key of a JSON file, on or after the line that has AFTER.
number() { sed -n "/\"${3:-program}\"/,\$p" "$1" | sed -n "s/^ *\"$2\": \([^,]*\),*$/\1/p" | head -n 1; }
# holds EXPRESSION: of numbers, by awk.
holds() { awk "BEGIN { exit !($1) }"; }

# Solved: the answer of elimination.
for model in chain permuted-chain factor-graphs-1 factor-graphs-2 ising-8x8; do
  run infer "$models/$model.uai" --method exact --json exact.json
  run infer "$models/$model.uai" --select gap --budget 1000000 --json gap.json
  check "$model is solved" says out ', exact'
  difference="$(number gap.json estimate) - $(number exact.json estimate)"
  check "$model: log Z of elimination" holds "($difference)^2 < 1e-16"
  check "$model: marginals of elimination" python3 -c 'import json, sys
exact, gap = (json.load(open(name)) for name in ("exact.json", "gap.json"))
values = [[p for row in answer["marginals"].values() for p in row.values()] for answer in (exact, gap)]
pairs = list(zip(*values))
sys.exit(not pairs or max(abs(p - q) for p, q in pairs) > 1e-8 or exact["marginals_error"] != 0 or gap["marginals_error"] != 0)'
done

# A gap that is close enough ends the run; its trace narrows all the way.
grid="$models/ising-8x8.uai"
run infer "$grid" --select gap --leaf mini-bucket:4 --gap 0.5 --time 20 --trace trace.csv --samples 2 --json gap.json
check "stops at the gap" says out 'stopped: gap'
check "bounds are certified" says out 'certified: at least .*, at most'
check "a gap that is reached does not sample on" [ "$(number gap.json num_samples interval)" = "10000" ]
check "gap is reached" holds "$(number gap.json upper) - $(number gap.json lower) <= 0.5"
check "the sampler is certified" holds "$(number gap.json sampler_divergence) >= 0"
check "marginals have an error" holds "$(number gap.json marginals_error) > 0"
check "each of them" python3 -c 'import json, sys
answer = json.load(open("gap.json"))
errors = answer["marginal_errors"]
sys.exit(len(errors) != len(answer["marginals"]) or min(errors) <= 0 or max(errors) > answer["marginals_error"])'
check "interval has its confidence" [ "$(number gap.json confidence interval)" = "0.95" ]
check "interval holds" holds \
  "$(number gap.json lower interval) <= 85.358342 && $(number gap.json upper interval) >= 85.358342"
check "samples of the lower bound have probabilities" says gap.json '"log_prob"'
check "trace has a header" says trace.csv '^seconds,evaluations,lower,upper,estimate$'
check "trace has rows" [ "$(wc -l < trace.csv)" -gt 2 ]
check "trace begins before the search" awk -F, 'NR > 1 && $2 == 0 && $3 != "-inf" && $4 != "inf" { found = 1 }
  END { exit !found }' trace.csv
check "trace narrows" awk -F, 'NR == 2 { l = $3; u = $4 } NR > 1 {
  if ($3 < l || $4 > u || $1 < s || $2 < e) exit 1; s = $1; e = $2; l = $3; u = $4 }' trace.csv

# Samplers.
for sampler in lower upper rejection; do
  run infer "$grid" --leaf mini-bucket:8 --select gap --gap 1 --sampler $sampler --samples 3 --seed 4
  check "sampler $sampler" exits 0
  check "sampler $sampler draws" says out '^samples     3'
done
check "expected tries are said" says err 'about .* tries expected, at most 10000000 allowed'
check "tries are said" says err '3 of 3 exact samples after'
run infer "$grid" --select gap --leaf uniform --budget 200 --sampler rejection --samples 3 --max-tries 50 --json few.json
check "the limit of tries is no error" exits 0
check "fewer samples are said" says err '0 of 3 exact samples after 50 tries: the limit of tries (--max-tries)'
check "and not made up" says few.json '"samples": \[\]'

run infer "$grid" --select gap --leaf mini-bucket:1 --budget 50 --time 1 --sampler rejection --samples 1000000
check "rejection ends with the time" says err ' of 1000000 exact samples after .* tries: the time limit (--time) is over'
run infer "$grid" --time 1 --samples 100000000
check "samples end with the time" says err ' of 100000000 samples: the time limit (--time) is over'
check "with those that were drawn" says out '^samples     [1-9]'

# Options of bounds without a method choose the search with bounds; elsewhere they are not passed over in silence.
run infer "$grid" --trace auto.csv
check "--trace chooses bounds" says out 'search with bounds'
check "--trace writes" [ -s auto.csv ]
run infer "$grid" --method smc --trace smc.csv --budget 1000
check "--trace without bounds is noticed" says err '^--trace is ignored'
check "--trace without bounds writes nothing" [ ! -e smc.csv ]
run infer "$grid" --select q-uct --gap 0.5 --budget 1000
check "--gap without bounds is noticed" says err '^--gap is ignored'

# Limits: of time and of memory, below what the model takes.
"$program" generate ising --n 14 --seed 2 --out grid.uai
run infer grid.uai --select gap --leaf uniform --time 1
check "time" exits 0
check "time is the reason" says out 'stopped: time'
run infer grid.uai --method exact
log_z=$(sed -n 's/^log Z *\([0-9.]*\).*/\1/p' out)
run infer grid.uai --select gap --leaf uniform --memory 8M --budget 400000 --json small.json --trace small.csv
check "memory" exits 0
check "goes on when memory is full" says out 'stopped: budget'
check "bounds hold" holds "$(number small.json lower) <= $log_z && $log_z <= $(number small.json upper)"
check "bounds only narrow" awk -F, 'NR == 2 { l = $3; u = $4 } NR > 1 { if ($3 < l || $4 > u) exit 1; l = $3; u = $4 }' \
  small.csv

# Traces side by side.
run compare --trace "gap 0.5=trace.csv" --trace small.csv --out traces
check "compare --trace" exits 0
check "labels" says out '^  gap 0.5 '
check "labels from file names" says out '^  small '
check "page" says traces/report.html 'certified bounds'
check "data" says traces/traces.csv '^gap 0.5,'
if command -v gnuplot > /dev/null; then check "figure" [ -s traces/bounds.svg ]; fi
run compare --trace missing.csv
check "missing trace" exits 66
run compare --trace "$grid"
check "not a trace" exits 65
check "not a trace: one line" lines err 1
run compare
check "compare needs something" exits 64
run compare "$grid" --trace small.csv
check "compare needs one thing" exits 64

# Models without a configuration, and without a variable.
printf 'MARKOV\n2\n2 2\n2\n2 0 1\n2 0 1\n4 1 0 0 1\n4 0 1 1 0\n' > none.uai
for options in "" "--no-simplify" "--no-simplify --sampler rejection" "--no-simplify --leaf mini-bucket:1"; do
  run infer none.uai --select gap --samples 2 --json none.json $options
  check "impossible model $options" exits 0
  check "its log Z $options" says none.json '"estimate": "-inf"'
  check "its samples $options" says none.json '"samples": \[\]'
done
printf 'MARKOV\n1\n1\n1\n1 0\n1 2\n' > one.uai
run infer one.uai --select gap --samples 1
check "a model without a choice" says out '^log Z       0.693147'

# A Bayesian network too wide for elimination: without evidence all of it is barren, with some only a part.
python3 > net.uai << 'END'
import random
random.seed(5)
n = 30
parents = [[j for j in (i - 1 if i % n else -1, i - n) if j >= 0] for i in range(n * n)]
print("BAYES", n * n, *[2] * (n * n), n * n)
for i, above in enumerate(parents): print(len(above) + 1, *above, i)
for above in parents:
    rows = [random.uniform(0.1, 0.9) for _ in range(2 ** len(above))]
    print(2 * len(rows), *[x for p in rows for x in (p, 1 - p)])
END
for options in "" "--select gap" "--select gap --sampler rejection"; do
  run infer net.uai --time 8 --samples 2 --json net.json $options
  check "barren $options" says out '900 barren variables summed out'
  check "barren: log Z $options" holds "$(number net.json estimate)^2 < 1e-20"
  check "barren: exact $options" says net.json '"exact": true'
  check "barren: all variables $options" says out '^  \([01] \)\{899\}[01]$'
done
run infer net.uai --time 8 --samples 3 --seed 2 --json net.json
check "barren: samples have the target's probability" python3 -c 'import json, sys
rows = json.load(open("net.json"))["samples"]
sys.exit(len(rows) != 3 or any(abs(row["log_density"] - row["log_prob"]) > 1e-8 for row in rows))'
printf '1 62 1\n' > net.evid
run infer net.uai --evidence net.evid --time 8 --json net.json
check "barren below the evidence only" says out ' 891 barren variables summed out'
check "and solved" says net.json '"exact": true'
run infer net.uai --select gap --no-simplify --budget 10 --leaf uniform --restarts 1
check "barren variables stay when told so" says out ', estimate'

# So few solutions that no weighted sample is one: what is known to be possible is shown all the same.
python3 > sat.uai << 'END'
import random
random.seed(3)
n, m = 60, 250
clauses = [(random.sample(range(n), 3), random.randrange(8)) for _ in range(m)]
print("MARKOV", n, *[2] * n, m)
for scope, _ in clauses: print(3, *scope)
for _, excluded in clauses: print(8, *[int(i != excluded) for i in range(8)])
END
run infer sat.uai --select gap --leaf mini-bucket:3 --budget 1000 --json sat.json
check "possible sample: none" [ "$(number sat.json ess interval)" = "0.0" ]
check "the configuration that was found" says out '^best        log density 0.000000 at'
check "marginals of what is possible" says out '^marginals   from 1000 samples of P_L'

# Programs are asked only what was paid for, and must declare a maximum.
cat > double.py << 'END'
import json, sys
json.loads(sys.stdin.readline())
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    values = [-0.5 * sum(states) for states in request["assignments"]]
    print(json.dumps({"id": request["id"], "log_values": values}), flush=True)
END
model_of() {
  cat << END
{"variables": [{"name": "a", "states": ["0", "1"]}, {"name": "b", "states": ["0", "1", "2"]}],
 "programs": {"half": {"command": ["python3", "double.py"]}},
 "factors": [{"name": "f", "scope": ["a", "b"], "program": "half"$1}]}
END
}
model_of ', "log_max": 0' > bounded.json
model_of '' > open.json
run infer bounded.json --select gap --noise no
check "declared maxima" says out ', exact'
check "no samples are paid for unasked" says out '^program .* 6 evaluations paid'
run infer bounded.json --gap 1
check "mass ends at the gap" says out 'stopped: gap'
check "which is not called ignored" lines err 2
run infer open.json --gap 0.5
check "no gap without maxima" says err '^--gap is ignored: .* no maximum'
check "and no unasked budget" says err 'a budget of 1000 calls'
run infer open.json --select gap --budget 100
check "no declared maxima" exits 64
check "what is missing is said" says err '^treesample: .* must declare its maximum'
check "one line after the command" lines err 2

# Limits that are too small are named by their options, not by what they limit inside.
for options in "--select gap" "--select gap --leaf mini-bucket:8" "--method smc"; do
  run infer "$grid" --memory 1K --quiet $options
  check "little memory $options" exits 69
  check "little memory $options: one line" lines err 1
  check "little memory $options: the option" says err '^treesample: --memory: 1.0 KiB is not enough: [A-Za-z0-9]'
done
run infer "$grid" --memory 1K --quiet --time 2
check "enough for log Z in slices, and for nothing else" says out '^log Z  *85.358342 .*exact'
run infer "$grid" --memory 100 --quiet --method exact
check "no memory for one slice" exits 69
check "no memory for one slice: the option" says err '^treesample: --memory: 100.0 B is not enough: Elimination'
run infer "$grid" --select gap --leaf uniform --budget 1
check "a budget of nothing" says err '^--budget 1 (reward) buys nothing'
run infer "$grid" --method sis --budget 3
check "a budget of no sample" exits 64
check "a budget of no sample: the option" says err '^treesample: --budget: 3 pays for no sample of smc: the first costs 64$'

# Bad values: one line, exit code 64, nothing computed.
for options in "--gap -1" "--gap wide" "--confidence 1" "--confidence 0" "--sampler best" "--max-tries 0" \
  "--select widest" "--leaf nothing" "--leaf mini-bucket:x" "--leaf mini-bucket:-1"; do
  run infer "$grid" --select gap $options
  check "bad $options" exits 64
  check "bad $options: one line" lines err 1
  check "bad $options: names the option" says err "${options% *}"
done
for option in --trace --json --uai-out; do
  run infer "$grid" --select gap --budget 100 $option /no/such/folder/file
  check "$option that cannot be written" exits 74
  check "$option: one line" lines err 1
  check "$option: nothing was computed" lines out 0
done
run compare "$grid" --trace trace.csv
check "compare of a model and a trace" exits 64
check "it says what is too much" says err 'goes without a MODEL'

echo "$num_failed failed"
[ $num_failed -eq 0 ]

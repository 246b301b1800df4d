#!/bin/bash
# What a sceptical user tries: models without anything in them, limits of nothing, options that do not fit together.
# usage: run_odd_input_tests.sh PROGRAM MODELS_FOLDER
# shellcheck source=checks.sh
source "$(dirname "$0")/checks.sh" "$@"
grid="$models/ising-8x8.uai"

# Models with next to nothing in them are answered by every method.
printf 'MARKOV\n0\n\n0\n' > no_variable.uai
printf 'MARKOV\n1\n3\n0\n' > no_factor.uai
printf 'MARKOV\n1\n1\n0\n' > no_choice.uai
printf 'MARKOV\n1\n2\n1\n1 0\n2 0 0\n' > nothing_possible.uai
printf 'MARKOV\n2\n2 2\n1\n2 0 1\n4 1 0 0 1\n' > equal.uai
printf '2 0 0 1 1\n' > contradiction.evid
for method in "" "--select gap" "--space tree" "--select mass" "--method smc" "--method sis" "--method bp" "--method exact"; do
  for simplify in "" "--no-simplify"; do
    run infer no_variable.uai $method $simplify --samples 1 --json answer.json
    check "no variable $method $simplify" exits 0
    check "no variable: log Z $method $simplify" says out '^log Z       0.000000'
    run infer no_factor.uai $method $simplify --samples 1 --json answer.json
    check "no factor $method $simplify" says out '^log Z       1.098612'
    check "no factor: a sample $method $simplify" says out '^samples     1$'
    run infer no_choice.uai $method $simplify --samples 1
    check "no choice $method $simplify" says out '^log Z       0.000000'
    run infer nothing_possible.uai $method $simplify --samples 1 --json answer.json
    check "nothing possible $method $simplify" exits 0
    check "nothing possible: log Z $method $simplify" says out '^log Z       -inf'
    check "nothing possible: no sample $method $simplify" says answer.json '"samples": \[\]'
    run infer equal.uai --evidence contradiction.evid $method $simplify --json answer.json
    check "impossible evidence $method $simplify" exits 0
    check "impossible evidence: log Z $method $simplify" says out '^log Z       -inf'
  done
done
run infer no_factor.uai --method gibbs --samples 1
check "no factor gibbs" says out '^samples     1$'

# A variable with very many states, and one with too many.
printf 'MARKOV\n2\n1000000 2\n1\n1 1\n2 1 3\n' > many_states.uai
run infer many_states.uai
check "many states" says out '^log Z       15.201805'
printf 'MARKOV\n1\n5000000\n0\n' > too_many_states.uai
run infer too_many_states.uai
check "too many states" exits 65
check "too many states: what is allowed" says err 'from 1 to 1048576'

# No time at all is an answer too, but for elimination by name. A small model is eliminated all the same: that takes less
# than the time that every answer takes.
run infer "$grid" --time 1e-9 --quiet --samples 1 --json answer.json
check "no time" exits 0
check "no time: no remarks" lines err 0
check "no time: log Z" says answer.json '"exact": true'
for method in "--select gap" "--space tree" "--select mass" "--method smc" "--method gibbs" "--method bp"; do
  run infer "$grid" --time 1e-9 --quiet --samples 1 --json answer.json $method
  check "no time $method" exits 0
  check "no time: no remarks $method" lines err 0
  check "no time: not exact $method" says answer.json '"exact": false'
  check "no time: the reason $method" says out 'stopped: \(time\|not converged\)$'
done
run infer "$grid" --time 1e-9 --method smc --quiet
check "no time: no made-up log Z" [ "$(grep -c '^log Z' out)" -eq 0 ]
run infer "$grid" --time 1e-9 --method exact
check "no time for elimination" exits 69
check "no time for elimination: one line" lines err 1
check "no time for elimination: the option" says err '^treesample: --time: .* --method auto'
run infer "$grid" --method smc --time 20 --seed 3
check "a particle filter with a time limit keeps its budget" says out '1562 particles'
run infer "$grid" --gap 0 --select gap --budget 0
check "a gap of 0 and no budget" says out ', exact'
run infer "$grid" --time inf
check "infinite time" says out ', exact'

# Options that the method does not use are not passed over in silence.
check_ignored() {
  run infer "$grid" "$@"
  check "$* is answered" exits 0
  check "$* is noticed" says err "^$ignored is ignored: the method is"
  check "$*: one line" lines err 1
}
ignored=--budget check_ignored --method exact --budget 10
ignored=--select check_ignored --method exact --select gap
ignored=--select check_ignored --method smc --select gap --budget 1000
ignored=--space check_ignored --method smc --space andor --budget 1000
ignored=--leaf check_ignored --method gibbs --leaf mini-bucket --budget 10000
ignored=--memory check_ignored --method bp --memory 1K
ignored=--damping check_ignored --method smc --damping 0.5 --budget 1000
ignored=--sweeps check_ignored --sweeps 3
ignored=--importance check_ignored --importance 10
run infer "$grid" --method exact --budget 10 --quiet
check "unless remarks are not wanted" lines err 0

# Numbers that are none.
for options in "--time -1" "--time nan" "--gap nan" "--c nan" "--confidence 1.5" "--confidence nan" "--samples -1" \
  "--budget -1" "--seed -1" "--memory -1" "--memory lots" "--restarts x"; do
  run infer "$grid" $options
  check "$options" exits 64
  check "$options: one line" lines err 1
  check "$options: names the option" says err "${options% *}"
done

echo "$num_failed failed"
[ $num_failed -eq 0 ]

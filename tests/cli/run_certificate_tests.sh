#!/bin/bash
# Certificates as the program prints them. usage: run_certificate_tests.sh PROGRAM MODELS_FOLDER
# Cancellation is no exact answer, bounds of an exact answer are printed as they are, and what is printed with few
# digits is rounded outward.
# shellcheck source=checks.sh
source "$(dirname "$0")/checks.sh" "$@"
touch out err
fail() { check "$1" false; }

# field FILE PATH: a number of a JSON answer
field() { python3 -c "
import json, sys
value = json.load(open('$1'))
for key in '$2'.split('.'): value = value[key]
print(value)"; }
holds() { python3 -c "import sys; sys.exit(0 if ($1) else 1)"; }

for scale in 1e12 1e9; do
  echo '{"variables":[{"name":"a","states":2}],
         "factors":[{"scope":["a"],"log_values":[0,'$scale']},{"scope":["a"],"log_values":[0,-'$scale']}]}' > cancel.json
  for options in "" "--select gap" "--select mass" "--select q-uct" "--method exact"; do
    $program infer cancel.json $options --quiet --json answer.json > text || { fail "cancel $scale $options ended with $?"; continue; }
    lower=$(field answer.json log_z.lower) upper=$(field answer.json log_z.upper)
    holds "float('$lower') <= 0.6931471805599453 <= float('$upper')" || fail "cancel $scale $options: [$lower, $upper]"
    holds "float('$upper') - float('$lower') < 1e-6 or '$(field answer.json log_z.exact)' == 'False'" ||
      fail "cancel $scale $options is called exact: [$lower, $upper]"
  done
done

# 2 + 3 = 5: an exact answer has bounds around it.
printf 'MARKOV\n1\n2\n1\n1 0\n2\n2 3\n' > five.uai
for options in "" "--select gap" "--select mass" "--select q-uct" "--method exact"; do
  $program infer five.uai $options --quiet --json answer.json > text
  holds "$(field answer.json log_z.lower) <= 1.6094379124341003746 <= $(field answer.json log_z.upper)" ||
    fail "five $options: bounds do not hold log 5"
  [ "$(field answer.json log_z.exact)" = True ] || fail "five $options is not exact"
  grep -q 'log Z .*, exact (certified to ' text || fail "five $options: $(grep 'log Z' text)"
done

# A number that reads as 1 and is none: a forced variable, dropped before the search. The trace knows of it too.
printf 'network n { }\nvariable v { type discrete [ 1 ] { s }; }\nprobability ( v ) { table 0.99999999999999999991; }\n' > one.bif
for options in "" "--select gap" "--select mass" "--select q-uct"; do
  $program infer one.bif $options --trace trace.csv --quiet --json answer.json > text
  holds "$(field answer.json log_z.lower) < 0 < $(field answer.json log_z.upper)" || fail "one $options: no room for -9e-20"
  [ "$(wc -l < trace.csv)" -gt 1 ] || fail "one $options: no trace"
  tail -n +2 trace.csv | while IFS=, read -r _ _ lower upper _; do holds "float('$lower') < 0 < float('$upper')" || echo; done > bad
  [ -s bad ] && fail "one $options: the trace has no room for -9e-20"
done

# Impossible models have no samples, and nothing that is not a number.
printf 'MARKOV\n1\n1\n2\n1 0\n1 0\n1\n1\n1\n0\n' > impossible.uai
for options in "" "--no-simplify" "--space tree --prior mini-bucket --budget 0 --no-simplify" "--select gap --no-simplify" \
  "--select mass --no-simplify" "--select gap --budget 0 --no-simplify" "--select mass --budget 0 --no-simplify"; do
  $program infer impossible.uai $options --samples 2 --quiet --json answer.json > text 2> errors ||
    fail "impossible $options ended with $?: $(cat errors)"
  [ "$(field answer.json samples)" = "[]" ] || fail "impossible $options has samples"
  grep -qi nan answer.json text && fail "impossible $options has a NaN"
  [ "$(field answer.json log_z.lower)" = -inf ] || fail "impossible $options: lower is $(field answer.json log_z.lower)"
done

# Beyond the range of the search's numbers: an error, or bounds that hold.
echo '{"variables":[{"name":"a","states":2},{"name":"b","states":2}],
       "factors":[{"scope":["a","b"],"log_values":[0,2e7,1,2]}]}' > large.json
for options in "" "--select gap" "--select mass" "--select q-uct" "--select gap --prior uniform"; do
  $program infer large.json $options --quiet --json answer.json > text 2> errors || continue
  upper=$(field answer.json log_z.upper)
  holds "float('$(field answer.json log_z.lower)') <= 20000000 <= float('$upper' if '$upper' != 'None' else 'inf')" ||
    fail "large $options: wrong bounds"
  holds "float('$(field answer.json log_z.estimate)') < float('inf')" || fail "large $options: infinite estimate"
done

echo "$num_failed failed"
[ $num_failed -eq 0 ]

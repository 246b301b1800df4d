#!/bin/bash
# `reproduce` and `compare` as a user runs them: results, resuming after SIGKILL and Ctrl-C, refusals.
# usage: run_experiment_tests.sh PROGRAM MODELS_FOLDER
# shellcheck source=checks.sh
source "$(dirname "$0")/checks.sh" "$@"

table1=(reproduce table1 --instances 4 --seed 5 --threads 2)
run "${table1[@]}" --out whole
check "table1" exits 0
check "table1 shows the paper's cells" says out '11.61 +- 1.74'
check "andor is exact" says whole/table1.csv '^chain,best,andor,kl,'
check "page" says whole/report.html '<table>'
check "no more on stderr than a line now and then" [ -z "$(grep -v '^[0-9]* %: [0-9]* of [0-9]* problems' err)" ]

# SIGKILL in the middle: killed as soon as the first problems are there, however fast the machine is. The store's
# log grows with every finished problem.
setsid "$program" "${table1[@]}" --out killed > out 2> err &
pid=$!
for _ in $(seq 2000); do
  [ "$(stat -c %s killed/run.sqlite-wal 2> /dev/null || echo 0)" -gt 100000 ] && break
  kill -0 $pid 2> /dev/null || break
  sleep 0.002
done
kill -KILL $pid 2> /dev/null
wait $pid 2> /dev/null
check "killed after some problems" [ "$(stat -c %s killed/run.sqlite-wal 2> /dev/null || echo 0)" -gt 100000 ]
check "killed before the end" [ ! -e killed/table1.csv ]
run "${table1[@]}" --out killed
check "resumed" exits 0
check "resumed after SIGKILL: the same bytes" cmp -s whole/table1.csv killed/table1.csv

# Ctrl-C ends cleanly and says how to go on.
setsid "$program" reproduce table1 --instances 100000 --out stopped > out 2> err &
pid=$!
sleep 0.7
kill -INT $pid
wait $pid
code=$?
check "Ctrl-C" exits 130
check "Ctrl-C says how to go on" says err 'the same command goes on'

# Other options in the same folder are refused, more instances are not.
run "${table1[@]}" --budget 5000 --out whole
check "other options" exits 64
check "other options are named" says err "budget ('10000', now '5000')"
check "one line" [ "$(wc -l < err)" -eq 1 ]
run reproduce table1 --instances 5 --seed 5 --out whole
check "extended" exits 0

# GFlowNets: methods and tasks by their words; a folder is extended by further ones.
run reproduce gflownet --quick --methods factor-graphs-2-6,uniform --out flows
check "one method on one task" exits 0
check "who has seen all objects is exact" says flows/gflownet.csv '^factor-graphs-2-6,uniform,1,64,kl,0,'
run reproduce gflownet --quick --methods factor-graphs-2-6,uniform,tb --out flows
check "a further method" exits 0
check "it is there" says flows/gflownet.csv '^factor-graphs-2-6,tb.memory,1,64,tv,'
run reproduce gflownet --quick --methods nonsense --out flows
check "no such method" exits 64
check "it is named" says err "'nonsense' is none of black-box, tree"
run reproduce gflownet --quick --methods ising-10,uniform --out flows
check "a method that takes no such task" exits 64

# Without gnuplot everything but the figures is there.
mkdir empty
PATH=$work/empty "$program" reproduce figure1 --quick --out bare > out 2> err
code=$?
check "without gnuplot" exits 0
check "gnuplot is missed" says err 'gnuplot'
check "page without gnuplot" says bare/report.html 'SMC needs'
check "CSV without gnuplot" [ -s bare/figure1_error.csv ]
mkdir own
for seed in 1 2; do "$program" generate chain --n 5 --k 2 --seed $seed --out own/$seed.uai; done
"$program" reproduce figure1 --family own --methods smc,tree --c 0.3,1 --budget 100 --out own-figure --quiet > out 2> err
check "figure 1 of models of one's own" [ "$(grep -c '^tree,letter,0.3,' own-figure/figure1_error.csv)" = 3 ]
check "a line for each c and method" [ "$(grep -c ',100,' own-figure/figure1_error.csv)" = 3 ]
check "page and CSV have the command" [ "$(grep -l 'treesample reproduce figure1 --instances .* --family own' \
  own-figure/report.html own-figure/figure1_error.csv | wc -l)" = 2 ]
check "few problems are not meaningful" says bare/report.html '4 problems: not meaningful'
check "the paper's numbers are marks" says bare/chain_error.gp "the paper''s TS"
# A line begins with the first budget that pays for a sample.
"$program" generate chain --n 40 --k 2 --out own/large.uai
run reproduce figure1 --family own --methods smc,tree --budget 100 --out larger-figure
check "figure 1 of a model with more variables than the smallest budget" exits 0
check "its line of SMC begins later" [ "$(grep -c '^smc,' larger-figure/figure1_error.csv)" = 2 ]
run reproduce figure1 --family own --methods smc,tree --budget 30 --out no-figure
check "no budget that pays is an error" exits 64
check "it says what a sample costs" says err 'the first costs 40'
# A model that a complete search does not solve within its limit, but elimination does.
mkdir grid wide
"$program" generate ising --n 16 --set coupling_normal=1 --out grid/16x16.uai
run reproduce figure1 --family grid --methods smc,tree --budget 300 --out grid-figure
check "figure 1 of a grid that only elimination solves" exits 0
"$program" generate ising --n 40 --out wide/40x40.uai
run reproduce figure1 --family wide --methods tree --budget 300 --out wide-figure
check "a model that elimination does not solve either is refused" exits 69
check "by its file" says err 'family: wide/40x40.uai: the errors are measured against the exact answer'
check "and nothing is written" [ ! -e wide-figure/figure1_error.csv ]
# Readings, c and family are options of a run too.
run reproduce figure1 --quick --methods smc --readings best --out reading
run reproduce figure1 --quick --methods smc --readings letter --out reading
check "another reading" exits 64
check "another reading is named" says err "readings ('best', now 'letter')"
run reproduce figure1 --quick --methods smc --out reading
check "an option less" exits 64
"$program" reproduce table1 --c 1 --out refused > out 2> err && echo accepted >> err
check "--c goes with figure1 alone" grep -q "go with figure1, not with table1$" err
check "and nothing is written" [ ! -e refused ]
run reproduce readings --quick --out readings
check "readings" exits 0
check "readings: the price of trying many" says out 'gain less the log of the readings'
check "readings: cells of three kinds" says readings/readings.csv '^factor-graphs-2,likely,tree,tree '
check "readings: everything that was tried" says readings/readings_tried.csv '^chain,pair_slope=2.5,smc,'
run reproduce beliefs --quick --instances 1 --budget 300 --out beliefs
check "beliefs" exits 0
check "beliefs: CSV" says beliefs/beliefs.csv '^chain,letter,information-x,300,'
run reproduce table2 --quick --methods ts --readings best --columns gnn-12 --episodes 2 --runs 2 --out column
check "one column of table2" exits 0
check "what a gain consists of" says out "the search's part"
run reproduce table2 --quick --columns gnn-13 --out column
check "a column that there is not" exits 64
check "the columns are named" says err "'gnn-13' is none of mlp-single"
run reproduce depth --quick --instances 1 --out depth
check "depth" exits 0
run reproduce memory --quick --out memory
check "memory" exits 0
check "memory: CSV" says memory/memory.csv '^ising,16,rebuild,'
run reproduce functions --quick --instances 1 --budget 300 --out functions
check "functions" exits 0
check "functions: CSV" says functions/functions.csv '^chain,letter,mass,300,'

run compare "$models/permuted-chain.uai" --budgets 50,1e3 --runs 2 --out compared
check "compare" exits 0
check "compare: andor is exact" says out 'andor.* exact'
check "compare: CSV" says compared/compare.csv '^smc,'
check "compare: commit and processor" says compared/compare.csv '^# .*; commit [0-9a-f]*.*; processor '
run compare "$models/permuted-chain.uai" --methods sis,tree --budgets 2 --runs 1
check "compare: a method without numbers is named" says out 'Without a number: SIS'
check "compare: which to take" says out '^Take infer without --method: .* exactly, by elimination'
run compare "$models/cold_store.bif" --budgets 100 --methods andor,sis,bp
check "compare: no wall of inf" says out 'Infinite at every budget: andor'
check "compare: no column of inf" [ "$(grep -c ' inf$' out)" -eq 0 ]
run compare "$models/permuted-chain.uai" --budgets 50,x
check "bad budget" exits 64
run compare "$models/permuted-chain.uai" --methods smc,magic
check "bad method" exits 64
check "bad method names the allowed" says err "'magic' is none of"

echo "$num_failed failed"
[ $num_failed -eq 0 ]

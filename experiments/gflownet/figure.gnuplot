# docs/figures/gflownet.svg from the CSV files beside this one: gnuplot experiments/gflownet/figure.gnuplot, in the root
# of the repository.
set datafile separator ","
set terminal svg size 1250,560 font "sans,11" background "white"
set output "docs/figures/gflownet.svg"
set multiplot layout 2,4 margins 0.04,0.81,0.07,0.94 spacing 0.04,0.12
set logscale x
set xrange [80:1250]
set yrange [0:1]
set xtics (100, 300, 1000)
set key off
folder = "experiments/gflownet/"
rows(task, method) = "< cat ".folder."networks.csv ".folder."networks_large.csv ".folder."black_box.csv ".\
  folder."references.csv | grep '^".task.",".method.",[0-9]*,[0-9]*,tv,'"
tasks = "hypergrid-20 binding blocks dag-5 factor-graphs-1-6 permuted-chain-10 factor-graphs-2-10 ising-4"
do for [task in tasks] {
  set title task offset 0,-0.6
  if (task eq "ising-4") { set key at screen 0.995, 0.94 right top samplen 2 } else { set key off }
  plot rows(task, "black-box") using 4:6 with linespoints lw 2.5 pt 7 lc rgb "#0072b2" title "black box", \
       rows(task, "tb") using 4:6 with linespoints dt 2 pt 5 lc rgb "#d55e00" title "trajectory balance", \
       rows(task, "subtb") using 4:6 with linespoints dt 2 pt 9 lc rgb "#e69f00" title "sub-trajectory balance", \
       rows(task, "dqn") using 4:6 with linespoints dt 2 pt 11 lc rgb "#cc79a7" title "soft DQN", \
       rows(task, "uniform") using 4:6 with lines dt 3 lc rgb "#777777" title "uniform memory", \
       rows(task, "metropolis") using 4:6 with lines dt 4 lc rgb "#000000" title "Metropolis memory"
}
unset multiplot

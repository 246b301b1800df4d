# docs/figures/orders.svg from orders.csv: gnuplot -c experiments/orders/orders.gnuplot, in the root of the repository.
set datafile separator ","
set terminal svg size 1250,520 font "sans,11" background "white"
set output "docs/figures/orders.svg"
set multiplot layout 2,5 margins 0.05,0.99,0.13,0.95 spacing 0.04,0.12
set logscale x
set xrange [0.0005:4]
set xtics ("1 ms" 0.001, "10 ms" 0.01, "0.1 s" 0.1, "1 s" 1)
set key off
set tmargin 2
csv = "experiments/orders/orders.csv"
models = "linkage_11;linkage_15;linkage_20;Grids_15;Promedus_14;c432.isc;protein_pdb1b2v;cube 6x6x6;3-regular 200;ra"
count = 10
name(i) = system(sprintf("echo '%s' | cut -d';' -f%d", models, i))
do for [i = 1:count] {
  model = name(i)
  set title model noenhanced offset 0,-0.8
  if (i == 1) { set key top right samplen 1 spacing 0.9 } else { set key off }
  if (i % 5 == 1) { set ylabel "log2 of bucket entries" offset 1.5,0 } else { unset ylabel }
  plot for [method in "min-width METIS min-fill annealing"] csv \
    using (stringcolumn(1) eq model && stringcolumn(2) eq method ? $3 : NaN):4 \
    with linespoints pointtype 7 pointsize 0.35 linewidth (method eq "annealing" ? 2.5 : 1.2) title method
}
unset multiplot

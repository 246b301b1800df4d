"""Sentences of README and docs with the numbers that kept files give them, for scripts/check-claims.

A claim is a document, a sentence with {} for each number as str.format writes it, and a function that returns the
numbers. White space in the document does not matter. claim_numbers.py computes them.
"""
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from claim_numbers import *  # noqa: E402,F403

GFLOWNET = "experiments/gflownet/README.md"
TABLE1, TABLE2 = "experiments/table1/README.md", "experiments/table2/README.md"
DEPARTURES = "docs/departures.md"
NETWORKS = "docs/methods/networks.md"

CLAIMS = [
    ("README.md", "{} of the 16 cells of Table 1 are within three standard errors, in the best reading {}, and {} in the "
     "most likely of many readings",
     lambda: (matching("letter", "within_3_standard_errors"), matching("best", "within_3_standard_errors"),
              likely_within("z_mean"))),
    (TABLE1, "Of the paper's 16 numbers {} match in the letter and {} in the best reading; within three standard errors, "
     "without the `0.15` nats, {} and {} do.",
     lambda: (matching("letter", "matches_paper"), matching("best", "matches_paper"),
              matching("letter", "within_3_standard_errors"), matching("best", "within_3_standard_errors"))),
    (TABLE1, "to the letter SMC wins on CHAIN ({:.2f} against {:.2f})",
     lambda: (table1("chain", "letter", "smc"), table1("chain", "letter", "tree"))),
    (TABLE1, "as an approximation by samples it has KL {:.1f} and {:.1f}.",
     lambda: (table1("chain", "letter", "bp"), table1("permuted-chain", "letter", "bp"))),
    (TABLE1, "{:.2f} +- {:.2f} in the most likely reading, and no constant between 0 and 3 brings less than {:.2f}. In a "
     "ring TS reaches {:.2f}, but SIS is {:.2f} or more there",
     lambda: (reading("chain", "likely", "tree"), reading("chain", "likely", "tree", "standard_deviation"),
              least_of_chains("tree", False), least_of_chains("tree", True), least_of_chains("sis", True))),
    (TABLE1, "the paper's TreeSample is {:.1f} nats better than ours.",
     lambda: (reading("factor-graphs-2", "likely", "tree") + 38.70,)),
    (TABLE1, "SMC without a value function is 2.72 behind TreeSample there and 2.80 here, ours {:.2f} (letter {:.2f}) "
     "there and {:.2f} here.",
     lambda: (number("table2/table2.csv", "median", reading="best", row="smc_search", column="none"),
              number("table2/table2.csv", "median", reading="letter", row="smc_search", column="none"),
              reading("factor-graphs-2", "likely", "smc") - reading("factor-graphs-2", "likely", "tree"))),
    (TABLE1, "with E the mean energy of the uniform distribution, {:.2f} and {:.2f} (best reading, `uniform` in "
     "[table1.csv]): that gives log I = {:.2f} in *both* columns, 3,460 atoms, and the standard deviations of the uniform "
     "distribution are {:.2f} and {:.2f}.",
     lambda: (table1("factor-graphs-1", "best", "uniform", "energy_mean"),
              table1("factor-graphs-2", "best", "uniform", "energy_mean"),
              25.12 - table1("factor-graphs-2", "best", "uniform", "energy_mean"),
              table1("factor-graphs-1", "best", "uniform", "standard_deviation"),
              table1("factor-graphs-2", "best", "uniform", "standard_deviation"))),
    (TABLE1, "a single exact sample has minus the energy of the target, {:.2f}.",
     lambda: (-table1("factor-graphs-2", "best", "andor", "energy_mean"),)),
    (TABLE2, "it is worse than the network alone in all GNN columns and both readings ({:+.2f} to {:+.2f})",
     lambda: [f([v for (_, c), v in gains("search").items() if c != "mlp-single"]) for f in (min, max)]),
    (TABLE2, "it is better in all six columns and in both readings, by {:.2f} to {:.2f} nats",
     lambda: [-f(gains("telescoped").values()) for f in (max, min)]),
    (TABLE2, "bring {:.0f} to {:.0f} % of the gain on graph networks, without any search. The search's part is the rest: "
     "{:.0f} to {:.0f} % there, {:.0f} and {:.0f} % with the perceptron.",
     lambda: (100 - max(graph_shares()), 100 - min(graph_shares()), min(graph_shares()), max(graph_shares()),
              search_shares()["best", "mlp-single"], search_shares()["letter", "mlp-single"])),
    (TABLE2, "is better than Q_phi alone in all columns, by {:.2f} to {:.2f}.",
     lambda: [-f(statistics.mean(v) for v in split_cells("delta_kl_uncorrected", "delta_kl_phi").values())
              for f in (max, min)]),
    (TABLE2, "the search is better in all 12 cells, by {:.3f} to {:.3f} nats, at least {:.1f} standard errors.", gain_of_search),
    (TABLE2, "better by more than two standard errors in {} of the {} cells of graph networks, by at most {:.3f} nats, and "
     "worse with the perceptron, by {:.3f} and {:.3f}. The 20 runs of 4000 episodes below put it at {:.3f} ({:.3f}) nats.",
     lambda: [*gain_at_equal_cost(), *[-x for x in mean_and_error(
         runs("table2/long", "best", "gnn-20", "ts", "delta_kl_telescoped", "delta_kl_samples"))][:1],
              mean_and_error(runs("table2/long", "best", "gnn-20", "ts", "delta_kl_telescoped", "delta_kl_samples"))[1]]),
    (TABLE2, "Q_phi alone {:.2f}, `Q_phi + TS` {:.2f}, telescoped {:.2f}; after 800 episodes they were {:.2f}, {:.2f} and "
     "{:.2f}.",
     lambda: [median_less_plain(folder, name) for folder in ("table2/long", "table2")
              for name in ("delta_kl_phi", "delta_kl", "delta_kl_telescoped")]),
    (TABLE2, "Q_phi alone has {:.2f}, {:.2f}, {:.2f}, {:.2f} and {:.2f}, the telescoped search {:.2f}, {:.2f}, {:.2f}, "
     "{:.2f} and {:.2f}, the loss {:.2f}, {:.2f}, {:.2f}, {:.2f} and {:.2f}.",
     lambda: [curve(row, begin, end) for row in ("ts_phi", "ts_telescoped", "ts_loss") for begin, end in
              ((400, 800), (800, 1500), (1500, 2000), (2000, 3000), (3000, 4000))]),
    (TABLE2, "which allows a KL of {:.3f} at best; it has {:.3f}.",
     lambda: (cure("telescoped", "least_kl"), cure("telescoped"))),
    (TABLE2, "with a trust of 0.1 the search loses {:.2f}, with 0.5, half of the way to the network's own values, {:.2f}.",
     lambda: [cure(way) - cure("corrected") for way in ("trust-0.1", "trust-0.5")]),
    (TABLE2, "changes nothing ({:.3f} and {:.3f})", lambda: (cure("level"), cure("level-small"))),
    (TABLE2, "make it much worse ({:.3f})", lambda: (cure("relearned"),)),
    (TABLE2, "with four times the budget the search has {:.3f} and as many samples {:.3f}",
     lambda: (cure("telescoped-4"), cure("samples-4"))),
    ("docs/methods/networks.md", "of which {:.0f} to {:.0f} % on graph networks are the corrections by samples",
     lambda: (100 - max(graph_shares()), 100 - min(graph_shares()))),
    ("experiments/figure1/README.md", "the factor is {:.1f} to {:.1f} between 150 and 30,000 in the best reading", smc_range),
    ("experiments/figure1/README.md", "the factor of {:.1f} in evaluations", lambda: smc_factors(10_000, 10_000)),
    (DEPARTURES, "Here SMC needs {:.1f} to {:.1f} times the budget of TreeSample", smc_range),
    (DEPARTURES, "by {:.2f} to {:.2f} only: {:.0f} to {:.0f} % of the gain on graph networks is that of the samples",
     lambda: [-f(statistics.mean(v) for v in split_cells("delta_kl_uncorrected", "delta_kl_phi").values())
              for f in (max, min)] + [100 - max(graph_shares()), 100 - min(graph_shares())]),
    (DEPARTURES, "By likelihood 2.75 is as good (TS {:.2f} +- {:.2f} against {:.2f} +- {:.2f})",
     lambda: [tried("chain", word, "tree", "random ties", column) for word in ("pair_offset=2.75", "pair_offset=2.5")
              for column in ("mean", "standard_deviation")]),
    (DEPARTURES, "SIS {:.2f} +- {:.2f}, SMC {:.2f} +- {:.2f}, TS {:.2f} +- {:.2f} (paper:",
     lambda: [tried("permuted-chain", "pair_offset=1.3 ring=1", method, way, column)
              for method, way in (("sis", ""), ("smc", "stratified, last level too"), ("tree", "random ties"))
              for column in ("mean", "standard_deviation")]),
    (DEPARTURES, "The most likely one has entries N(1.15, 0.8^2): SIS {:.2f}, SMC {:.2f}, TS {:.2f}.",
     lambda: [tried("factor-graphs-1", "entry_mean=1.15 entry_stddev=0.8", method, way)
              for method, way in (("sis", ""), ("smc", "systematic, last level too"), ("tree", "random ties"))]),
    (DEPARTURES, "TS {:.2f} in this order and {:.2f} by degree",
     lambda: (tried("factor-graphs-2", "strict_majority=1", "tree", "random ties"),
              tried("factor-graphs-2", "strict_majority=1 order=degree", "tree", "lowest of ties"))),
    (DEPARTURES, "or one per update: {:.2f} and {:.2f} on factor graphs 2 with more than half",
     lambda: [tried("factor-graphs-2", "strict_majority=1", "gibbs", way) for way in ("K per update", "1 per update")]),
    (DEPARTURES, "With N_message tuned: {:.2f}, {:.2f} on factor graphs 1 with +1 (the last one pays for no sample) and "
     "{:.2f}, {:.2f} and {:.2f} on factor graphs 2",
     lambda: [tried("factor-graphs-1", "entry_mean=1", "bp", way) for way in ("1 per factor and step", "1 per message")] +
     [tried("factor-graphs-2", "strict_majority=1", "bp", way)
      for way in ("1 per factor and step", "1 per message", "1 per table entry")]),
    (DEPARTURES, "c = `0.3`: KL {:.2f} +- {:.2f} with the lowest action, {:.2f} +- {:.2f} at random.",
     lambda: [tried("chain", "pair_offset=2.5", "tree", way, column) for way in ("lowest of ties", "random ties")
              for column in ("mean", "standard_deviation")]),
    (DEPARTURES, "PERMUTED: SMC {:.2f} multinomial, {:.2f} stratified, {:.2f} systematic; CHAIN: {:.2f}, {:.2f}, {:.2f}.",
     lambda: [tried(family, "letter", "smc", way) for family in ("permuted-chain", "chain")
              for way in ("multinomial", "stratified", "systematic")]),
    (DEPARTURES, "{:.2f}, {:.2f} and {:.2f} on CHAIN, of which the first is the paper's 1.94 within its noise, and {:.2f}, "
     "{:.2f} and {:.2f} on PERMUTED.",
     lambda: [tried(family, "letter", "smc", way + ", last level too") for family in ("chain", "permuted-chain")
              for way in ("multinomial", "stratified", "systematic")]),
    (DEPARTURES, "as printed: SIS {:.2f}, SMC {:.2f}, TS {:.2f}, all far from the paper.",
     lambda: [tried("chain", "pair_slope=2.5", method, way)
              for method, way in (("sis", ""), ("smc", "multinomial"), ("tree", "lowest of ties"))]),
    (DEPARTURES, "**Scale as variance:** SIS {:.2f}, SMC {:.2f}, TS {:.2f}.",
     lambda: [tried("chain", "scale_is_variance=1", method, way)
              for method, way in (("sis", ""), ("smc", "multinomial"), ("tree", "lowest of ties"))]),
    (DEPARTURES, "SMC {:.2f} and TS {:.2f}, against {:.2f} and {:.2f}.",
     lambda: [tried("factor-graphs-1", word, method, way) for word in ("order=given", "letter")
              for method, way in (("smc", "multinomial"), ("tree", "lowest of ties"))]),
    (DEPARTURES, "factor for every clique:** SIS {:.2f}, SMC {:.2f}, TS {:.2f}:",
     lambda: [tried("factor-graphs-1", "every_clique=1", method, way)
              for method, way in (("sis", ""), ("smc", "multinomial"), ("tree", "lowest of ties"))]),
    (DEPARTURES, "Mean log Z is {:.1f} to the letter and {:.1f} in the best reading",
     lambda: [table1("factor-graphs-1", word, "sis", "log_z_mean") for word in ("letter", "best")]),
    (DEPARTURES, "(mean log Z {:.1f} and {:.1f})",
     lambda: [table1("factor-graphs-2", word, "sis", "log_z_mean") for word in ("letter", "best")]),
    (DEPARTURES, "c = 0.03, 0.3 and 1 are worse by {:.2f}, {:.2f} and {:.2f}; 64 learner steps per episode instead of 16 "
     "are better by {:.2f}, 4 worse by {:.2f}.",
     lambda: [ablation("c-0.03"), ablation("c-0.3"), ablation("c-1"), -ablation("steps-64"), ablation("steps-4")]),
    (DEPARTURES, "is then better by {:.2f} to {:.2f} nats in the five GNN columns of Table 2",
     lambda: [-f(map(global_gain, ["gnn-single", *TRANSFER])) for f in (max, min)]),
    (DEPARTURES, "makes samples of Q_phi worse by {:.2f} to {:.2f} nats on graph networks",
     lambda: sorted(ablation("bellman", "kl_phi", column) for column in ("gnn-20", "gnn-12"))),
    (TABLE2, "{:.2f}, {:.2f}, {:.2f} and {:.2f} for GNN 20, 12, 16 and 24 (10 standard errors or more), {:.3f} ({:.3f}) "
     "for the single graph",
     lambda: [search_less_phi("best", "global", c)[0] for c in TRANSFER] +
     list(search_less_phi("best", "global", "gnn-single"))),
    (TABLE2, "In the letter (12 runs) the four are {:.2f}, {:.2f}, {:.2f} and {:.2f}, four standard errors or more, and "
     "{:+.3f} ({:.3f}) for the single graph.",
     lambda: [search_less_phi("letter", "global", c)[0] for c in TRANSFER] +
     list(search_less_phi("letter", "global", "gnn-single"))),
    (DEPARTURES, "has KL {:.2f}, {:.2f}, {:.2f} and {:.2f} / {:.2f}: on PERMUTED",
     lambda: [table1(family, "letter", "uniform", "kl_mean") for family in
              ("chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2")] +
     [table1("factor-graphs-2", "best", "uniform", "kl_mean")]),
    (DEPARTURES, "CHAIN to the letter goes from {:.2f} to {:.2f} without a fitted constant.",
     lambda: (table1("chain", "letter", "tree"), table1("chain", "letter", "elbo"))),
    ("experiments/beliefs/README.md", "On CHAIN it is better at 10,000 evaluations ({:.3f} against {:.3f}) and worse at 300 "
     "({:.2f} against {:.2f})",
     lambda: [beliefs("chain", "best", rule, budget) for budget in (10_000, 300) for rule in ("information-z", "mass")]),
    ("experiments/beliefs/README.md", "(CHAIN to the letter: KL {:.1f} and {:.1f} at 10,000",
     lambda: [number("beliefs/first_version.csv", "kl_mean", family="chain", reading="letter", rule=rule, budget="10000")
              for rule in ("information-z", "information-x")]),
    ("experiments/beliefs/README.md", "more than a factor of two ({:.3f} against {:.3f})",
     lambda: [beliefs("factor-graphs-2", "best", rule, 10_000) for rule in ("information-z", "mass")]),
    ("experiments/functions/README.md", "CHAIN {:.3f} +- {:.3f}, PERMUTED {:.3f} +- {:.3f}, FG 1 {:.3f} +- {:.3f}, FG 2 "
     "{:.3f} +- {:.3f} (letter) and {:.3f} +- {:.3f} (best).",
     lambda: [functions(family, word, column) for family, word in
              (("chain", "letter"), ("permuted-chain", "letter"), ("factor-graphs-1", "letter"),
               ("factor-graphs-2", "letter"), ("factor-graphs-2", "best"))
              for column in ("kl_mean", "kl_standard_error")]),
    ("experiments/functions/README.md", "The largest ratio of rule mass to q-uct over all cells is {:.3f}",
     lambda: (largest_function_ratio(),)),
    ("docs/methods/mass.md", "CHAIN {:.3f} +- {:.3f}, PERMUTED {:.3f} +- {:.3f}, FG 1 {:.3f} +- {:.3f}, FG 2 "
     "{:.3f} +- {:.3f} (letter) and {:.3f} +- {:.3f} (best).",
     lambda: [functions(family, word, column) for family, word in
              (("chain", "letter"), ("permuted-chain", "letter"), ("factor-graphs-1", "letter"),
               ("factor-graphs-2", "letter"), ("factor-graphs-2", "best"))
              for column in ("kl_mean", "kl_standard_error")]),
    ("docs/methods/mass.md", "The largest ratio of rule mass to q-uct over all cells is {:.3f}",
     lambda: (largest_function_ratio(),)),
    (GFLOWNET, "Misses: hypergrid-8 at 100 ({:.3f}, dqn {:.3f}); chain-10 at 100 ({:.3f}, subtb {:.3f}).",
     lambda: black_box_misses("", ("black_box", "hypergrid-8", 100), ("black_box", "chain-10", 100))),
    (GFLOWNET, "The larger hypergrid is at {:.3f} after 1,000 rewards, and at {:.3f} after 3,000 (two runs)",
     lambda: [variation(name, "hypergrid-20", budget, "black-box")
              for name, budget in (("black_box", 1000), ("black_box_3000", 3000))]),
    (GFLOWNET, "soft DQN is at {:.2f} after 3,000, and at {:.2f} after 10,000 (one run).",
     lambda: [variation("networks_10000", "hypergrid-20", budget, "dqn") for budget in (3000, 10000)]),
    (GFLOWNET, "but on the smaller hypergrid after 1,000 rewards, {:.2f}).",
     lambda: [variation("references", "hypergrid-8", 1000, "search")]),
    (DEPARTURES, "from `2.25` to 3 all are between {:.2f} and {:.2f}.",
     lambda: [f(constants_of_chains()) for f in (min, max)]),
    (DEPARTURES, "{:.2f} +- {:.2f}, {:.2f} +- {:.2f}, {:.2f} +- {:.2f}).",
     lambda: [paper("permuted-chain", method, column) for method in ("sis", "smc", "tree")
              for column in ("mean", "standard_deviation")]),
    (DEPARTURES, "the paper's delta-KL of {:.2f} is below minus the first of these",
     lambda: (paper("factor-graphs-1", "tree"),)),
    (DEPARTURES, "(paper: {:.2f}, which neither reaches)", lambda: (paper("factor-graphs-2", "tree"),)),
    (DEPARTURES, "where the paper has {:.2f}. No accounting", lambda: (paper("factor-graphs-2", "gibbs"),)),
    (DEPARTURES, "The paper has {:.2f} and {:.2f}.",
     lambda: (paper("factor-graphs-1", "bp"), paper("factor-graphs-2", "bp"))),
    (DEPARTURES, "on FACTOR GRAPHS 2 {:.1f} to the letter and {:.1f} in the best reading on average",
     lambda: [table1("factor-graphs-2", word, "sis", "log_z_mean") for word in ("letter", "best")]),
    ("docs/methods/mass.md", "the KL of P_X is still {:.2f}.", lambda: (table1("chain", "letter", "tree"),)),
    ("docs/methods/mass.md", "does not change the distribution, makes it {:.2f}.", lambda: (table1("chain", "best", "tree"),)),
    (NETWORKS, "V_phi(root) is {:.2f} ({:.2f}) nats above log Z after training on FACTOR GRAPHS 2 with 20 variables, and "
     "{:.2f} ({:.2f}) with exact targets",
     lambda: bias_of("the paper's targets, N_train 20") + bias_of("exact targets, N_train 20")),
    (TABLE2, "The bias is {:.2f} nats", lambda: bias_of("the paper's targets, N_train 20")[:1]),
    (NETWORKS, "the residual falls from {:.2f} to {:.2f} (N_train 20) and from {:.2f} to {:.2f} (12), but samples of Q_phi "
     "get worse, by {:.2f} and {:.2f} nats",
     lambda: [ablation_median(variant, "bellman_residual", column) for column in ("gnn-20", "gnn-12")
              for variant in ("base", "bellman")] + [ablation("bellman", "kl_phi", c) for c in ("gnn-20", "gnn-12")]),
    (TABLE2, "makes the residual smaller ({:.2f} to {:.2f}, {:.2f} to {:.2f}) and Q_phi worse ({:+.2f}, {:+.2f})",
     lambda: [ablation_median(variant, "bellman_residual", column) for column in ("gnn-20", "gnn-12")
              for variant in ("base", "bellman")] + [ablation("bellman", "kl_phi", c) for c in ("gnn-20", "gnn-12")]),
    (NETWORKS, "With T = 2 training takes {:.1f} to {:.1f} times the time.",
     lambda: sorted(ablation_time("global", column) for column in ("gnn-20", "gnn-12"))),
    (TABLE2, "`Q_phi + TS` from {:.2f} to {:.2f} and from {:.2f} to {:.2f}, for {:.1f} to {:.1f} times the time.",
     lambda: [ablation_median(variant, "kl_search", column) for column in ("gnn-20", "gnn-12")
              for variant in ("base", "global")] + sorted(ablation_time("global", c) for c in ("gnn-20", "gnn-12"))),
    (TABLE2, "together give {:.2f} alone and {:.2f} telescoped at N_train 20, the best row but for the search on the "
     "network's own values, which is bad ({:.2f}) unless there is a global value too ({:.2f}).",
     lambda: [ablation_median("exact-policy", measure) for measure in ("kl_phi", "kl_telescoped", "kl_search")] +
     [ablation_median("exact-global-policy", "kl_search")]),
    (TABLE2, "`policy` is worse alone ({:+.2f})", lambda: (ablation("policy", "kl_phi"),)),
    (TABLE2, "is within {:.2f} nats of that over 600 to 800", lambda: (math.ceil(100 * largest_ts_fall()) / 100,)),
    (TABLE2, "still fall by {:.2f} to {:.2f} nats between the two.", lambda: [f(smc_falls()) for f in (min, max)]),
    (NETWORKS, "by {:.2f} to {:.2f} nats, the paper's search with it by {:.2f} to {:.2f}, and the telescoped search by {:.2f} "
     "to {:.2f}.",
     lambda: [-f(with_global(measure)) for measure in ("delta_kl_phi", "delta_kl", "delta_kl_telescoped")
              for f in (max, min)]),
    (NETWORKS, "as in the paper: by {:.2f} to {:.2f} nats, on the single graph by {:.3f} ({:.3f}).",
     lambda: [-f(search_less_phi("best", "global", c)[0] for c in TRANSFER) for f in (max, min)] +
     [abs(x) for x in search_less_phi("best", "global", "gnn-single")]),
    (NETWORKS, "{:.2f} to {:.2f} nats of KL less than the network alone",
     lambda: [-f(gains("telescoped").values()) for f in (max, min)]),
    ("experiments/figure1/README.md", "TS in the best reading takes {:.1f} ms, SMC {:.1f} ms and our search in `andor`, which "
     "is exact after 230, {:.1f} ms",
     lambda: (milliseconds("tree"), milliseconds("smc"), milliseconds("andor"))),
    ("experiments/own_families/README.md", "the network has {:.2f} nats, a twentieth of the uniform prior's. Mini-buckets "
     "that take as long (one pass, i = 14 and 15) have {:.2f} and {:.2f} in the same order of the variables; in the order "
     "of degrees, which is free and which they gain more from than from a larger i, {:.2f} and {:.2f}.",
     lambda: [equal_cost("majority", method) for method in
              ("network, telescoped", "mini-buckets, i = 14, 1 pass", "mini-buckets, i = 15, 1 pass",
               "mini-buckets, i = 14, order degree, 1 pass", "mini-buckets, i = 15, order degree, 1 pass")]),
    ("docs/methods/elimination.md", "Of the 50, {} have an exact log Z after 1 second, {} after 5 and {} after 20.",
     lambda: [exact_models(limit) for limit in (1, 5, 20)]),
    ("docs/methods/elimination.md", "All {} of these certified bounds, and all {} intervals, contain the log Z that more time",
     lambda: open_answers()[1:] if len(set(open_answers())) == 1 else ("NOT", "NOT")),
    ("experiments/memory/README.md", "Rebuilding is better than stopping in {} of {} cells, and better than collapsing in {}.",
     memory_wins),
    ("docs/methods/oracles.md", "of the intervals that were given, {} of {} covered the truth on CHAIN, {} of {} on PERMUTED, {} "
     "of {} on FACTOR GRAPHS 2 and {} of {} on FACTOR GRAPHS 1.",
     lambda: [count for family in ("chain", "permuted-chain", "factor-graphs-2", "factor-graphs-1")
              for count in coverage(family)]),
    (TABLE2, "In the best reading it is better in {} of {} pairs.", global_pairs),
    (TABLE2, "Of the best reading {} of {} signs are the paper's, of the letter {}.",
     lambda: (*same_signs("best"), same_signs("letter")[0])),
    ("experiments/beliefs/README.md", "on PERMUTED and FG 1 the two are within two standard errors in {} of {} cells, and in the "
     "others `mass` is better", equal_beliefs),
    ("docs/methods/monotone.md", "All {} certified bounds hold; of the {} intervals {} cover the truth.", reliability_counts),
    ("docs/counting.md", "On one core and in two seconds each, {} of the 300 are counted", lambda: (num_counted(),)),
    ("docs/counting.md", "take {:.1f} s of processor time. The search alone takes {:.1f} s, {:,.0f} decisions per second; "
     "without any reduction it takes {:.1f} s, and three more formulas are not counted in three seconds. Two threads "
     "together take {:.1f} s: what both search is searched twice.",
     lambda: (count_effect("everything"), count_effect("search"),
              count_effect("search", "decisions") / count_effect("search"), count_effect("search none"),
              count_effect("search 2 threads"))),
]

"""Sentences of README and docs with the numbers that kept files give them, for scripts/check-claims.

A claim is a document, a sentence with {} for each number as str.format writes it, and a function that returns the
numbers. White space in the document does not matter.
"""
import functools
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from kept import rows_of  # noqa: E402


@functools.lru_cache(maxsize=None)
def rows(name):
    return rows_of(HERE / name)


def chosen(name, /, **fields):
    return [row for row in rows(name) if all(row[field] == value for field, value in fields.items())]


def number(name, column, /, **fields):
    found = chosen(name, **fields)
    assert len(found) == 1, (name, fields, len(found))
    return float(found[0][column])


def numbers(name, column, /, **fields):
    return [float(row[column]) for row in chosen(name, **fields) if row[column]]


# Table 1.
def table1(family, reading, method, column="mean"):
    return number("table1/table1.csv", column, family=family, reading=reading, method=method)


def matching(reading, column):
    return sum(row[column] == "yes" for row in chosen("table1/table1.csv", reading=reading))


def reading(family, who, method, column="mean"):
    return number("table1/readings.csv", column, family=family, who=who, method=method)


def tried(family, family_reading, method, method_reading, column="mean"):
    return number("table1/readings_tried.csv", column, family=family, family_reading=family_reading, method=method,
                  method_reading=method_reading)


def least_of_chains(method, is_ring):
    return min(float(row["mean"]) for row in chosen("table1/readings_tried.csv", family="chain", method=method)
               if ("ring" in row["family_reading"]) == is_ring)


def likely_within(*columns):
    cells = [row for row in chosen("table1/readings.csv", who="likely") if row["paper_mean"]]
    return sum(all(abs(float(row[column])) <= 3.0 for column in columns) for row in cells)


# Table 2: differences of two numbers of the same run.
def runs(folder, reading, column, trainer, one, other):
    found = [row for row in chosen(f"{folder}/table2_runs.csv", reading=reading, column=column, trainer=trainer)
             if row.get(one) and row.get(other)]
    return [float(row[one]) - float(row[other]) for row in found]


def median_less_plain(folder, number_of):
    return statistics.median(runs(folder, "best", "gnn-20", "ts", number_of, "delta_kl_plain"))


def curve(row, begin, end):
    return statistics.mean(float(r["median"]) for r in chosen("table2/long/table2_curves.csv", row=row)
                           if begin < float(r["episode"]) <= end)


def split_cells(one, other, trainer="ts"):
    columns = ["mlp-single", "gnn-single", "gnn-20", "gnn-12", "gnn-16", "gnn-24"]
    return {(r, c): runs("table2/split", r, c, trainer, one, other) for r in ("letter", "best") for c in columns}


def search_shares():
    """The search's part of the whole gain, in percent, by reading and column."""
    part = split_cells("delta_kl_telescoped", "delta_kl_corrected")
    whole = split_cells("delta_kl_telescoped", "delta_kl_phi")
    return {key: 100.0 * statistics.mean(part[key]) / statistics.mean(whole[key]) for key in part}


def graph_shares():
    return [share for (_, column), share in search_shares().items() if column != "mlp-single"]


def gains(row, readings=("letter", "best")):
    one = {"search": "delta_kl", "telescoped": "delta_kl_telescoped"}[row]
    found = {}
    for r in readings:
        for c in ["mlp-single", "gnn-single", "gnn-20", "gnn-12", "gnn-16", "gnn-24"]:
            found[r, c] = statistics.mean(runs("table2", r, c, "ts", one, "delta_kl_phi"))
    return found


def cure(way, column="kl"):
    return statistics.mean(numbers("table2/cures.csv", column, way=way))


def search_less_phi(reading_word, trainer, column):
    found = runs("table2", reading_word, column, trainer, "delta_kl", "delta_kl_phi")
    return statistics.mean(found), statistics.stdev(found) / math.sqrt(len(found))


def global_gain(column):
    """TreeSample on top of the network with a global value, less that on top of the paper's network, run by run."""
    paper = {r["run"]: float(r["delta_kl"]) for r in chosen("table2/table2_runs.csv", reading="best", column=column,
                                                           trainer="ts")}
    other = chosen("table2/table2_runs.csv", reading="best", column=column, trainer="global")
    return statistics.mean(float(r["delta_kl"]) - paper[r["run"]] for r in other)


TRANSFER = ["gnn-20", "gnn-12", "gnn-16", "gnn-24"]


def ablation(variant, measure="kl_search", column="gnn-20"):
    base = {r["run"]: float(r[measure]) for r in chosen("table2/ablations.csv", column=column, variant="base")}
    found = chosen("table2/ablations.csv", column=column, variant=variant)
    return statistics.mean(float(r[measure]) - base[r["run"]] for r in found)


# Figure 1: SMC's budget for the KL of TreeSample, linear in the logarithms of budget and KL.
def smc_factors(least, most):
    def line(method):
        return sorted((float(r["budget"]), float(r["kl_mean"]))
                      for r in chosen("figure1/figure1_error.csv", method=method, reading="best"))
    smc, factors = line("smc"), []
    for budget, kl in line("tree"):
        for (x0, y0), (x1, y1) in zip(smc, smc[1:]):
            if least <= budget <= most and y1 <= kl <= y0:
                part = math.log(y0 / kl) / math.log(y0 / y1)
                factors.append(x0 * (x1 / x0) ** part / budget)
    return factors


def smc_range():
    factors = smc_factors(150, 30_000)
    return [min(factors), max(factors)]


def functions(family, reading, column="kl_mean"):
    return number("functions/functions.csv", column, family=family, reading=reading, method="mass", budget="10000")


def largest_function_ratio():
    ratios = []
    for row in chosen("functions/functions.csv", method="mass"):
        other = number("functions/functions.csv", "kl_mean", family=row["family"], reading=row["reading"],
                       method="tree", budget=row["budget"])
        ratios.append(float(row["kl_mean"]) / other)
    return max(ratios)


def kinds_tv(method, calls):
    """Mean over kinds of the mean over instances."""
    kinds = {}
    for name in ("calls/kinds.csv", "calls/kinds_300.csv"):
        for row in chosen(name, method=method, calls=str(calls)):
            kinds.setdefault(row["kind"], []).append(float(row["tv"]))
    return statistics.mean(statistics.mean(values) for values in kinds.values())


def beliefs(family, word, rule, budget):
    return number("beliefs/beliefs.csv", "kl_mean", family=family, reading=word, rule=rule, budget=str(budget))


GFLOWNET = "experiments/gflownet/README.md"
TABLE1, TABLE2 = "experiments/table1/README.md", "experiments/table2/README.md"
DEPARTURES = "docs/departures.md"
# GFlowNets.
def variation(file, task, budget, *methods):
    return min(number(f"gflownet/{file}.csv", "mean", task=task, method=method, budget=str(budget), quantity="tv")
               for method in methods)


def black_box_misses(suffix, *cells):
    nets = ["tb" + suffix, "subtb" + suffix, "dqn" + suffix]
    return [value for file, task, budget in cells
            for value in (variation(file, task, budget, "black-box"), variation("networks", task, budget, *nets))]


CLAIMS = [
    ("README.md", "{} of the 16 cells of Table 1 are within three standard errors, in the best reading {}, and {} in the "
     "most likely of many readings",
     lambda: (matching("letter", "within_3_standard_errors"), matching("best", "within_3_standard_errors"),
              likely_within("z_mean"))),
    (TABLE1, "Of the paper's 16 numbers {} match in the letter and {} in the best reading; within three standard errors, "
     "without the 0.15 nats, {} and {} do.",
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
     "0 to {:.0f} % there, {:.0f} and {:.0f} % with the perceptron.",
     lambda: (100 - max(graph_shares()), 100 - max(0.0, min(graph_shares())), max(graph_shares()),
              search_shares()["best", "mlp-single"], search_shares()["letter", "mlp-single"])),
    (TABLE2, "is better than Q_phi alone in all columns, by {:.2f} to {:.2f}.",
     lambda: [-f(statistics.mean(v) for v in split_cells("delta_kl_uncorrected", "delta_kl_phi").values())
              for f in (max, min)]),
    (TABLE2, "The 20 runs below put it at {:.3f} ({:.3f}) nats.",
     lambda: (lambda d: (-statistics.mean(d), statistics.stdev(d) / math.sqrt(len(d))))(
         runs("table2/long", "best", "gnn-20", "ts", "delta_kl_telescoped", "delta_kl_samples"))),
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
     lambda: (100 - max(graph_shares()), 100 - max(0.0, min(graph_shares())))),
    ("experiments/figure1/README.md", "the factor is {:.1f} to {:.1f} between 150 and 30,000 in the best reading", smc_range),
    ("experiments/figure1/README.md", "the factor of {:.1f} in evaluations", lambda: smc_factors(10_000, 10_000)),
    (DEPARTURES, "Here SMC needs {:.1f} to {:.1f} times the budget of TreeSample", smc_range),
    (DEPARTURES, "by {:.2f} to {:.2f} only: {:.0f} to {:.0f} % of the gain on graph networks is that of the samples",
     lambda: [-f(statistics.mean(v) for v in split_cells("delta_kl_uncorrected", "delta_kl_phi").values())
              for f in (max, min)] + [100 - max(graph_shares()), 100 - max(0.0, min(graph_shares()))]),
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
    (DEPARTURES, "c = 0.3: KL {:.2f} +- {:.2f} with the lowest action, {:.2f} +- {:.2f} at random.",
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
    (TABLE2, "In the letter (6 runs) the four are {:.2f}, {:.2f}, {:.2f} and {:.2f}, four standard errors or more, and "
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
    (GFLOWNET, "hypergrid-8 at 100 ({:.3f}, dqn {:.3f}); hypergrid-8 at 300 ({:.3f}, dqn {:.3f}); chain-10 at 100 ({:.3f}, "
     "subtb {:.3f}).",
     lambda: black_box_misses("", ("black_box", "hypergrid-8", 100), ("black_box", "hypergrid-8", 300),
                              ("black_box_large", "chain-10", 100))),
    (GFLOWNET, "hypergrid-8 at 1,000 ({:.3f}, {:.3f}), hypergrid-20 at 3,000 ({:.3f}, {:.3f}; one run) and ising-4 at 1,000 "
     "({:.3f}, {:.3f}).",
     lambda: [*black_box_misses(".memory", ("black_box", "hypergrid-8", 1000)),
              variation("black_box_3000", "hypergrid-20", 3000, "black-box"),
              variation("networks_10000", "hypergrid-20", 3000, "dqn.memory"),
              *black_box_misses(".memory", ("black_box", "ising-4", 1000))]),
    (GFLOWNET, "after 3,000 rewards, as was hoped: {:.3f} (one run).",
     lambda: [variation("black_box_3000", "hypergrid-20", 3000, "black-box")]),
    (GFLOWNET, "soft DQN is at {:.2f} on the hypergrid of 160,000 places after 3,000 different rewards, and at {:.2f} after "
     "10,000 (one run).",
     lambda: [variation("networks_10000", "hypergrid-20", budget, "dqn") for budget in (3000, 10000)]),
    (GFLOWNET, "but on the smaller hypergrid after 1,000 rewards, {:.2f}).",
     lambda: [variation("references", "hypergrid-8", 1000, "search")]),
]

#!/usr/bin/python3 -B
"""The tables of the docs that come from kept files: kept_tables.py NAME prints one as Markdown.

tables_checked.py says which document has which of them.
"""
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from kept import print_table, rows_of  # noqa: E402


def orders():
    """log2 of the bucket entries after about 0.1 and 2.5 seconds; the least of a line is bold."""
    methods = ["min-width", "METIS", "min-fill", "annealing"]
    found = {}
    for row in rows_of(HERE / "orders" / "orders.csv"):
        found.setdefault(row["model"], {}).setdefault(row["method"], []).append(
            (float(row["seconds"]), float(row["log2_entries"])))

    def after(points, seconds):
        return min(points, key=lambda point: abs(math.log(point[0] / seconds)))[1]

    def cell(of, method):
        return ", ".join(f"{after(of[method], seconds):.1f}" for seconds in (0.1, 2.5))

    rows = []
    for model, of in found.items():
        best = min(after(of[m], 2.5) for m in methods)
        alone = sum(after(of[m], 2.5) < best + 0.05 for m in methods) == 1
        rows.append([model] + [f"**{cell(of, m)}**" if alone and after(of[m], 2.5) == best else cell(of, m)
                               for m in methods])
    print_table(["model", *methods], rows)


FAMILIES = {"chain": "CHAIN", "permuted-chain": "PERMUTED", "factor-graphs-1": "FG 1", "factor-graphs-2": "FG 2",
            "ising": "Ising 10x10"}


def kl_text(value):
    """Three digits; what is left by rounding is exact."""
    if value < 1e-9:
        return "exact"
    return f"{value:.3f}" if value < 0.9995 else f"{value:.2f}" if value < 9.995 else f"{value:.1f}"


def least_bold(values):
    return [f"**{kl_text(value)}**" if value == min(values) else kl_text(value) for value in values]


def table1(wanted):
    """The rows of chains (KL) or of factor graphs (delta-KL, with the KL in brackets)."""
    of = {(r["family"], r["reading"], r["method"]): r for r in rows_of(HERE / "table1" / "table1.csv")}
    methods = {"sis": "SIS", "smc": "SMC", "gibbs": "GIBBS", "bp": "BP", "tree": "TS", "mass": "TS, rule mass",
               "elbo": "TS, ELBO leaves", "elbo-states": "TS, ELBO leaves, bonus (N - n) log K, random ties"}

    def cell(row):
        text = f"{float(row['mean']):.2f} +- {float(row['standard_deviation']):.2f}"
        text += "" if row["measure"] == "kl" else f" ({float(row['kl_mean']):.2f})"
        return f"**{text}**" if row["matches_paper"] == "yes" else text

    def plain(row):
        value = float(row["kl_mean"])
        return "0" if abs(value) < 1e-9 else f"{value:.2f}"

    rows = []
    for family in wanted:
        for method, words in methods.items():
            best = of[family, "best", method]
            if wanted[0] == "chain" and method in ("gibbs", "bp"):
                continue
            paper = best["paper_mean"] and f"{float(best['paper_mean']):.2f} +- {float(best['paper_standard_deviation']):.2f}"
            rows.append([f"{FAMILIES[family]} {words}", paper, *[cell(of[family, r, method]) for r in ("letter", "best")]])
        rest = [" / ".join(plain(of[family, r, m]) for m in ("uniform", "graph", "andor")) for r in ("letter", "best")]
        rows.append([f"{FAMILIES[family]} uniform P_X / graph / andor, KL", "", *rest])
    print_table(["KL" if wanted[0] == "chain" else "delta-KL (KL in brackets)", "paper", "letter", "best reading"], rows)


def table1_chains():
    table1(["chain", "permuted-chain"])


def table1_graphs():
    table1(["factor-graphs-1", "factor-graphs-2"])


def by_line(name, key):
    of = {}
    for row in rows_of(HERE / name):
        of.setdefault(row[key], {})[row["method"], row["reading"]] = row
    return of


def depth():
    rows = []
    for n, of in by_line("depth/depth.csv", "n").items():
        smc, letter, best, andor = (float(of[line]["kl_mean"]) for line in
                                    (("smc", "best"), ("tree", "letter"), ("tree", "best"), ("andor", "best")))
        smc, best = least_bold([smc, best])
        rows.append([n, of["smc", "best"]["k"], smc, kl_text(letter), best, kl_text(andor)])
    print_table(["N", "K", "SMC", "TS, letter", "TS, best reading", "andor"], rows)


def smc_budget(smc, kl):
    """Of SMC for this KL, linear in the logarithms of budget and KL; None beyond the largest."""
    for (x0, y0), (x1, y1) in zip(smc, smc[1:]):
        if y1 <= kl <= y0:
            return x0 * (x1 / x0) ** (math.log(y0 / kl) / math.log(y0 / y1))
    return None


def figure1():
    of = by_line("figure1/figure1_error.csv", "budget")
    smc = [(float(budget), float(line["smc", "best"]["kl_mean"])) for budget, line in of.items()
           if ("smc", "best") in line]
    rows = []
    for budget in ("100", "300", "1000", "3000", "10000", "30000", "300000"):
        lines = [("smc", "best"), ("tree", "letter"), ("tree", "best"), ("graph", "best"), ("andor", "best")]
        values = [float(of[budget][line]["kl_mean"]) for line in lines]
        needed = smc_budget(smc, values[2])
        rows.append([f"{int(budget):,}", *map(kl_text, values),
                     f"{needed / float(budget):.1f} x" if needed else "more than the largest budget here"])
    print_table(["budget", "SMC", "TS, letter", "TS, best reading", "graph", "andor", "SMC needs"], rows)


def energy_entropy():
    of = {}
    for row in rows_of(HERE / "figure1" / "figure1_energy_entropy.csv"):
        of.setdefault((row["method"], row["reading"]), []).append(row)
    rows = []
    for name, words in (("delta_energy", "delta-energy (lower is better)"), ("delta_entropy", "delta-entropy (higher is better)")):
        cells = []
        for line in (("smc", "best"), ("tree", "best")):
            values = [float(row[name]) for row in of[line]]
            cells.append(f"{statistics.mean(values):.2f} +- {statistics.stdev(values):.2f}")
        rows.append([words, *cells])
    print_table(["B = 10,000, 200 problems, mean +- standard deviation", "SMC", "TS, best reading"], rows)


def memory():
    of = {}
    for row in rows_of(HERE / "memory" / "memory.csv"):
        of.setdefault((row["family"], row["megabytes"]), {})[row["method"]] = row
    rows = [[FAMILIES[family], megabytes, f"{float(methods['stop']['evaluations_mean']):,.0f}",
             *least_bold([float(methods[m]["kl_mean"]) for m in ("stop", "collapse", "rebuild")])]
            for (family, megabytes), methods in of.items()]
    print_table(["family", "MB", "full after", "stop", "collapse", "rebuild"], rows)


def functions():
    budgets = (100, 300, 1000, 3000, 10000, 30000, 100000)
    of = {(r["family"], r["reading"], r["method"], int(r["budget"])): float(r["kl_mean"])
          for r in rows_of(HERE / "functions" / "functions.csv")}
    rows = []
    for family, reading in (("chain", "letter"), ("chain", "best"), ("permuted-chain", "letter"),
                            ("factor-graphs-1", "letter"), ("factor-graphs-1", "best"), ("factor-graphs-2", "letter"),
                            ("factor-graphs-2", "best")):
        words = FAMILIES[family] + ("" if family == "permuted-chain" else f" {reading}")
        pairs = [least_bold([of[family, reading, method, b] for method in ("tree", "mass")]) for b in budgets]
        rows += [[f"{words}, TS", *[pair[0] for pair in pairs]], [f"{words}, rule mass", *[pair[1] for pair in pairs]]]
    print_table(["KL", *[f"{b:,}" for b in budgets]], rows)


def interval(low, high):
    return "-" if not low else f"[{float(low):.3f}, {float(high):.3f}]"


def open_models():
    """Models whose log Z is not exact within the limit."""
    rows = [[row["model"], row["limit"], interval(row["lower"], row["upper"]),
             interval(row["interval_lower"], row["interval_upper"]), f"{float(row['log_z']):.3f}"]
            for row in rows_of(HERE / "models" / "results.csv") if row["exact"] == "0"]
    print_table(["model", "limit, s", "certified", "interval at `0.95`", "estimate"], rows)


def slow_models():
    """Models that are exact within 20 s, but take more than half a second."""
    rows = [[row["model"], f"{float(row['seconds']):.1f}", "counting" if row["method"].startswith("count") else "elimination",
             "exact" if row["marginals_error"] == "0.0" else "sampled" if row["marginals_error"] else "error not known"]
            for row in rows_of(HERE / "models" / "results.csv")
            if row["limit"] == "20" and row["exact"] == "1" and float(row["seconds"]) > 0.5]
    print_table(["model", "processor seconds", "log Z by", "marginals"], rows)


def dense_models():
    names = {"glass_60": "glass of 60", "glass_100": "glass of 100", "machine_0.5": "machine, `0.5`",
             "machine_0.8": "machine, `0.8`", "machine_1.0": "machine, 1"}
    of = {row["model"]: row for row in rows_of(HERE / "models" / "dense.csv")}
    rows = [[words, interval(of[name]["lower"], of[name]["upper"]),
             interval(of[name]["interval_lower"], of[name]["interval_upper"]), f"{float(of[name]['log_z']):.3f}",
             f"{float(of[name]['marginals_error']):.4f}" if of[name]["marginals_error"] else "-"]
            for name, words in names.items()]
    print_table(["model", "certified", "interval at `0.95`", "estimate", "error of the marginals"], rows)


def marginal_map():
    files = rows_of(HERE / "marginal_map" / "results.csv")
    rows = []
    for model in dict.fromkeys(row["model"] for row in files):
        mine = {float(row["seconds"]): row for row in files if row["model"] == model}
        best = max(float(row["found"]) for row in mine.values())
        cells = ["optimal" if mine[t]["optimal"] == "True" else
                 f"{float(mine[t]['found']) - best:+.3f}, {float(mine[t]['upper']) - best:+.3f}" for t in (1, 4, 16)]
        first = mine[1]
        others = [f"{float(first[name]) - best:+.3f}" if first[name] not in ("", "-inf") else "-"
                  for name in ("greedy", "best_of_20_draws")]
        rows.append([model, f"{first['in_question']} of {first['unobserved']}", *cells, *others])
    print_table(["model", "in question", "after 1 s: found, upper", "after 4 s", "after 16 s", "greedy", "random"], rows)


def reliability():
    names = {"rts79": "RTS-79, loss of load", "dodecahedron-0.01": "dodecahedron, q = `0.01`",
             "dodecahedron-0.001": "dodecahedron, q = `0.001`"}
    of = {(row["system"], row["quantity"]): row for row in rows_of(HERE / "reliability" / "reliability.csv")}
    rows = []
    for system, words in names.items():
        exact = float(of[system, "certified.calls"]["exact"])
        plain = (1.959964 / 0.01) ** 2 * (1.0 - exact) / exact
        widths = [f"{100.0 * float(of[system, f'interval.{calls}']['largest']):.2g} %" for calls in (100, 1000, 2000, 4000)]
        rows.append([words, f"{exact:.6g}", f"{float(of[system, 'certified.calls']['largest']):,.0f}", f"{plain:.2g}",
                     *widths])
    print_table(["system", "P(failure), exact", "certified to 1 %", "Monte Carlo", "interval: 100 calls", "1,000", "2,000",
                 "4,000"], rows)


def programs():
    rows = []
    for row in rows_of(HERE / "programs" / "program_bench.csv"):
        if "posterior" in row["task"] or "exact" in row["task"]:
            words = row["task"].replace("dag-", "graphs of ").replace(" posterior with", " nodes,").replace(" exact", ", C++")
            rows.append([words, f"{int(row['states']):,}", f"{int(row['transitions']):,}" if row["transitions"] else "-",
                         f"{float(row['processor seconds']):.2g}", f"{float(row['width of the bounds']):.1g}"])
    print_table(["exact", "states", "transitions", "processor seconds", "width of the bounds"], rows)
    learned = {}
    for row in rows_of(HERE / "programs" / "program_bench.csv"):
        if "learned" in row["task"]:
            learned.setdefault(int(row["rewards"]), []).append(row)

    def ranged(rows, column, digits):
        values = sorted(float(row[column]) for row in rows)
        return f"{values[0]:.{digits}f} to {values[-1]:.{digits}f}"

    print_table(["hypergrid 20^4, learned, seeds", "rewards", "total variation", "processor seconds"],
                [[str(len(rows)), f"{rewards:,}", ranged(rows, "total variation", 3), ranged(rows, "processor seconds", 1)]
                 for rewards, rows in learned.items()])


INDEPENDENT = ("heavy", "normal", "needle", "needles")  # kinds whose values tell nothing of each other


def mean_variation(method, calls, names=("kinds_300.csv", "kinds.csv")):
    """Mean over kinds of the mean over instances of the first file that has this; None where none has."""
    for name in names:
        kinds = {}
        for row in rows_of(HERE / "calls" / name):
            if row["method"] == method and row["calls"] == str(calls) and row["kind"] not in INDEPENDENT:
                kinds.setdefault(row["kind"], []).append(float(row["tv"]))
        if kinds:
            return statistics.mean(map(statistics.mean, kinds.values()))
    return None


def black_boxes():
    methods = {"ours": "the same, three changes earlier", "batch": "that one, asked for 96 at a time",
               "old": "sparse terms alone (the learned search)", "remember": "Metropolis that remembers its values",
               "ours-gaussian process": "the earlier one, without the Gaussian process", "ours-sparse terms": "the earlier one, without sparse terms",
               "ours-forest": "the earlier one, without the forest", "ours-likely": "the earlier one, without draws from P_X",
               "ours-neighbours": "the earlier one, without neighbours"}
    now = [mean_variation("ours", calls, ["kinds_now.csv"]) for calls in (100, 300, 1000, 3000)]
    rows = [["black box", *["" if value is None else f"{value:.3f}" for value in now]]]
    for method, words in methods.items():
        values = [mean_variation(method, calls) for calls in (100, 300, 1000, 3000)]
        rows.append([words, *["" if value is None else f"{value:.3f}" for value in values]])
    print_table(["mean total variation after calls", "100", "300", "1,000", "3,000"], rows)


def strangers():
    names = {"ours": "black box", "old": "sparse terms alone", "remember": "Metropolis that remembers its values"}
    rows = [[words, f"{mean_variation(method, 300, ['strangers_300.csv']):.3f}"] for method, words in names.items()]
    print_table(["17 kinds made after the engine, 300 calls", "mean total variation"], rows)


def tasks():
    """The best values of published tasks, which are minimised, and of cuts, which are maximised."""
    words = {"published": "contamination, price 0", "published-4": "contamination, price 0.0001",
             "published-2": "contamination, price 0.01", "pest": "pest", "maxcut28": "cuts, 28 variables",
             "maxcut43": "cuts, 43 variables"}
    rows = rows_of(HERE / "calls" / "tasks.csv")
    lines = []
    for kind, name in words.items():
        cells, sign = [], 1 if kind.startswith("maxcut") else -1
        for method in ("ours", "remember"):
            own = [sign * float(row["best"]) for row in rows if (row["kind"], row["method"]) == (kind, method)]
            error = statistics.stdev(own) / math.sqrt(len(own))
            cells.append(f"{statistics.mean(own):.3f} ({error:.3f})")
        calls = next(row["calls"] for row in rows if row["kind"] == kind)
        lines.append([name, calls, str(len(own)), *cells])
    print_table(["best value found", "calls", "runs", "black box", "Metropolis"], lines)


def wide():
    """KL, seconds and intervals beyond 2^20 configurations, means of the instances of each kind."""
    rows = rows_of(HERE / "calls" / "wide.csv")
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        line = [kind]
        for method in ("black-box", "terms"):
            own = [row for row in rows if row["kind"] == kind and row["method"] == method]
            line += [f"{statistics.mean(max(0.0, float(row['kl'])) for row in own):.2f}",
                     f"{statistics.mean(float(row['seconds']) for row in own):.1f}"]
        lines.append(line)
    print_table(["300 calls, two instances", "black box: KL", "seconds", "sparse terms: KL", "seconds"], lines)


def calls_cells(method, calls, quantity):
    """By family, from the file that has this number of calls."""
    name = "calls_1000.csv" if calls == 1000 else "calls_300.csv"
    found = {row["family"]: row for row in rows_of(HERE / "calls" / name)
             if (row["method"], row["calls"], row["quantity"]) == (method, str(calls), quantity)}
    return ["0" if float(found[family]["mean"]) < 1e-9 else
            f"{kl_text(float(found[family]['mean']))} ({float(found[family]['standard_error']):.2f})"
            for family in ("chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2")]


def learned_calls():
    rows = [[f"{words}, {calls:,} calls", *calls_cells(method, calls, "kl")] for calls in (100, 300, 1000)
            for method, words in (("learned", "learned"), ("mass", "without"))]
    print_table(["KL (standard error)", "CHAIN", "PERMUTED", "FACTOR GRAPHS 1", "FACTOR GRAPHS 2"], rows)


def best_calls():
    methods = {"best.learned": "learned model", "best.frequencies": "frequencies of the best quarter",
               "best.metropolis": "Metropolis"}
    rows = [[words, f"{calls:,}", *calls_cells(method, calls, "gap")] for calls in (100, 300, 1000)
            for method, words in methods.items()]
    print_table(["`--question best` against", "calls", "CHAIN", "PERMUTED", "FACTOR GRAPHS 1", "FACTOR GRAPHS 2"], rows)


def annealing():
    rows = {}
    for row in rows_of(HERE / "annealing" / "annealing.csv"):
        rows.setdefault(row["model"], []).append(f"{int(row['lower_end_above']) + int(row['upper_end_below'])}")
    print_table(["model", "`0.5` (250 allowed)", "`0.9` (50)", "`0.95` (25)", "`0.99` (5)"],
                [[model, *cells] for model, cells in rows.items()])


def promises():
    rows = [[row["promise"], f"{int(row['made']):,}", f"{int(row['broken']):,}"]
            for row in rows_of(HERE / "mixer" / "promises.csv")]
    print_table(["what was promised in random runs", "how often", "not kept"], rows)


if __name__ == "__main__":
    globals()[sys.argv[1]]()

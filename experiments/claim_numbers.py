"""Numbers that the sentences of claims.py say, computed from the kept files."""
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


# Counting.
def count_effect(setting, column="seconds"):
    return number("count/effects.csv", column, formula="all", setting=setting)


def num_counted():
    return sum(row["state"] == "counted" for row in rows("count/formulas_2s.csv"))


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


def mean_and_error(values):
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


def gain_of_search():
    """On top of the corrections: least and largest gain of the 12 cells, and the fewest standard errors."""
    cells = [mean_and_error(values) for values in split_cells("delta_kl_telescoped", "delta_kl_corrected").values()]
    gained = [-mean for mean, _ in cells]
    return min(gained), max(gained), min(-mean / error for mean, error in cells)


def gain_at_equal_cost():
    """(cells of graph networks where the search is better, all of them, the largest gain, losses with the perceptron)"""
    cells = {key: mean_and_error(v) for key, v in split_cells("delta_kl_telescoped", "delta_kl_samples").items()}
    graph = [cell for (_, column), cell in cells.items() if column != "mlp-single"]
    return (sum(mean < -2.0 * error for mean, error in graph), len(graph), max(-mean for mean, _ in graph),
            cells["letter", "mlp-single"][0], cells["best", "mlp-single"][0])


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


# GFlowNets.
def variation(file, task, budget, *methods):
    return min(number(f"gflownet/{file}.csv", "mean", task=task, method=method, budget=str(budget), quantity="tv")
               for method in methods)


def black_box_misses(suffix, *cells):
    nets = ["tb" + suffix, "subtb" + suffix, "dqn" + suffix]
    return [value for file, task, budget in cells
            for value in (variation(file, task, budget, "black-box"),
                          variation("networks_large" if is_large(task) else "networks", task, budget, *nets))]


def is_large(task):
    return any(row["task"] == task for row in chosen("gflownet/networks_large.csv", method="tb"))


def paper(family, method, column="mean"):
    return number("table1/table1.csv", f"paper_{column}", family=family, reading="best", method=method)


def bias_of(network):
    """(mean, standard error) of V_phi(root) - log Z"""
    found = [float(row["root_value"]) - float(row["log_z"]) for row in chosen("table2/bias.csv", network=network)]
    return statistics.mean(found), statistics.stdev(found) / math.sqrt(len(found))


def curve_fall(reading_word, row, column):
    """The mean of the medians over episodes 200 to 400, less that over 600 to 800."""
    def mean(begin, end):
        found = chosen("table2/table2_curves.csv", reading=reading_word, row=row, column=column)
        return statistics.mean(float(r["median"]) for r in found if begin < float(r["episode"]) <= end)
    return mean(200, 400) - mean(600, 800)


GNNS = ["gnn-single", "gnn-20", "gnn-12", "gnn-16", "gnn-24"]


def largest_ts_fall():
    return max(abs(curve_fall(word, row, column)) for word in ("letter", "best") for column in ["mlp-single", *GNNS]
               for row in ("ts_phi", "ts_search", "ts_telescoped"))


def smc_falls():
    return [curve_fall(word, "smc_phi", column) for word in ("letter", "best")
            for column in ("gnn-single", "gnn-20", "gnn-24")]


def ablation_median(variant, measure, column="gnn-20"):
    return statistics.median(numbers("table2/ablations.csv", measure, column=column, variant=variant))


def ablation_time(variant, column):
    return ablation_median(variant, "seconds", column) / ablation_median("base", "seconds", column)


def with_global(measure, columns=tuple(GNNS)):
    """The network with a global value, less the paper's network, run by run: means by column."""
    found = []
    for column in columns:
        paper_runs = {r["run"]: float(r[measure]) for r in chosen("table2/table2_runs.csv", reading="best", column=column,
                                                                 trainer="ts")}
        other = chosen("table2/table2_runs.csv", reading="best", column=column, trainer="global")
        found.append(statistics.mean(float(r[measure]) - paper_runs[r["run"]] for r in other))
    return found


def equal_cost(case, method):
    return statistics.mean(numbers("own_families/equal_cost.csv", "kl", case=case, method=method))


def milliseconds(method, reading_word="best", budget="10000"):
    return number("figure1/figure1_time.csv", "milliseconds_median", method=method, reading=reading_word, budget=budget)


def exact_models(limit):
    return sum(int(row["exact"]) for row in chosen("models/results.csv", limit=str(limit)))


def open_answers():
    """(how many answers are not exact, how many of their certified bounds and intervals hold), by later exact answers."""
    truth = {row["model"]: float(row["log_z"]) for row in chosen("models/results.csv", limit="20", exact="1")}
    found = [row for row in rows("models/results.csv") if row["exact"] == "0"]
    holds = [[float(row[f"{ends}lower"]) <= truth[row["model"]] <= float(row[f"{ends}upper"]) for row in found]
             for ends in ("", "interval_")]
    assert len(holds[0]) == len(holds[1])
    return len(found), *map(sum, holds)


def constants_of_chains(method_reading="random ties"):
    return [tried("chain", f"pair_offset={c}", "tree", method_reading) for c in ("2.25", "2.5", "2.75", "3")]


def memory_wins():
    cells = {}
    for row in rows("memory/memory.csv"):
        cells.setdefault((row["family"], row["megabytes"]), {})[row["method"]] = float(row["kl_mean"])
    wins = [sum(cell["rebuild"] < cell[other] for cell in cells.values()) for other in ("stop", "collapse")]
    return wins[0], len(cells), wins[1]


def coverage(family):
    """(intervals that cover the truth, intervals that were given) of 200 problems with 300 calls"""
    def count(quantity):
        found = chosen("calls/coverage.csv", family=family, method="learned", calls="300", quantity=quantity)
        return round(200 * float(found[0]["mean"]))
    return count("covers"), count("has_error")


def global_pairs():
    """In how many runs the network with a global value is better than the paper's, in all three rows and five columns."""
    wins = pairs = 0
    for measure in ("delta_kl_phi", "delta_kl", "delta_kl_telescoped"):
        for column in GNNS:
            paper_runs = {r["run"]: float(r[measure]) for r in chosen("table2/table2_runs.csv", reading="best",
                                                                     column=column, trainer="ts")}
            other = chosen("table2/table2_runs.csv", reading="best", column=column, trainer="global")
            wins += sum(float(r[measure]) < paper_runs[r["run"]] for r in other)
            pairs += len(other)
    return wins, pairs


def same_signs(reading_word):
    """The paper's cells but the one that is 0 by definition."""
    cells = [row for row in chosen("table2/table2.csv", reading=reading_word)
             if row["paper_median"] and float(row["median"]) != 0.0]
    return sum(float(row["median"]) * float(row["paper_median"]) > 0.0 for row in cells), len(cells)


def equal_beliefs():
    """Cells in which information about log Z and mass differ by less than two standard errors; the rest is mass's."""
    equal = cells = 0
    for row in rows("beliefs/beliefs.csv"):
        if row["rule"] == "information-z" and row["family"] in ("permuted-chain", "factor-graphs-1"):
            other = chosen("beliefs/beliefs.csv", rule="mass", **{k: row[k] for k in ("family", "reading", "budget")})[0]
            error = math.hypot(float(row["kl_standard_error"]), float(other["kl_standard_error"]))
            z = (float(row["kl_mean"]) - float(other["kl_mean"])) / error
            assert z > -2.0
            equal += z < 2.0
            cells += 1
    return equal, cells


def reliability_counts(seeds=20):
    """(certified bounds, all of which hold; intervals; those that cover)"""
    def shares(word):
        return [float(r["mean"]) for r in rows("reliability/reliability.csv") if r["quantity"].startswith(word)]
    assert min(shares("certified.holds")) > 0.999
    covers = shares("covers.")
    return seeds * len(shares("certified.holds")), seeds * len(covers), round(seeds * sum(covers))

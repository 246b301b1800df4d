#!/usr/bin/env python3
"""Table 2 from folders of `treesample reproduce table2`: one set of CSV files, and the tables of README.md.

    tables.py FOLDER...               prints the tables of README.md as Markdown, for each reading
    tables.py --split FOLDER          prints what the gains of the search in this folder consist of
    tables.py --into DIR FOLDER...    writes table2.csv, table2_runs.csv and table2_curves.csv of all folders together

Runs of a trainer in a later folder replace those of an earlier one, so that a row that was run again, or on another
machine, takes the place of the old one; those without network, which every folder has, only where they are not fewer.
All cells follow from table2_runs.csv, as `reproduce` computes them.
"""
import argparse
import csv
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from kept import print_table  # noqa: E402

COLUMNS = ["none", "mlp-single", "gnn-single", "gnn-20", "gnn-12", "gnn-16", "gnn-24"]
HEADS = ["none", "MLP single", "GNN single", "GNN 20", "GNN 12", "GNN 16", "GNN 24"]
TRAINERS = {"smc": "SMC", "ts": "TS", "exact": "exact values", "ts8": "TS, 8 iterations",
            "global": "TS, global value"}
NUMBERS = {"phi": "delta_kl_phi", "search": "delta_kl", "telescoped": "delta_kl_telescoped"}
RUN_FIELDS = ["reading", "column", "trainer", "run", "delta_kl", "delta_kl_phi", "delta_kl_telescoped",
              "delta_kl_uncorrected", "delta_kl_corrected", "delta_kl_samples", "delta_kl_plain", "log_z",
              "bellman_residual", "loss"]
# What the gain of the search with telescoped values consists of: a row is a difference of two numbers of a run.
PARTS = [("search, telescoped, uncorrected, less Q_phi", "delta_kl_uncorrected", "delta_kl_phi"),
         ("corrected, no search, less Q_phi", "delta_kl_corrected", "delta_kl_phi"),
         ("search, telescoped, less corrected", "delta_kl_telescoped", "delta_kl_corrected"),
         ("the same, less the whole budget for corrections", "delta_kl_telescoped", "delta_kl_samples")]
PAPER = ["smc_phi", "smc_search", "ts_phi", "ts_search"]


def title(row):
    trainer, of = row.split("_")
    name = TRAINERS[trainer]
    if of == "phi":
        return f"Q_phi trained by {name}, alone"
    if of == "telescoped":
        return f"Q_phi ({name}) + TS, telescoped"
    return f"Q_phi + {name}" if trainer in ("smc", "ts") else f"Q_phi ({name}) + TS"


def read(path):
    """The comment lines, and a dictionary for each row."""
    lines = path.read_text().splitlines()
    notes = [line for line in lines if line.startswith("#")]
    return notes, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


class Results:
    """All runs of all folders, by reading, column and trainer."""

    def __init__(self, folders):
        self.notes, self.runs, self.curves, self.paper = [], {}, {}, {}
        for folder in folders:
            notes, rows = read(folder / "table2_runs.csv")
            self.notes += [note for note in notes if note not in self.notes]
            new = {}
            for row in rows:
                trainer = "" if row["column"] == "none" else row["trainer"]
                new.setdefault((row["reading"], row["column"], trainer), []).append(row)
            for key, runs in new.items():
                if key[1] != "none" or len(runs) >= len(self.runs.get(key, [])):
                    self.runs[key] = runs
            new = {}
            for row in read(folder / "table2_curves.csv")[1]:
                new.setdefault((row["reading"], row["row"]), []).append(row)
            self.curves.update(new)
            for row in read(folder / "table2.csv")[1]:
                cells = [row[f"paper_{name}"] for name in ("median", "quartile_25", "quartile_75")]
                self.paper[row["row"], row["column"]] = cells

    def readings(self):
        return [reading for reading in ("letter", "best") if any(key[0] == reading for key in self.runs)]

    def rows(self, reading):
        found = [t for t in TRAINERS if any(key[0] == reading and key[2] == t for key in self.runs)]
        return [f"{t}_{of}" for t in found for of in NUMBERS if not (t == "smc" and of == "telescoped")]

    def title(self, reading, row):
        """With the number of runs where that is not the one of the table's head."""
        counts = {len(runs) for key, runs in self.runs.items() if key[0] == reading and key[2] == row.split("_")[0]}
        return title(row) + ("" if counts == {self.count(reading)} else f" ({min(counts)} runs)")

    def count(self, reading):
        return max(len(runs) for key, runs in self.runs.items() if key[0] == reading)

    def of(self, reading, row, column):
        """(value, run) of each run; none where there is no such cell."""
        trainer, of = row.split("_")
        if column == "none":
            if row not in ("smc_search", "ts_search"):
                return []
            name = "delta_kl" if trainer == "smc" else "delta_kl_plain"
            return [(float(run[name]), run) for run in self.runs.get((reading, "none", ""), [])]
        return [(float(run[NUMBERS[of]]), run) for run in self.runs.get((reading, column, trainer), [])]

    def paired(self, reading, row, column):
        return [value - float(run["delta_kl_plain"]) for value, run in self.of(reading, row, column)]

    def unpaired(self, reading, row, column):
        reference = quantile([value for value, _ in self.of(reading, "ts_search", "none")], 0.5)
        return [value - reference for value, _ in self.of(reading, row, column)]

    def kl(self, reading, row, column):
        return [value + float(run["log_z"]) for value, run in self.of(reading, row, column)]


def signed(value):
    return f"{0.0 if abs(value) < 0.005 else value:+.2f}"


def cells(columns, values_of, text):
    lists = [values_of(column) for column in columns]
    return [text(values) if values else "-" for values in lists]


def print_medians(results, reading):
    rows = []
    for row in results.rows(reading):
        medians = cells(COLUMNS, lambda c: results.paired(reading, row, c), lambda v: signed(quantile(v, 0.5)))
        if row == "ts_search":
            medians[0] = "0"
        rows.append([results.title(reading, row), *medians])
        if row in PAPER:
            paper = [results.paper.get((row, c), [""])[0] for c in COLUMNS]
            rows.append(["paper", *["-" if not p else "0" if float(p) == 0 else signed(float(p)) for p in paper]])
    print_table(["", *HEADS], rows)


def print_kl(results, reading):
    def median(values):
        return f"{quantile(values, 0.5):.2f}"

    def plain(column):
        runs = results.of(reading, "ts_phi", column)
        return [float(run["delta_kl_plain"]) + float(run["log_z"]) for _, run in runs]

    rows = [["TS without value function", *cells(COLUMNS[1:], plain, median)]]
    for row in results.rows(reading):
        rows.append([results.title(reading, row), *cells(COLUMNS[1:], lambda c: results.kl(reading, row, c), median)])
    for row in results.rows(reading):
        if not row.endswith("_phi"):
            continue
        residuals = cells(COLUMNS[1:], lambda c: [float(r["bellman_residual"]) for _, r in results.of(reading, row, c)],
                          median)
        rows.append([f"Bellman residual, trained by {TRAINERS[row.split('_')[0]]}", *residuals])
    print_table(["KL, medians", *HEADS[1:]], rows)


def mean_and_error(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.mean(values):+.3f} ({error:.3f})"


def print_gains(results, reading):
    def gain(row, column):
        alone = results.paired(reading, row.split("_")[0] + "_phi", column)
        return [value - other for value, other in zip(results.paired(reading, row, column), alone)]

    rows = []
    for row in results.rows(reading):
        if not row.endswith("_phi"):
            rows.append([results.title(reading, row), *cells(COLUMNS[1:], lambda c: gain(row, c), mean_and_error)])
    print_table(["search less Q_phi alone, mean (se)", *HEADS[1:]], rows)


def print_against_paper_network(results, reading):
    """Other graph networks less the paper's, both trained by TreeSample, run by run."""
    def less(row, column):
        paper = {run["run"]: value for value, run in results.of(reading, "ts_" + row.split("_")[1], column)}
        return [value - paper[run["run"]] for value, run in results.of(reading, row, column)]

    rows = [[results.title(reading, row), *cells(COLUMNS[2:], lambda c: less(row, c), mean_and_error)]
            for row in results.rows(reading) if row.split("_")[0] in ("ts8", "global")]
    if rows:
        print_table(["less the paper's network, mean (se)", *HEADS[2:]], rows)


def print_split(results, reading, trainer):
    """Whose gain it is: of samples that correct Q_phi, or of the search on top of it."""
    def runs(column):
        return [r for r in results.runs.get((reading, column, trainer), []) if r.get("delta_kl_corrected")]

    def less(column, one, other):
        return [float(r[one]) - float(r[other]) for r in runs(column)]

    def share(column):
        whole = statistics.mean(less(column, "delta_kl_telescoped", "delta_kl_phi"))
        return f"{100 * statistics.mean(less(column, 'delta_kl_telescoped', 'delta_kl_corrected')) / whole:.0f} %"

    columns = [c for c in COLUMNS[1:] if runs(c)]
    rows = [[title, *[mean_and_error(less(c, one, other)) for c in columns]] for title, one, other in PARTS]
    rows.append(["the search's part of the whole gain", *[share(c) for c in columns]])
    count = len(runs(columns[0]))
    print_table([f"{reading}, {TRAINERS[trainer]}, {count} runs", *[HEADS[COLUMNS.index(c)] for c in columns]], rows)


def spread(values):
    return [repr(quantile(values, share)) for share in (0.5, 0.25, 0.75)]


def write(results, folder):
    notes = "".join(note + "\n" for note in results.notes)
    names = [f"{name}{part}" for name in ("", "one_reference_", "kl_", "paper_")
             for part in ("median", "quartile_25", "quartile_75")]
    text = notes + ",".join(["reading", "row", "column", "runs", *names]) + "\n"
    for reading in results.readings():
        for row in results.rows(reading):
            for column in COLUMNS:
                paired = results.paired(reading, row, column)
                if not paired:
                    continue
                fields = [reading, row, column, str(len(paired)), *spread(paired),
                          *spread(results.unpaired(reading, row, column)), *spread(results.kl(reading, row, column)),
                          *results.paper.get((row, column), ["", "", ""])]
                text += ",".join(fields) + "\n"
    (folder / "table2.csv").write_text(text)
    runs = [run for reading in results.readings() for column in COLUMNS for trainer in ["", *TRAINERS]
            for run in results.runs.get((reading, column, trainer), [])]
    curves = [row for reading in results.readings() for name in sorted({key[1] for key in results.curves})
              for row in results.curves.get((reading, name), [])]
    for name, rows in (("table2_runs", runs), ("table2_curves", curves)):
        fields = RUN_FIELDS if name == "table2_runs" else list(rows[0])
        lines = [",".join(fields), *[",".join(row.get(field, "") for field in fields) for row in rows]]
        (folder / f"{name}.csv").write_text(notes + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--split", action="store_true", help="what the gains of the search consist of")
    parser.add_argument("--into", type=pathlib.Path, metavar="DIR", help="where the merged CSV files go")
    options = parser.parse_args()
    results = Results(options.folders)
    if options.split:
        for reading, trainer in [(r, t) for r in results.readings() for t in TRAINERS]:
            if any(run.get("delta_kl_corrected") for key, runs in results.runs.items()
                   if key[0] == reading and key[2] == trainer for run in runs):
                print_split(results, reading, trainer)
        return
    if options.into:
        options.into.mkdir(parents=True, exist_ok=True)
        write(results, options.into)
        return
    for reading in results.readings():
        print(f"### {reading} reading, {results.count(reading)} runs\n")
        print_medians(results, reading)
        print_kl(results, reading)
        print_gains(results, reading)
        print_against_paper_network(results, reading)


if __name__ == "__main__":
    main()

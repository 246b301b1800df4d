#!/usr/bin/python3 -B
"""The tables of docs/speed.md and docs/methods/zeros.md from what benchmarks printed: speed_tables.py NAME prints one."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from kept import print_table  # noqa: E402


def printed_rows(name):
    """What a program of bench/ printed, without the line of its origin."""
    return (HERE / "speed" / name).read_text().splitlines()[1:]


def search_speed():
    rows = []
    for line in printed_rows("search_bench.txt"):
        words = line.split()
        if words[:1] == ["chain"]:
            _, size, budget, rate, _, of_map, _, of_hash, size_each, levels, each = words
            ratios = ["" if ratio == "nan" else ratio for ratio in (of_map, of_hash)]
            rows.append([size, f"{int(budget):,}", f"{float(rate) / 1e6:.1f} M", *ratios, size_each, levels, each])
    print_table(["CHAIN, N x K", "budget", "expansions/s", "times map", "times hash", "bytes per expansion", "levels",
                 "ns per level"], rows)


def bounds_speed():
    rows = []
    for line in printed_rows("bounds_bench.txt"):
        words = line.split()
        if words[:1] and words[0] in ("andor", "graph", "tree"):
            name = " ".join(words[1:-7])
            if not name.endswith(", 1"):
                evaluations, rate, ratio, levels, each, _, size = words[-7:]
                rows.append([words[0], name, f"{int(evaluations):,}", f"{float(rate) / 1e6:.2f} M", ratio, levels, each, size])
    print_table(["space", "rule and leaf values", "evaluations", "per second", "ratio", "levels each", "ns per level",
                 "bytes each"], rows)


def network_speed():
    rows = []
    for line in printed_rows("nn_bench.txt"):
        if " us " in line:
            name, time = line[:34].strip(), line[34:].split()[0]
            rows.append([name, f"{float(time):,.1f}", line.split("GFLOP/s")[1].split()[0] + " %"])
    print_table(["network", "us", "of one core's peak"], rows)


def decisions(line):
    return "none: eliminated" if "eliminated " in line else f"{int(re.search(r'([0-9]+) decisions,', line)[1]):,}"


def count_known():
    rows = []
    for line in printed_rows("count_bench.txt"):
        if ", known " in line:
            assert re.search(r"known (\S+), log Z \1 \.\. \1;", line), line
            rows.append([line.split(":")[0], decisions(line), line.rsplit(", ", 1)[1].removesuffix(" s")])
    print_table(["model with a known number of solutions", "decisions", "seconds"], rows)


def count_search():
    rows = []
    for line in printed_rows("count_bench.txt"):
        if line.startswith("  "):
            name, rest = line.strip().split(":")
            rows[-1][1 + ["without cache", "without learning", "with reductions and elimination",
                          "with variables of two states"].index(name)] = rest.split(", ")[-1].split()[0]
        elif ", known " not in line and line.count(":"):
            rows.append([line.split(":")[0] + (" (open)" if ": open" in line else ""), "", "", "", "", decisions(line)])
    print_table(["model", "decisions", "without cache, times", "without learning, times", "two-state variables, times"],
                [[row[0], row[5], row[1], row[2], row[4]] for row in rows])


if __name__ == "__main__":
    globals()[sys.argv[1]]()

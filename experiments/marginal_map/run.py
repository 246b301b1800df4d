#!/usr/bin/env python3
"""Marginal MAP: the certified gap over time beside greedy and random choices: run.py PROGRAM MODELS_FOLDER [SEED]

Models are bundled or generated; half of the unobserved variables, drawn with the seed, are in question. For each time
limit one run of `infer --map` gives states y, a certified lower bound of log S(y) and an upper bound of log S of all
states. `greedy` is the most probable state of each variable by itself, `random` the best of 20 draws from these
marginals; both sums are exact (elimination given the states). Limits are processor seconds (tests/support/cpu_clock.c),
so that other work of the machine changes little. Writes results.csv and gap.svg here (gnuplot).
"""

import json
import os
import random
import subprocess
import sys
import tempfile

PROGRAM, MODELS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from keep import origin, processor_clock  # noqa: E402

TIMES = [0.5, 1, 2, 4, 8, 16]
NUM_DRAWS = 20
CLOCK = None  # what is preloaded
CASES = [  # name, how it is made, evidence
    ("cold store", None, ["claim=whole", "noise=loud"]),
    ("Ising 10x10", ["ising", "--n", "10"], []),
    ("Ising 14x14", ["ising", "--n", "14"], []),
    ("Ising 18x18", ["ising", "--n", "18"], []),
    ("factor graphs 1, N = 40", ["factor-graphs-1", "--n", "40", "--k", "3"], []),
    ("factor graphs 2, N = 60", ["factor-graphs-2", "--n", "60"], []),
]


def infer(model, *arguments):
    done = subprocess.run([PROGRAM, "infer", model, *arguments, "--threads", "1", "--json", "-", "--quiet"],
                          capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": CLOCK})
    if done.returncode != 0:
        raise SystemExit(f"{model} {arguments}: {done.stderr}")
    return json.loads(done.stdout)


def log_sum(model, evidence, states):
    """Of the configurations with these states; None unless it is exact."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"{name} = {state}\n" for name, state in states.items()))
        file.flush()
        answer = infer(model, *(word for seen in evidence for word in ("--evidence", seen)), "--evidence", file.name,
                       "--time", "20")
    value = answer["log_z"]["estimate"]
    return float(value) if answer["log_z"]["exact"] else None


def rows_of(name, generated, evidence, folder):
    model = os.path.join(MODELS, "cold_store.bif")
    if generated:
        model = os.path.join(folder, "model.uai")
        subprocess.run([PROGRAM, "generate", *generated, "--seed", str(SEED), "--out", model], check=True)
    seen = [word for one in evidence for word in ("--evidence", one)]
    marginals = infer(model, *seen, "--time", "10")["marginals"]
    observed = {one.split("=")[0] for one in evidence}
    rng = random.Random(SEED)
    free = [variable for variable in marginals if variable not in observed]
    wanted = sorted(rng.sample(free, len(free) // 2), key=free.index)
    greedy = log_sum(model, evidence, {v: max(marginals[v], key=marginals[v].get) for v in wanted})
    draw = lambda row: rng.choices(list(row), list(row.values()))[0]
    draws = [log_sum(model, evidence, {v: draw(marginals[v]) for v in wanted}) for _ in range(NUM_DRAWS)]
    drawn = max((value for value in draws if value is not None), default=None)
    for seconds in TIMES:
        found = infer(model, *seen, "--map", ",".join(wanted), "--time", str(seconds))["map"]
        yield [name, len(wanted), len(free), seconds, found["log_sum_lower"], found["log_upper"], found["optimal"],
               greedy, drawn]


CURVES = [  # column, style, words
    (5, "with linespoints pt 7 lw 2 lc rgb '#d55e00'", "certified upper bound"),
    (4, "with linespoints pt 5 lw 2 lc rgb '#0072b2'", "found, certified"),
    (7, "with lines dt 2 lw 2 lc rgb '#009e73'", "greedy"),
    (8, "with lines dt 3 lw 2 lc rgb '#7f7f7f'", f"best of {NUM_DRAWS} draws"),
]


def figure(rows):
    data, plots = [], []
    for i, name in enumerate(dict.fromkeys(row[0] for row in rows)):
        mine = [row for row in rows if row[0] == name]
        best = max(float(row[4]) for row in mine)
        curves = []
        for column, style, words in CURVES:
            points = [f"{row[3]} {float(row[column]) - best}" for row in mine if row[column] not in (None, "-inf")]
            if not points:
                continue
            data += [f"$c{i}_{column} << END", *points, "END"]
            curves.append(f"$c{i}_{column} {style} " + (f"title '{words}'" if i == 0 else "notitle"))
        plots += [f"set title '{name}: {mine[0][1]} of {mine[0][2]} variables'",
                  "set ylabel 'nats from the best found'" if i % 3 == 0 else "unset ylabel",
                  "set yrange [-30<*:*<30]", "plot " + ", ".join(curves)]
    script = [*data, "set terminal svg size 960,620 font 'sans,12' background '#ffffff'",
              f"set output '{HERE}/gap.svg'", "set logscale x 2", "set xlabel 'seconds'", "set grid lc rgb '#dddddd'",
              "set key bottom right font ',10'", "set xrange [0.4:20]", "set multiplot layout 2,3", *plots]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    global CLOCK
    rows, first = [], origin(f"experiments/marginal_map/run.py build/treesample examples/models {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        CLOCK = processor_clock(folder)
        for name, generated, evidence in CASES:
            for row in rows_of(name, generated, evidence, folder):
                rows.append(row)
                print(*row, sep="\t", flush=True)
    with open(os.path.join(HERE, "results.csv"), "w", encoding="utf-8") as file:
        file.write(first + "\n")
        file.write("model,in_question,unobserved,seconds,found,upper,optimal,greedy,best_of_20_draws\n")
        for row in rows:
            file.write(",".join('"' + cell + '"' if "," in str(cell) else "" if cell is None else str(cell)
                                for cell in row) + "\n")
    figure(rows)


main()

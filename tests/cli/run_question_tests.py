#!/usr/bin/env python3
"""Questions by name, asked as a user would: run_question_tests.py PROGRAM MODELS_FOLDER

Answers are compared with elimination in exact fractions, written independently of the program (network_truth.py).
"""

import csv
import io
import json
import math
import os
import random
import sys
from fractions import Fraction

from checks import check, read, read_json, run, run_tests, write
from network_truth import Network, random_network

ASIA = os.path.join(os.path.abspath(sys.argv[2]), "asia.bif")
TOLERANCE = 1e-9


def ask(model, *arguments):
    done = run("infer", model, *arguments, "--json", "-", "--quiet")
    check(done.returncode == 0, f"{arguments} is answered", done.stderr)
    return json.loads(done.stdout)


def near(mine, truth):
    return abs(mine - float(truth)) <= TOLERANCE


def normalised(table):
    total = sum(table.values())
    return {key: value / total for key, value in table.items()}


def check_query(query, network, evidence, what, soft=None):
    truth = normalised(network.table(query["variables"], evidence, soft))
    for row in query["table"]:
        key = tuple(row["states"][v] for v in query["variables"])
        check(near(row["probability"], truth.get(key, 0)), f"{what}: {key}", row)
    check(near(sum(row["probability"] for row in query["table"]), 1), f"{what} adds up to 1")


def odd_name(i):
    return ["Visit to Asia", "a,b", "T\u00fcr", "x=y", "100%", "it's", "\u4e2d\u6587", "~z", "(p)", "a b  c"][i]


def quoted(name):
    return '"' + name + '"'


def test_forty_variables():
    """Single, joint and conditional queries, P(evidence), the most probable configuration."""
    network = random_network(40, seed=1)
    write("forty.bif", network.bif())
    rng = random.Random(5)
    for case in range(6):
        evidence = {v: rng.choice(network.states[v]) for v in rng.sample(list(network.states), case)}
        single, pair = rng.choice(list(network.states)), rng.sample(list(network.states), 2)
        arguments = [word for v, s in evidence.items() for word in ("--evidence", f"{v}={s}")]
        answer = ask("forty.bif", *arguments, "--query", single, "--query", ",".join(pair))
        check(answer["evidence"] == evidence, "evidence has names", answer["evidence"])
        probability = network.table([], evidence)[()]
        check(near(answer["log_z"]["estimate"], math.log(probability)), "log Z", answer["log_z"])
        if evidence:
            check(near(answer["evidence_probability"], probability), "P(evidence)", answer["evidence_probability"])
        else:
            check(answer["evidence_probability"] is None, "nothing observed has no probability")
        for query in answer["queries"]:
            check_query(query, network, evidence, f"case {case} {query['variables']}")
        for variable in (single, *pair):
            check(near(sum(answer["marginals"][variable].values()), 1), "marginals add up to 1")
        best = answer["best"]["states"]
        density = network.table(list(network.states), best)[tuple(best[v] for v in network.states)]
        check(density == network.table([], evidence, best=True)[()], "the best configuration is", best)
        check(answer["best"]["optimal"] is True, "and is known to be")
        check(all(best[v] == s for v, s in evidence.items()), "and agrees with the evidence")


def test_soft_evidence():
    network = random_network(12, seed=3)
    write("soft.bif", network.bif())
    soft = {"node_3": [0.8] + [0.1] * (len(network.states["node_3"]) - 1), "node_7": [1] * len(network.states["node_7"])}
    words = [f"{v}~{','.join(map(str, w))}" for v, w in soft.items()]
    answer = ask("soft.bif", "--evidence", words[0], "--evidence", words[1] + ",node_5=s1", "--query", "node_4,node_3")
    check_query(answer["queries"][0], network, {"node_5": "s1"}, "soft", soft)
    check(answer["evidence_probability"] is None, "a likelihood is no probability")
    write("soft.json", json.dumps({"node_5": "s1", "node_3": dict(zip(network.states["node_3"], soft["node_3"])),
                                   "node_7": soft["node_7"]}))
    write("soft.txt", "node_5 s1\n" + "".join(f"{v} ~ {' '.join(map(str, w))}\n" for v, w in soft.items()))
    for file in ("soft.json", "soft.txt"):
        other = ask("soft.bif", "--evidence", file, "--query", "node_4,node_3")
        check([r["probability"] for r in other["queries"][0]["table"]] ==
              [r["probability"] for r in answer["queries"][0]["table"]], f"{file} says the same")


def test_joint_queries_by_every_method():
    """Sampled ones are near the truth, and say that they are sampled: 5,000 and more samples, errors below 0.05."""
    truth = {("yes", "yes"): 0.0051, ("yes", "no"): 0.4836, ("no", "yes"): 0.0873, ("no", "no"): 0.4240}
    for method in (["--method", "smc"], ["--method", "sis"], ["--select", "q-uct"], ["--select", "gap"], ["--method", "count"], ["--method", "exact"]):
        answer = ask(ASIA, "--evidence", "xray=yes", "--query", "lung,tub", *method)
        query = answer["queries"][0]
        is_exact = query["error"] == 0
        check(is_exact == (method[1] in ("gap", "count", "exact")), f"{method} knows what is exact", query["error"])
        for row in query["table"]:
            difference = abs(row["probability"] - truth[(row["states"]["lung"], row["states"]["tub"])])
            check(difference < (1e-4 if is_exact else 0.05), f"{method}: a joint query", row)
        check(all(len(x["x"]) == 8 for x in answer["samples"]) and len(answer["best"]["x"]) == 8, "nothing is added to x")
    check("no joint distribution by this method" in run("infer", ASIA, "--query", "lung,tub", "--method", "bp").stdout, "bp")


def test_joint_queries_of_circuits():
    """Of a model that is compiled, and of a file with a circuit: one pass for each state of the first variable."""
    evidence = ["--evidence", "xray=yes"]
    truth = ask(ASIA, *evidence, "--query", "lung,tub,smoke")["queries"][0]["table"]
    compiled = ask(ASIA, *evidence, "--query", "lung,tub,smoke", "--compile", "asia.circuit")["queries"][0]
    check(compiled["error"] == 0 and len(compiled["table"]) == 8, "a compiled model", compiled["error"])
    of_file = ask("asia.circuit", "--query", "x0,x3")["queries"][0]
    check(len(of_file["table"]) == 4 and of_file["error"] == 0, "a circuit", of_file["error"])
    check(near(sum(row["probability"] for row in of_file["table"]), 1), "adds up to 1", of_file)
    for mine, other in zip(compiled["table"], truth):
        check(mine["states"] == other["states"] and near(mine["probability"], other["probability"]), "is the same", mine)


def test_joint_queries_keep_to_the_memory():
    """In slices where elimination needs them; and a joint distribution takes the memory of its answer."""
    run("generate", "ising", "--n", "12", "--seed", "3", "--out", "grid.uai")
    whole = ask("grid.uai", "--query", "x0,x143", "--time", "10")["queries"][0]
    sliced = ask("grid.uai", "--query", "x0,x143", "--time", "10", "--memory", "200K", "--no-simplify")["queries"][0]
    check(whole["error"] == 0 and sliced["error"] == 0, "exact, whole and in slices", (whole["error"], sliced["error"]))
    for mine, other in zip(sliced["table"], whole["table"]):
        check(near(mine["probability"], other["probability"]), "the same distribution", (mine, other))
    size = 70  # with a variable for their joint states, the table had 2.4e7 entries
    weights = " ".join(str(1 + i % 7) for i in range(size * size))
    write("pair.uai", f"MARKOV\n2\n{size} {size}\n1\n2 0 1\n{size * size} {weights}\n")
    pair = ask("pair.uai", "--query", "x0,x1", "--memory", "10M")["queries"][0]
    total = sum(1 + i % 7 for i in range(size * size))
    check(len(pair["table"]) == size * size and near(pair["table"][5]["probability"], 6 / total), "4,900 states")
    refused = run("infer", "pair.uai", "--query", "x0,x1", "--memory", "100K")
    check(refused.returncode == 64 and "4900 joint states" in refused.stderr, "more than fit", refused.stderr)


def test_cases_have_the_columns_that_were_asked_for():
    write("three.csv", "case,xray,dysp\na,yes,\nb,no,yes\nc,,no\n")
    done = run("infer", ASIA, "--cases", "three.csv", "--question", "best")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    check(done.returncode == 0 and len(rows) == 3, "the best configuration of each case", done.stderr)
    check(not any(name.startswith("P(") for name in rows[0]), "no empty columns", rows[0])
    for row, evidence in zip(rows, (["xray=yes"], ["xray=no", "dysp=yes"], ["dysp=no"])):
        one = ask(ASIA, "--question", "best", *[word for seen in evidence for word in ("--evidence", seen)])
        states = ", ".join(f"{name}={state}" for name, state in one["best"]["states"].items())
        check(row["best"] == states and float(row["best_log_density"]) == one["best"]["log_density"], "its best", row)
        check(row["best_optimal"] == "yes", "is proved", row)
    done = run("infer", ASIA, "--cases", "three.csv", "--query", "lung", "--entropy", "--map", "smoke", "--importance", "9")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    check(done.stderr.count("--importance") == 1, "a remark is made once", done.stderr)
    one = ask(ASIA, "--evidence", "xray=yes", "--entropy")
    check(near(float(rows[0]["entropy"]), one["entropy"]) and rows[0]["map"] == "smoke=yes", "other questions", rows[0])


def test_entropy():
    network = random_network(9, seed=8)
    write("entropy.bif", network.bif())
    for evidence in ({}, {"node_2": "s0"}):
        words = [word for v, s in evidence.items() for word in ("--evidence", f"{v}={s}")]
        table = normalised(network.table(list(network.states), evidence))
        truth = -sum(float(p) * math.log(p) for p in table.values() if p)
        answer = ask("entropy.bif", "--entropy", *words)
        check(near(answer["entropy"], truth), "the entropy", (answer["entropy"], truth))
    check(ask("entropy.bif")["entropy"] is None, "not asked for")
    text = run("infer", ASIA, "--entropy").stdout
    check("\nentropy     2.237029 nats\n" in text, "of asia", text)


def test_odd_names():
    network = random_network(10, seed=4, name=odd_name)
    write("odd.bif", network.bif())
    for i in range(10):
        other = odd_name((i + 3) % 10)
        evidence = {odd_name(i): network.states[odd_name(i)][-1]}
        words = f"{quoted(odd_name(i))}={evidence[odd_name(i)]}"
        answer = ask("odd.bif", "--evidence", words, "--query", f"{quoted(other)},{quoted(odd_name((i + 1) % 10))}")
        check(answer["evidence"] == evidence, "odd names are understood", answer["evidence"])
        check_query(answer["queries"][0], network, evidence, "odd names")
    check(ask("odd.bif", "--evidence", "Visit to Asia=s0")["evidence"] == {"Visit to Asia": "s0"}, "blanks need no quotes")


def test_cases():
    network = random_network(25, seed=7, zeros=0.4)
    write("cases.bif", network.bif())
    rng = random.Random(8)
    columns = rng.sample(list(network.states), 6)
    cases = [{v: rng.choice(network.states[v]) for v in columns if rng.random() < 0.5} for _ in range(30)]
    with open("cases.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["case", *columns])
        for i, case in enumerate(cases):
            table.writerow([f"patient {i}", *(case.get(v, "") for v in columns)])
    done = run("infer", "cases.bif", "--cases", "cases.csv", "--query", "node_20", "--query", "node_3,node_9",
               "--cases-out", "out.csv", "--quiet")
    check(done.returncode == 0, "cases are answered", done.stderr)
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    check([row["case"] for row in rows] == [f"patient {i}" for i in range(30)], "a row for each case, in their order")
    num_impossible = 0
    for row, case in zip(rows, cases):
        probability = network.table([], case).get((), Fraction(0))
        if probability == 0:
            num_impossible += 1
            check(row["log_z"] == "-inf" and row["P(node_20=s0)"] == "" and row["conflict"], "impossible cases say so", row)
            check_conflict(network, dict(word.split("=") for word in row["conflict"].split(", ")), case)
            continue
        check(near(float(row["log_z"]), math.log(probability)) and row["exact"] == "yes", "log Z of a case", row)
        for variables in (["node_20"], ["node_3", "node_9"]):
            truth = normalised(network.table(variables, case))
            for key in [(a,) for a in network.states["node_20"]] if len(variables) == 1 else \
                    [(a, b) for a in network.states["node_3"] for b in network.states["node_9"]]:
                column = f"P({', '.join(f'{v}={s}' for v, s in zip(variables, key))})"
                check(near(float(row[column]), truth.get(key, 0)), f"{column} of a case", row[column])
    check(0 < num_impossible < 30, "both kinds of cases are there", num_impossible)
    write("cases.json", json.dumps([dict(case, case=f"patient {i}") for i, case in enumerate(cases)]))
    done = run("infer", "cases.bif", "--cases", "cases.json", "--query", "node_20", "--query", "node_3,node_9", "--quiet")
    others = list(csv.DictReader(io.StringIO(done.stdout)))
    for row in rows + others:  # which of several conflicts is named depends on the order of the observations
        row["conflict"] = row["conflict"] != ""
    check(others == rows, "cases as JSON give the same table")


def test_cases_keep_to_the_time_together():
    write("coin.uai", "MARKOV\n2\n2 2\n1\n2 0 1\n4 1 2 3 4\n")
    write("many.csv", "x0\n" + "0\n1\n" * 500_000)
    done = run("infer", "coin.uai", "--cases", "many.csv", "--time", "0.2", "--cases-out", "some.csv")
    check(" cases: the time limit (--time) is over" in done.stderr, "the time is for all cases", done.stderr)
    num_rows = len(read("some.csv").splitlines()) - 1
    check(0 < num_rows < 1_000_000 and f"cases       {num_rows} of 1000000" in done.stdout, "what was answered is kept",
          done.stdout)


def check_conflict(network, conflict, evidence):
    """Impossible together, and possible without any one of them."""
    check(all(evidence.get(v) == s for v, s in conflict.items()), "a conflict is part of the evidence", conflict)
    check(not network.table([], conflict).get((), 0), "a conflict is one", conflict)
    for v in conflict:
        rest = {u: s for u, s in conflict.items() if u != v}
        check(network.table([], rest).get((), 0) > 0, "a conflict has nothing to spare", conflict)


def test_impossible_evidence():
    done = run("infer", ASIA, "--evidence", "lung=yes,asia=yes,either=no,smoke=no")
    check(done.returncode == 0, "impossible evidence has an answer", done.stderr)
    check("these observations contradict each other: lung=yes, either=no\n" in done.stdout, "it names them", done.stdout)
    done = run("infer", ASIA, "--evidence", "lung~1,0", "--evidence", "either=no,asia=no")
    check("contradict each other: either=no, lung~1,0\n" in done.stdout, "soft ones too", done.stdout)


def test_outputs():
    done = run("infer", ASIA, "--evidence", "xray=yes", "--samples", "50", "--samples-out", "s.csv", "--marginals-out",
               "m.csv", "--uai-out", "asia.uai", "--json", "a.json", "--quiet")
    check(done.returncode == 0, "outputs", done.stderr)
    answer = read_json("a.json")
    check((answer["format"], answer["version"]) == ("treesample answer", 1), "the format says its version")
    check(answer["variables"][3] == {"name": "lung", "states": ["yes", "no"]}, "names are there")
    check(answer["options"]["samples"] == 50 and answer["options"]["simplify"] is True, "numbers are numbers")
    with open("m.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    check({(r["variable"], r["state"]): float(r["probability"]) for r in rows} ==
          {(v, s): p for v, states in answer["marginals"].items() for s, p in states.items()}, "marginals as CSV")
    check({r["error"] for r in rows} == {"0"}, "exact ones have no error")
    with open("s.csv", newline="") as file:
        samples = list(csv.DictReader(file))
    names = [v["name"] for v in answer["variables"]]
    indices = [[answer["variables"][i]["states"].index(row[v]) for i, v in enumerate(names)] for row in samples]
    check(len(samples) == 50 and indices == [s["x"] for s in answer["samples"]], "samples as CSV")
    words = read("asia.uai.MAP").split()
    check(words[0] == "MAP" and [int(w) for w in words[2:]] == answer["best"]["x"], "a MAP file", words)
    check(answer["best"]["states"] == {v: answer["variables"][i]["states"][answer["best"]["x"][i]]
                                       for i, v in enumerate(names)}, "the best by name")


def test_networks_that_are_none():
    asia = read(ASIA)
    write("row.bif", asia.replace("(yes) 0.05, 0.95", "(yes) 0.05, 0.94"))
    done = run("infer", "row.bif", "--evidence", "xray=yes")
    check("warning: row.bif: the probabilities of tub given asia=yes add up to 0.99, not to 1" in done.stderr, "rows", done.stderr)
    check("P(evidence)" not in done.stdout, "then Z is no probability", done.stdout)
    write("cycle.bif", "network a { } variable a { type discrete [2] {y, n}; } variable b { type discrete [2] {y, n}; }"
          "probability (a | b) { (y) 0.5 0.5; (n) 0.5 0.5; } probability (b | a) { (y) 0.5 0.5; (n) 0.5 0.5; }")
    done = run("infer", "cycle.bif")
    check("warning: cycle.bif: the arrows form a cycle: a -> b -> a" in done.stderr, "cycles", done.stderr)
    check(run("infer", "cycle.bif", "--quiet").stderr == "", "quiet is quiet")


def test_conversion():
    network = random_network(15, seed=9, zeros=0.1)
    write("net.bif", network.bif())
    marginals = ask("net.bif")["marginals"]
    for path in (["net.xmlbif"], ["net.json", "back.bif"], ["net.xml", "net2.json", "net3.xmlbif"]):
        source = "net.bif"
        for target in path:
            done = run("convert", source, target)
            check(done.returncode == 0 and done.stderr == "", f"{source} to {target}", done.stderr)
            source = target
        other = ask(source)["marginals"]
        check(list(other) == list(marginals), "the same names", source)
        check(all(near(p, marginals[v][s]) for v, states in other.items() for s, p in states.items()), f"{source}: the same")
    done = run("convert", "net.bif", "net.uai")
    check(done.returncode == 0 and "UAI files have no names" in done.stderr, "names that are lost are lamented", done.stderr)
    other = ask("net.uai")["marginals"]
    check([near(p, q) for a, b in zip(other.values(), marginals.values()) for p, q in zip(a.values(), b.values())], "UAI")
    write("grid.uai", "MARKOV 2 2 2 1 2 0 1 4 1 2 3 4")
    for target, message in (("grid.bif", "only Bayesian networks can be written as BIF"), ("grid.txt", "must end in one of")):
        done = run("convert", "grid.uai", target)
        check(done.returncode == 64 and message in done.stderr and not os.path.exists(target), target, done.stderr)


def changed(network, variable, key, index, step):
    """The network with one entry moved, the others of its row in proportion."""
    other = Network()
    for name, (parents, rows) in network.tables.items():
        rows = dict(rows)
        if name == variable:
            row = rows[key]
            rest = sum(row) - row[index]
            rows[key] = [p + step if i == index else p - step * p / rest for i, p in enumerate(row)]
        other.add(name, network.states[name], parents, rows)
    return other


def test_sensitivity():
    network = random_network(12, seed=11)
    write("sense.bif", network.bif())
    evidence, names = {"node_8": "s0", "node_2": "s1"}, list(network.states)
    words = ["--evidence", "node_8=s0,node_2=s1"]
    of_state = ask("sense.bif", *words, "--sensitivity", "node_5=s1")["sensitivity"]
    of_evidence = ask("sense.bif", *words, "--sensitivity", "evidence")["sensitivity"]
    step = Fraction(1, 10**7)

    def values(changed_network):
        table = changed_network.table(["node_5"], evidence)
        return float(normalised(table)[("s1",)]), math.log(sum(table.values()))

    largest, log_largest = 0.0, 0.0
    for number, name in enumerate(names):
        parents, rows = network.tables[name]
        place = 0
        for key, row in rows.items():
            for i, p in enumerate(row):
                if 0 < p < 1:
                    up, down = values(changed(network, name, key, i, step)), values(changed(network, name, key, i, -step))
                    truth, log_truth = ((a - b) / float(2 * step) for a, b in zip(up, down))
                    check(abs(of_state["derivatives"][number][place] - truth) < 1e-5, f"{name} {key} {i}", truth)
                    check(abs(of_evidence["derivatives"][number][place] - log_truth) < 1e-5, f"{name} {key} {i}", log_truth)
                    largest, log_largest = max(largest, abs(truth)), max(log_largest, abs(log_truth))
                place += 1
    for result, most in ((of_state, largest), (of_evidence, log_largest)):
        listed = [abs(one["derivative"]) for one in result["most_influential"]]
        check(len(listed) == 10 and listed == sorted(listed, reverse=True) and abs(listed[0] - most) < 1e-5,
              "the most influential come first", listed)


def test_value_of_observations():
    network = random_network(12, seed=12)
    write("value.bif", network.bif())
    result = ask("value.bif", "--evidence", "node_4=s0", "--value-for", "node_7")["observation_values"]

    def entropy(table):
        return -sum(float(p) * math.log(p) for p in table.values() if p > 0)

    target = entropy(normalised(network.table(["node_7"], {"node_4": "s0"})))
    check(near(result["entropy"], target), "entropy of the target")
    check(set(result["information"]) == set(network.states) - {"node_4", "node_7"}, "all that is not observed")
    for name, information in result["information"].items():
        pair = entropy(normalised(network.table(["node_7", name], {"node_4": "s0"})))
        alone = entropy(normalised(network.table([name], {"node_4": "s0"})))
        check(near(information, target + alone - pair), f"mutual information with {name}", information)
    listed = list(result["information"].values())
    check(listed == sorted(listed, reverse=True) and listed[0] > 0, "the most informative first")


def test_most_probable_states():
    network = random_network(12, seed=13, zeros=0.1)
    write("map.bif", network.bif())
    evidence, wanted = {"node_9": "s0"}, ["node_3", "node_11", "node_0"]
    answer = ask("map.bif", "--evidence", "node_9=s0", "--map", ",".join(wanted), "--k-best", "7", "--uai-out", "map.uai")
    sums = network.table(wanted, evidence)
    best = max(sums.values())
    check(sums[tuple(answer["map"]["states"][v] for v in wanted)] == best and answer["map"]["optimal"], "marginal MAP")
    check(answer["map"]["log_sum_lower"] <= math.log(best) + 1e-12 <= answer["map"]["log_upper"] + 2e-12, "its bounds")
    densities = sorted(network.table(list(network.states), evidence).values(), reverse=True)[:7]
    listed = [one["log_density"] for one in answer["k_best"]["configurations"]]
    check(all(near(a, math.log(b)) for a, b in zip(listed, densities)) and len(listed) == 7, "the seven best", listed)
    check(answer["k_best"]["optimal"], "are known to be")
    words = read("map.uai.MMAP").split()
    names = list(network.states)
    check(words == ["MMAP", "3"] + [w for v in wanted for w in (str(names.index(v)), answer["map"]["states"][v][1:])], "MMAP", words)


run_tests(globals())

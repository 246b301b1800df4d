#!/usr/bin/env python3
"""Ten questions to examples/models/cold_store.bif: run_network_tests.py PROGRAM MODELS_FOLDER

The answers are compared with elimination in exact fractions (network_truth.py), of a file that is read here once more,
independently of the program.
"""

import copy
import json
import math
import os
import re
import sys
from fractions import Fraction

from checks import check, run, run_tests
from network_truth import Network

MODEL = os.path.join(os.path.abspath(sys.argv[2]), "cold_store.bif")
TOLERANCE = 1e-9


def read_network():
    with open(MODEL, encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    states = {name: listed.split(", ") for name, listed in
              re.findall(r"variable (\w+) \{\s*type discrete \[ \d+ \] \{ ([\w, ]+) \};", text)}
    network = Network()
    for child, parents, body in re.findall(r"probability \( (\w+)(?: \| ([\w, ]+))? \) \{(.*?)\}", text, re.S):
        rows = {}
        for key, values in re.findall(r"(?:\(([\w, ]+)\)|table) ([\d., ]+);", body):
            rows[tuple(key.split(", ")) if key else ()] = [Fraction(value) for value in values.split(", ")]
        network.add(child, states[child], parents.split(", ") if parents else [], rows)
    return network


NETWORK = read_network()


def ask(*arguments):
    done = run("infer", MODEL, *arguments, "--json", "-", "--quiet")
    check(done.returncode == 0, f"{arguments} is answered", done.stderr)
    return json.loads(done.stdout)


def near(mine, truth):
    return abs(mine - float(truth)) <= TOLERANCE


def evidence_text(evidence):
    return ",".join(f"{name}={state}" for name, state in evidence.items())


def check_queries(evidence, *queries, soft=None):
    arguments = ["--evidence", evidence_text(evidence)] if evidence else []
    for name, weights in (soft or {}).items():
        arguments += ["--evidence", f"{name}~{','.join(weights)}"]
    answer = ask(*arguments, *(word for query in queries for word in ("--query", query)))
    check(near(answer["log_z"]["estimate"], math.log(NETWORK.table([], evidence, soft)[()])), "log Z", answer["log_z"])
    check(answer["log_z"]["exact"], "it is exact")
    for query in answer["queries"]:
        table = NETWORK.table(query["variables"], evidence, soft)
        total = sum(table.values())
        for row in query["table"]:
            truth = table.get(tuple(row["states"][v] for v in query["variables"]), 0) / total
            check(near(row["probability"], truth), f"{query['variables']} given {evidence}", row)
    return answer


def test_the_file():
    check(len(NETWORK.states) == 47 and len(NETWORK.tables) == 47, "47 variables", len(NETWORK.tables))
    for name, (parents, rows) in NETWORK.tables.items():
        check(len(rows) == math.prod(len(NETWORK.states[p]) for p in parents), f"all rows of {name}", len(rows))
        check(all(sum(row) == 1 for row in rows.values()), f"rows of {name} add up to 1 exactly")


def test_1_how_often_are_goods_lost():
    check_queries({}, "product_quality", "claim")


def test_2_is_it_the_sensor():
    check_queries({"thermometer": "hot"}, "room_temperature", "sensor_fault")


def test_3_what_is_that_noise():
    check_queries({"thermometer": "hot", "noise": "loud"}, "compressor_fault", "compressor_wear")


def test_4_the_gas_detector():
    check_queries({"gas_detector": "alarm", "maintenance": "recent"}, "refrigerant_leak", "refrigerant_charge")


def test_5_power_and_compressor_together():
    check_queries({"temperature_alarm": "on", "storm": "yes"}, "power,compressor_running", "backup_generator")


def test_6_why_is_the_bill_high():
    check_queries({"electricity_bill": "too_high", "ice_seen": "no"}, "door_seal", "heat_load", "evaporator_ice,humidity")


def test_7_a_light_that_flickers():
    check_queries({"noise": "loud"}, "oil_level", "compressor_fault,oil_level", soft={"oil_light": ["0.7", "0.3"]})


def test_8_the_most_probable_story_of_a_claim():
    evidence = {"claim": "whole", "product": "frozen"}
    answer = ask("--evidence", evidence_text(evidence))
    best = answer["best"]["states"]
    density = NETWORK.table(list(NETWORK.states), best)[tuple(best[v] for v in NETWORK.states)]
    check(density == NETWORK.table([], evidence, best=True)[()], "no configuration is more probable", best)
    check(answer["best"]["optimal"] is True, "and it is known", answer["best"])
    check(near(answer["best"]["log_density"], math.log(density)), "its density", answer["best"]["log_density"])


def test_9_what_is_broken_whatever_else():
    evidence, wanted = {"temperature_alarm": "on", "discharge_gauge": "low"}, ["maintenance", "refrigerant_leak",
                                                                              "compressor_fault"]
    answer = ask("--evidence", evidence_text(evidence), "--map", ",".join(wanted))
    table = NETWORK.table(wanted, evidence)
    states = tuple(answer["map"]["states"][v] for v in wanted)
    check(table[states] == max(table.values()), "the most probable states of three variables", states)
    check(answer["map"]["optimal"], "and it is known")
    check(near(answer["map"]["log_sum_lower"], math.log(table[states])), "their sum", answer["map"])


def entropy(values):
    total = sum(values)
    return -sum(float(v / total) * math.log(v / total) for v in values if v > 0)


def test_10_where_to_look_next():
    evidence = {"thermometer": "hot"}
    answer = ask("--evidence", evidence_text(evidence), "--value-for", "compressor_fault")
    values = answer["observation_values"]
    check(near(values["entropy"], entropy(NETWORK.table(["compressor_fault"], evidence).values())), "entropy", values)
    for other in ("noise", "oil_light", "discharge_gauge", "compressor_running", "season"):
        joint = NETWORK.table(["compressor_fault", other], evidence)
        told = (entropy(NETWORK.table(["compressor_fault"], evidence).values())
                + entropy(NETWORK.table([other], evidence).values()) - entropy(joint.values()))
        check(near(values["information"][other], told), f"what {other} tells", values["information"][other])


# The derivative by an entry, the rest of its row changing in proportion: of a quotient of two polynomials that are linear
# in the entry, from two values of it.
def derivative(child, key, state, evidence, target):
    parents, rows = NETWORK.tables[child]
    index = NETWORK.states[child].index(state)

    def sums(entry):
        changed = Network()
        changed.states, changed.tables = NETWORK.states, copy.copy(NETWORK.tables)
        row, old = rows[key], rows[key][index]
        new = [entry if i == index else p * (1 - entry) / (1 - old) for i, p in enumerate(row)]
        changed.tables[child] = (parents, {**rows, key: new})
        return changed.table([], {**evidence, **target})[()], changed.table([], evidence)[()]

    old = rows[key][index]
    above, below = sums(old)
    above_slope, below_slope = ((b - a) / Fraction(1, 100) for a, b in zip((above, below), sums(old + Fraction(1, 100))))
    return (above_slope * below - above * below_slope) / below**2


def test_11_what_the_answer_depends_on():
    evidence, target = {"thermometer": "hot", "noise": "loud"}, {"compressor_fault": "bearing"}
    answer = ask("--evidence", evidence_text(evidence), "--sensitivity", "compressor_fault=bearing")
    found = answer["sensitivity"]
    check(found["rows_add_up"] and len(found["most_influential"]) == 10, "ten parameters", found["most_influential"])
    names = list(NETWORK.states)
    for one in found["most_influential"][:4]:
        child = names[one["factor"]]
        parents, rows = NETWORK.tables[child]
        key = tuple(one["states"][p] for p in parents)
        value = rows[key][NETWORK.states[child].index(one["states"][child])]
        check(near(one["value"], value), "the entry", one)
        if value < 1:
            truth = derivative(child, key, one["states"][child], evidence, target)
            check(near(one["derivative"], truth), f"derivative by {one['states']}", (one["derivative"], float(truth)))


def test_12_what_cannot_be():
    done = ask("--evidence", "noise=loud,compressor_running=no,season=winter")
    check(set(done["conflict"]["evidence"]) == {"noise", "compressor_running"}, "the conflict is named", done["conflict"])


run_tests(globals())

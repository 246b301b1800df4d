#!/usr/bin/env python3
"""The library's infer() and the program give the same bits: run_front_door_test.py PROGRAM MODELS EXAMPLE"""
import json
import os
import subprocess
import sys

program, models, example = sys.argv[1:4]
failures = 0
checked = 0
for name in sorted(os.listdir(models)):
    if not name.endswith(".uai"):
        continue
    model = os.path.join(models, name)
    lines = subprocess.run([example, model, "20"], check=True, capture_output=True, text=True).stdout.splitlines()
    answer = json.loads(subprocess.run(
        [program, "infer", model, "--time", "20", "--samples", "2", "--json", "-", "--quiet"],
        check=True, capture_output=True, text=True).stdout)
    log_z = answer["log_z"]
    said = lines[0].split()
    mine = [float(word) for word in said[:3]] + [float(lines[1])] + [float(word) for word in lines[2].split()]
    theirs = [log_z["estimate"], log_z["lower"], log_z["upper"], answer["best"]["log_density"]]
    theirs += [p for row in answer["marginals"].values() for p in row.values()]
    samples = [state for sample in answer["samples"] for state in sample["x"]]
    is_same = (mine == theirs and " ".join(said[3:]) == answer["stop"] and
               [int(word) for word in lines[3].split()] == samples)
    checked += 1
    if not is_same:
        failures += 1
        print(f"FAILED: {name}: the library has {mine[:4]} {said[3:]}, the program {theirs[:4]} {answer['stop']}")
print(f"{'FAILED' if failures or checked == 0 else 'passed'}: {checked} models, {failures} with other bits")
sys.exit(1 if failures or checked == 0 else 0)

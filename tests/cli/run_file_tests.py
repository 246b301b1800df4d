#!/usr/bin/env python3
"""Outputs of every command under the names of what it reads, at random: run_file_tests.py PROGRAM [COMBINATIONS [SEED]]

Whatever is read (model, program, data, evidence, weights, cases, order, journal) is the same afterwards, under each of
its names: as it is, with dots, absolute, as a link, as a hard link."""

import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

from checks import check, finish, run

COMBINATIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
RNG = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
OUTPUTS = ["--json", "--html", "--samples-out", "--marginals-out", "--trace", "--cases-out", "--compile", "--uai-out"]
FILES = {
    "m.json": '{"variables": [{"name": "a", "states": 2}, {"name": "b", "states": 2}],'
              ' "programs": {"p": {"python": "f.py", "files": ["data.bin"]}},'
              ' "factors": [{"name": "f", "scope": ["a"], "program": "p"}, {"scope": ["a", "b"], "values": [1, 2, 3, 4]}]}',
    "f.py": "def f(a):\n    return -float(a)\n",
    "data.bin": "data\n",
    "t.uai": "MARKOV\n2\n2 2\n1\n2 0 1\n4 1 2 3 4\n",
    "t.uai.evid": "1 0 1\n",
    "e.evid": "1 0 0\n",
    "w.uai": "MARKOV\n2\n2 2\n1\n1 0\n2 1 2\n",
    "cases.csv": "x1\n0\n1\n",
}


def make_folder():
    """A folder with every kind of input, each with a link and a hard link."""
    os.chdir("/")
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(os.path.join(FOLDER, "links"))
    os.chdir(FOLDER)
    for name, text in FILES.items():
        with open(name, "w") as file:
            file.write(text)
    run("infer", "m.json", "--allow-programs", "--journal", "j.journal", "--calls", "1")
    run("infer", "t.uai", "--compile", "c.circuit")
    run("order", "t.uai", "--out", "o.order")
    for name in [*FILES, "c.circuit", "o.order", "j.journal"]:
        os.symlink("../" + name, "links/soft_" + name)
        os.link(name, "links/hard_" + name)


def digests():
    result = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                result[path] = hashlib.sha1(file.read()).hexdigest()
    return result


def name_of(name):
    """One of the names of a file."""
    return RNG.choice([name, f"./{name}", f"links/../{name}", os.path.abspath(name), f"links/soft_{name}", f"links/hard_{name}"])


def of_infer():
    model = RNG.choice(["m.json", "t.uai", "c.circuit"])
    arguments = ["infer", model, "--samples", "3"]
    reads = [model]
    if model == "m.json":
        arguments += ["--allow-programs", "--calls", "2"]
        reads += ["f.py", "data.bin"]
    options = [("--cases", "cases.csv")]
    if model == "t.uai":
        options += [("--evidence", "e.evid"), ("--weights", "w.uai"), ("--order-file", "o.order")]
    for option, file in options:
        if RNG.random() < 0.4:
            arguments += [option, name_of(file)]
            reads.append(file)
    if model == "t.uai" and "--evidence" not in arguments:
        reads.append("t.uai.evid")
    for option in RNG.sample(OUTPUTS, RNG.choice([1, 1, 2])):
        arguments += [option, name_of(RNG.choice(reads)) if RNG.random() < 0.8 else "new.out"]
    return arguments, reads


def of_another():
    model, reads = RNG.choice([("m.json", ["m.json", "f.py", "data.bin"]), ("t.uai", ["t.uai"])])
    command = RNG.choice(["convert", "order", "journal"])
    if command == "journal":
        return ["journal", "j.journal", RNG.choice(["--csv", "--html"]), name_of("j.journal")], ["j.journal"]
    if command == "order" and model == "t.uai":
        reads = reads + ["t.uai.evid"]
    output = name_of(RNG.choice(reads))
    return [command, model, *(["--out"] if command == "order" else []), output], reads


def try_one():
    arguments, reads = of_infer() if RNG.random() < 0.7 else of_another()
    before = digests()
    try:
        done = run(*arguments, timeout=60)
    except subprocess.TimeoutExpired:
        return check(False, "it ends: " + " ".join(arguments))
    after = digests()
    lost = [path for path in before for file in reads
            if os.path.basename(path) in (file, "soft_" + file, "hard_" + file) and before[path] != after.get(path)]
    check(not lost and done.returncode in (0, 64, 65), " ".join(arguments), f"{lost} {done.returncode} {done.stderr}")
    if before != after:
        make_folder()


with tempfile.TemporaryDirectory() as whole:
    FOLDER = os.path.join(whole, "files")
    make_folder()
    for _ in range(COMBINATIONS):
        try_one()
    os.chdir("/")
finish()

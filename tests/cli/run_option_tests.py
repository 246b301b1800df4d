#!/usr/bin/env python3
"""Every pair of an option and a way to infer: run_option_tests.py PROGRAM MODELS_FOLDER

An option that is given is used, or named on stderr, or refused by name; it is never passed over in silence, and none
changes the algorithm without a word. The table here is written independently of the program's own.
"""

import functools
import os
import re
import sys
import tempfile

from checks import check, finish, read_json, run

MODEL = os.path.join(os.path.abspath(sys.argv[2]), "ising-8x8.uai")

RULES = {"q-uct", "gap", "mass"}
SEARCHES = RULES | {"tree"}
PARTICLES = {"sis", "smc"}
ALL = SEARCHES | PARTICLES | {"gibbs", "metropolis", "bp", "ais", "exact"}
WAYS = {
    "exact": ["--method", "exact"],
    "sis": ["--method", "sis", "--budget", "3000"],
    "smc": ["--method", "smc", "--budget", "3000"],
    "gibbs": ["--method", "gibbs", "--budget", "20000"],
    "metropolis": ["--method", "metropolis", "--budget", "20000"],
    "bp": ["--method", "bp"],
    "ais": ["--method", "ais", "--budget", "200000"],
    "tree": ["--method", "tree", "--budget", "5000"],
    "q-uct": ["--select", "q-uct", "--budget", "5000"],
    "gap": ["--select", "gap", "--order", "given", "--leaf", "mini-bucket:2", "--budget", "300", "--importance", "200"],
    "mass": ["--select", "mass", "--budget", "300"],
}


class Use:
    """An option, who uses it, and in which company; `shows` says whether the answer shows that it does."""

    def __init__(self, option, value, ways, company=(), shows=True, values=None, drops=()):
        self.option, self.value, self.ways = option, value, ways
        self.company, self.shows, self.values, self.drops = list(company), shows, values or {}, drops

    def arguments(self, way):
        value = self.values.get(way, self.value)
        return [self.option] + ([] if value is None else [value])


REJECTION = ["--sampler", "rejection", "--samples", "2"]
USES = [
    Use("--space", "tree", RULES),
    Use("--space", "tree", {"tree"}, shows=False),
    Use("--order", "given", SEARCHES | PARTICLES, values={"gap": "degree"}, drops=["--order"]),
    Use("--leaf", "mini-bucket:3", SEARCHES | PARTICLES, values={"gap": "uniform", "mass": "uniform"}, drops=["--leaf"]),
    Use("--restarts", "2", SEARCHES | PARTICLES | {"exact"}, drops=["--order"], shows=False),
    Use("--resume", "slices", {"exact"}, shows=False),  # run_slice_tests.py
    Use("--budget", "4000", SEARCHES | PARTICLES | {"gibbs", "metropolis", "ais"}, drops=["--budget"]),
    Use("--budget", "120000", {"bp"}, ["--samples", "2"], drops=["--budget"], shows=False),
    Use("--budget-unit", "factor", SEARCHES | PARTICLES | {"gibbs", "metropolis", "ais"}),
    Use("--budget-unit", "factor", {"bp"}, ["--samples", "2", "--budget", "400000"], shows=False),
    Use("--memory", "2G", SEARCHES | PARTICLES | {"metropolis", "exact", "ais"}, shows=False),
    Use("--threads", "2", ALL, shows=False),
    Use("--question", "best", ALL, shows=False),
    Use("--error-share", "0.2", set()),  # of a learned model
    Use("--noise", "look", set()),  # of a learned model
    Use("--network-values", "absolute", set()),  # of a network
    Use("--root-samples", "7", set()),  # of a network
    Use("--when-full", "stop", {"tree"}, ["--memory", "300K", "--budget", "200000"], drops=["--budget"]),
    Use("--importance", "70", SEARCHES, drops=["--importance"], shows=False),
    Use("--c", "0.05", {"q-uct", "tree", "mass"}),
    Use("--epsilon", "1000", {"q-uct", "tree"}),
    Use("--ties", "random", {"q-uct", "tree"}),
    Use("--bonus", "log-states", {"tree"}, ["--leaf", "mini-bucket:2"]),
    Use("--gap", "1000", {"gap", "mass"}, values={"mass": "inf"}),
    Use("--gap", "1000", {"exact"}, shows=False),
    Use("--sampler", "upper", {"gap"}, ["--samples", "2"]),
    Use("--max-tries", "1", {"gap"}, REJECTION),
    Use("--confidence", "0.5", {"gap", "ais"}),
    Use("--temperatures", "7", {"ais"}),
    Use("--ess-threshold", "0.05", {"smc"}),
    Use("--resampling", "multinomial", {"smc"}),
    Use("--sweeps", "2", {"gibbs"}),
    Use("--gibbs-mode", "chain", {"gibbs"}),
    Use("--burn-in", "7", {"gibbs"}, ["--gibbs-mode", "chain"]),
    Use("--messages", "1", {"bp"}, ["--samples", "2"]),
    Use("--damping", "0.4", {"bp"}),
    Use("--seed", "12", ALL, ["--samples", "2"]),
    Use("--samples", "3", ALL),
    Use("--time", "60", ALL, shows=False, values={"gap": "2"}),  # which it fills
    Use("--no-simplify", None, ALL, shows=False),
    Use("--quiet", None, ALL, shows=False),
]
# Tested by their effect, in other ways.
ELSEWHERE = {"--order-file", "--slices",  # run_order_tests.py
             "--explain", "--help", "--method", "--select", "--evidence", "--json", "--html", "--uai-out", "--trace",
             "--redis", "--run", "--password-file", "--key-file", "--insecure", "--tls-ca", "--tls-cert", "--tls-key",
             "--patience", "--lease",  # run_worker_tests.py
             "--journal", "--oracle-workers", "--oracle-order", "--allow-programs", "--retry-failed", "--calls",
             "--new-calls",
             "--query", "--map", "--k-best", "--sensitivity", "--value-for", "--entropy", "--cases", "--cases-out",
             "--cases-go-on", "--do",
             "--marginals-out", "--samples-out", "--compile", "--weights"}


@functools.lru_cache(maxsize=None)
def infer(*arguments):
    done = run("infer", MODEL, *arguments, "--json", "answer.json")
    answer = None
    if done.returncode == 0:
        answer = read_json("answer.json")
        for field in ("seconds", "expansions_per_second", "options", "phases", "spent"):
            answer.pop(field, None)
    return done.returncode, done.stderr, answer


def without(arguments, drops):
    kept, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in drops:
            skip = True
        else:
            kept.append(argument)
    return kept


def is_named(option, stderr):
    return re.search(rf"(^|\s|: ){re.escape(option)}\b", stderr) is not None


def check_pairs():
    """Each option with each way: used without a remark, or named."""
    used = {}
    for use in USES:
        used.setdefault(use.option, set()).update(use.ways)
    for use in USES:
        for way in sorted(use.ways):
            base = without(WAYS[way], use.drops) + use.company
            code, stderr, answer = infer(*base, *use.arguments(way))
            what = f"{way}: {' '.join(use.arguments(way))}"
            check(code == 0, f"{what} is accepted", stderr)
            check(f"{use.option} is ignored" not in stderr, f"{what} is used", stderr)
            if use.shows:
                check(answer != infer(*base)[2], f"{what} has an effect")
    for option in used:
        example = next(use for use in USES if use.option == option)
        for way in sorted(ALL - used[option]):
            code, stderr, _ = infer(*WAYS[way], *example.arguments(way))
            check(is_named(option, stderr), f"{way}: {option} is not passed over in silence", f"({code}) {stderr}")
    for way in sorted(ALL - RULES):
        check(is_named("--select", infer(*WAYS[way], "--select", "gap")[1]), f"{way}: --select is named")


def check_company():
    """Options that matter only together with others."""
    for way, option, value in [("gap", "--max-tries", "5"), ("bp", "--messages", "3"), ("bp", "--budget", "9"),
                               ("gibbs", "--burn-in", "3"), ("bp", "--budget-unit", "factor")]:
        check(is_named(option, infer(*WAYS[way], option, value)[1]), f"{way}: {option} alone is named")
    check(is_named("--restarts", infer(*WAYS["q-uct"], "--order", "given", "--restarts", "3")[1]), "a given order")
    check(is_named("--confidence", infer("--select", "gap", "--budget", "50", "--importance", "0", "--confidence",
                                         "0.9")[1]), "no interval without samples")
    for way in sorted(ALL):
        for option, value in [("--journal", "j"), ("--oracle-workers", "2"), ("--oracle-order", "submission"),
                              ("--retry-failed", None)]:
            _, stderr, _ = infer(*WAYS[way], *([option] if value is None else [option, value]))
            check(is_named(option, stderr), f"{way}: {option} without programs is named", stderr)


def check_traces():
    for way in sorted(ALL):
        if os.path.exists("trace.csv"):
            os.remove("trace.csv")
        plain = infer(*WAYS[way])[2]
        _, stderr, answer = infer(*WAYS[way], "--trace", "trace.csv")
        check(plain["method"] == answer["method"], f"{way}: --trace changes the algorithm", stderr)
        check(plain["best"] == answer["best"], f"{way}: --trace changes the answer", stderr)
        if way not in SEARCHES:
            check(is_named("--trace", stderr) and not os.path.exists("trace.csv"), f"{way}: --trace is ignored", stderr)
            continue
        with open("trace.csv") as file:
            rows = [line.split(",") for line in file.read().split()]
        check(rows[0] == ["seconds", "evaluations", "lower", "upper", "estimate"], f"{way}: columns", rows[0])
        check(len(rows) > (3 if way == "gap" else 5), f"{way}: the trace has rows", rows)
        evaluations = [int(row[1]) for row in rows[1:]]
        check(evaluations == sorted(evaluations) and evaluations[-1] > 200, f"{way}: evaluations grow", evaluations)
        check(abs(float(rows[-1][4]) - answer["log_z"]["estimate"]) < 1e-9, f"{way}: the last row is the answer", rows[-1])


PAPER = ["--space", "tree", "--order", "given", "--leaf", "mini-bucket:1", "--budget", "500"]


def check_rules():
    """What asks for one rule never drops what asks for another."""
    paper = infer(*PAPER)[2]["method"]
    check("with bounds" not in paper, "the paper's search", paper)
    for options in (["--c", "0.3"], ["--epsilon", "2"], ["--ties", "random"]):
        _, stderr, answer = infer(*PAPER, *options, "--trace", "trace.csv")
        check(answer["method"] == paper and stderr == "", f"{options} with --trace stays the paper's search", stderr)
        for bounds in (["--sampler", "upper"], ["--confidence", "0.9"], ["--gap", "0.01"], ["--max-tries", "7"]):
            code, stderr, _ = infer(*PAPER, *options, *bounds)
            check(code == 64 and is_named(options[0], stderr) and is_named(bounds[0], stderr),
                  f"{options[0]} and {bounds[0]} exclude each other", f"({code}) {stderr}")
            check(len(stderr.splitlines()) == 1, "in one line", stderr)
            for rule, ignored in (("gap", options[0]), ("q-uct", bounds[0])):
                code, stderr, _ = infer(*PAPER, *options, *bounds, "--select", rule)
                check(code == 0 and f"{ignored} is ignored" in stderr, f"--select {rule} decides: {options} {bounds}", stderr)
    _, stderr, answer = infer(*PAPER, "--trace", "trace.csv")
    check(answer["method"] == paper, "--trace alone does not change the rule", answer["method"])
    for bounds in (["--sampler", "upper"], ["--confidence", "0.9"], ["--gap", "0.01"]):
        for start in (PAPER, ["--method", "search", "--leaf", "mini-bucket:1", "--budget", "300"]):
            _, stderr, answer = infer(*start, *bounds)
            check("with bounds" in answer["method"] and "--select gap" in stderr and is_named(bounds[0], stderr),
                  f"{bounds[0]} changes the rule, and says so", f"{answer['method']} {stderr}")
    for options in (["--trace", "trace.csv"], ["--sampler", "upper"], ["--confidence", "0.9"], ["--max-tries", "9"]):
        _, stderr, answer = infer(*options, "--budget", "300")
        check("with bounds" in answer["method"] and is_named(options[0], stderr), f"{options[0]} asks for a search", stderr)
    check(infer("--gap", "0.5")[2]["log_z"]["exact"], "--gap alone leaves elimination as it is")
    for method in ("sis", "smc"):
        code, stderr, _ = infer("--method", method, "--leaf", "calibrated")
        check(code == 64 and is_named("--leaf", stderr), f"{method} has no calibrated leaf values", stderr)
    for leaf in ("elbo", "means"):
        code, stderr, _ = infer("--select", "gap", "--leaf", leaf)
        check(code == 64 and is_named("--leaf", stderr), f"{leaf} gives no bounds", stderr)


def check_words():
    """The paper's tree search and the search are two methods; words of earlier versions still work, with a remark."""
    def values(*words):
        answer = infer(*words, "--budget", "500")[2]
        return {name: answer[name] for name in ("method", "log_z", "best", "marginals")}

    tree = values("--method", "tree")
    check(tree["method"].startswith("tree search, space tree"), "tree is the tree search", tree["method"])
    for words in (["--space", "tree"], ["--method", "search", "--space", "tree"],
                  ["--method", "tree", "--select", "q-uct", "--space", "tree"],
                  ["--method", "treesample", "--space", "tree"]):
        stderr = infer(*words, "--budget", "500")[1]
        check(values(*words) == tree, f"{words} is the tree search", values(*words)["method"])
        check(("--method tree" in stderr) == (words[:2] in (["--method", "search"], ["--method", "treesample"])),
              f"{words} says so where another word was given", stderr)
    check(values("--method", "search") != tree, "the search is another method")
    for refused in (["--space", "andor"], ["--select", "gap"], ["--select", "mass"], ["--leaf", "calibrated"]):
        code, stderr, _ = infer("--method", "tree", *refused)
        check(code == 64 and is_named(refused[0], stderr) and len(stderr.splitlines()) == 1, f"tree refuses {refused}", stderr)
    for old, new, named in ((["--method", "treesample"], ["--method", "search"], "search"),
                            (["--space", "tree", "--prior", "mini-bucket:2"], ["--space", "tree", "--leaf", "mini-bucket:2"], "--leaf")):
        stderr = infer(*old, "--budget", "500")[1]
        check(values(*old) == values(*new), f"{old} is {new}", stderr)
        check(stderr.count(" now") == 1 and named in stderr, f"{old} has a remark with the new word", stderr)
        check(infer(*new, "--budget", "500")[1] == "", f"{new} has no remark")
    help_text = run("infer", "--help-all", check=True).stdout
    check("--prior" not in help_text and "|treesample" not in help_text, "help has the new words alone")


def check_complete():
    help_text = run("infer", "--help-all", check=True).stdout
    options = set(re.findall(r"^\s+(?:-\w,)?(--[a-z-]+)", help_text, re.MULTILINE))
    check(len(options) > 30, "the help lists options", options)
    missing = options - {use.option for use in USES} - ELSEWHERE
    check(not missing, "every option is in the table of this test:", missing)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_complete()
        check_words()
        check_rules()
        check_traces()
        check_company()
        check_pairs()
        os.chdir("/")
    finish()


main()

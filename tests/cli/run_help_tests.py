#!/usr/bin/env python3
"""Help, man page and completion as a user sees them: run_help_tests.py PROGRAM"""

import subprocess

from checks import PATIENCE, check, run, run_tests



def test_help_and_docs():
    short, long = run("infer", "--help").stdout, run("infer", "--help-all").stdout
    check("--query" in short and "--epsilon" not in short and "more options: treesample infer --help-all" in short, "short help")
    check(run("help", "infer").stdout == short, "help infer is infer --help")
    check("--epsilon" in long and len(long) > len(short), "all of it")
    check(max(len(line) for line in short.splitlines() if not line.startswith("  treesample")) <= 100, "lines fit")
    check(not any(line != line.rstrip() for line in long.splitlines()), "no blanks at the ends of lines")
    words = long[long.index("  --leaf "):].split("\n  --")[0]
    check(all(word in words for word in ("calibrated", "mini-bucket:I", "net:FILE", "program:FILE")), "words of --leaf", words)
    check("--value-for NAME" in long and "--sensitivity NAME=STATE|evidence" in long, "what takes names says so")
    page = run("docs", "man").stdout
    options = {word for word in long.split() if word.startswith("--") and word[2:].replace("-", "").isalpha()}
    missing = {o for o in options - {"--help-all"} if o.replace("-", "\\-") not in page}
    check(not missing, "the man page has every option", missing)
    script = run("docs", "bash").stdout + (
        'COMP_WORDS=(treesample infer --quer); COMP_CWORD=2; _treesample; echo "${COMPREPLY[@]}";'
        'COMP_WORDS=(treesample con); COMP_CWORD=1; _treesample; echo "${COMPREPLY[@]}";'
        'COMP_WORDS=(treesample infer --method ex); COMP_CWORD=3; _treesample; echo "${COMPREPLY[@]}"')
    words = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE).stdout.splitlines()
    check(words == ["--query", "convert", "exact"], "completion", words)


def test_mistyped_words_are_corrected():
    for words, message in [(["--method", "exakt"], "did you mean exact?"), (["--order", "minfill"], "did you mean min-fill?"),
                           (["--question", "yes"], "allowed are all|best|logz (see"),
                           (["--evidence", "a=b", "c=d"], "'c=d' is one word too many")]:
        done = run("infer", "model.bif", *words)
        check(done.returncode == 64 and message in done.stderr, f"{words}", done.stderr)


def test_help_names_all_that_is_taken():
    for command in ("infer", "info", "convert", "compare"):
        text = run(command, "--help").stdout
        check(all(ending in text for ending in (".uai", ".bif", ".xmlbif", ".xdsl", ".net", ".dsc", ".fg", ".wcsp", ".cfn", ".wcnf", ".json")), f"{command}: formats", text)
    text = " ".join(run("compare", "--help").stdout.split())
    for method in ("mass", "smc", "elbo", "elbo-states", "learned"):
        check(method in text, f"compare: --methods {method}", text)


run_tests(globals())

#!/usr/bin/env python3
"""Questions that make no sense get one line that says what is allowed: run_mistake_tests.py PROGRAM MODELS_FOLDER"""

import os
import re
import sys

from checks import check, read, run, run_tests, write

ASIA = os.path.join(os.path.abspath(sys.argv[2]), "asia.bif")


def test_mistakes():
    for arguments, code, message in (
            (["--evidence", "lunge=yes"], 64, "--evidence: there is no variable 'lunge'; did you mean lung?"),
            (["--evidence", "lung=Yes"], 64, "variable 'lung' has no state 'Yes', allowed are yes, no; did you mean yes?"),
            (["--evidence", "lung=yes", "--evidence", "lung=no"], 64, "observed in state 'yes' and in state 'no'"),
            (["--evidence", "nothing.txt"], 66, "nothing.txt: cannot be read: No such file"),
            (["--query", "lunge"], 64, "--query: there is no variable 'lunge'; did you mean lung?"),
            (["--query", "lung,lung"], 64, "--query: variable 'lung' is in it twice"),
            (["--query", "lung,"], 64, "--query: a name is empty"),
            (["--sensitivity", "lung=yes", "--evidence", "lung=no"], 64, "--sensitivity: variable 'lung' is observed"),
            (["--query", "lung=yes"], 64, "a query names variables, such as lung"),
            (["--query", "lung | smoke=yes"], 64, "what is given is --evidence NAME=STATE"),
            (["--sensitivity", "lung"], 64, "--sensitivity: of which state of 'lung'? Allowed are NAME=STATE, such as lung="),
            (["--value-for", "lung", "--evidence", "lung=no"], 64, "--value-for: variable 'lung' is observed"),
            (["--value-for", "lunge"], 64, "--value-for: there is no variable 'lunge'; did you mean lung?"),
            (["--cases", "c.csv", "--k-best", "2"], 64, "--k-best is for one answer"),
            (["--cases", "c.csv", "--compile", "c.circuit"], 64, "--compile is for one answer"),
            (["--cases", "c.csv", "--sensitivity", "lung=yes"], 64, "--sensitivity is for one answer"),
            (["--cases", "c.csv", "--samples", "3"], 64, "--samples is for one answer"),
            (["--cases", "c.csv", "--trace", "t.csv"], 64, "--trace is for one answer"),
            (["--cases", "c.csv", "--query", "lung", "--question", "best"], 64, "--query is not for --question best"),
            (["--query", "lung", "--question", "best"], 64, "--query is not for --question best"),
            (["--compile", "c.circuit", "--map", "lung"], 64, "--map is not for circuits"),
            (["--compile", "c.circuit", "--entropy"], 64, "--entropy is not for circuits"),
            (["--map", "lunge"], 64, "--map: there is no variable 'lunge'; did you mean lung?"),
            (["--k-best", "0"], 64, "--k-best"),
            (["--samples-out", "s.csv"], 64, "--samples-out: no samples are drawn"),
            (["--cases-out", "s.csv"], 64, "--cases-out: there are no cases"),
            (["--cases", "c.csv", "--cases-go-on"], 64, "--cases-go-on: needs the file of the rows"),
            (["--do", "tub=maybe"], 64, "--do: variable 'tub' has no state 'maybe', allowed are yes, no"),
            (["--do", "tubb=yes"], 64, "--do: there is no variable 'tubb'; did you mean tub?"),
            (["--do", "tub~0.5,0.5"], 64, "--do: a variable is set to one state"),
            (["--cases", "c.csv", "--json", "-"], 64, "--json: is for one answer")):
        done = run("infer", ASIA, *arguments)
        check(done.returncode == code and message in done.stderr, f"{arguments}", f"{done.returncode} {done.stderr}")
        check(done.stderr.count("\n") == 1, "in one line", done.stderr)


def check_refused(arguments, code, message):
    done = run(*arguments)
    check(done.returncode == code and message in done.stderr, f"{arguments}", f"{done.returncode} {done.stderr}")
    check(done.stderr.count("\n") == 1 and done.stdout == "", "in one line", done.stderr)


def test_empty_names():
    """An empty name would be taken as none: a file that is not written, and exit code 0."""
    for option in ("--json", "--html", "--trace", "--samples-out", "--marginals-out", "--uai-out", "--cases",
                   "--cases-out", "--weights", "--journal", "--resume", "--compile", "--evidence"):
        check_refused(["infer", ASIA, option, ""], 64,
                      f"treesample: {option}: the value is '', allowed is a text that is not empty")
    for arguments in (["compare", ASIA, "--methods", ""], ["compare", ASIA, "--out", ""],
                      ["generate", "chain", "--out", ""],
                      ["reproduce", "table1", "--quick", "--methods", ""], ["train", "--hidden", ""],
                      ["train", "--model", ""], ["journal", "x", "--csv", ""]):
        check_refused(arguments, 64, f"treesample: {arguments[-2]}: the value is '', allowed is")
    check_refused(["infer", ""], 64, "treesample: MODEL: the value is '', allowed is a text that is not empty")
    check_refused(["convert", ASIA, ""], 64, "TO: the value is ''")
    check(os.listdir() == [], "and nothing is left", os.listdir())


def test_the_parsers_mistakes_in_our_words():
    check_refused(["infer", ASIA, "--budget"], 64, "--budget needs a value (N)")
    check_refused(["infer", ASIA, "--time", "1", "--time", "2"], 64, "--time is given 2 times, allowed is once")
    check_refused(["infer", ASIA, "--json", "a", "--json", "b"], 64, "--json is given 2 times, allowed is once")


def test_options_are_named():
    os.mkdir("nothing")
    for arguments, message in (
            (["train", "--models", "nothing"], "--models: 'nothing' is no folder with models"),
            (["train", "--architecture", "mlp"], "--architecture: "),
            (["train", "--evidence-variables", "a"], "--evidence-variables: "),
            (["reproduce", "figure1", "--family", "foo"], "--family: 'foo' is neither one of chain, permuted-chain, ")):
        check_refused(arguments, 64, message)
    os.rmdir("nothing")
    check(os.listdir() == [], "no folder of a refused run is left", os.listdir())


def test_files():
    check_refused(["infer", "."], 66, ".: cannot be read: Is a directory")
    check_refused(["journal", ASIA], 65, "not a journal of treesample")
    for text in ("", "network x {}", "// nothing\n"):
        write("empty.bif", text)
        check_refused(["info", "empty.bif"], 65, "expected 'variable'")
    write("root.bif", "network x {} variable a { type discrete [2] { y, n }; } probability ( a ) { }")
    check_refused(["info", "root.bif"], 65, "expected 'table'")
    os.remove("empty.bif")
    os.remove("root.bif")


def test_a_model_is_no_command():
    for word in (ASIA, "no_such.uai", "model.json.gz"):
        check_refused([word], 64, f"'{word}' is no command")
        check(f"did you mean 'treesample infer {word}'?" in run(word).stderr, "infer is suggested", run(word).stderr)
    check_refused(["infr"], 64, "did you mean infer?")
    check_refused(["infer", ASIA, "xray=yes"], 64, "'xray=yes' is one word too many; did you mean --evidence xray=yes?")
    check_refused(["reproduce"], 64, "EXPERIMENT is required, allowed are table1|")
    check_refused(["infer"], 64, "MODEL is required (see")
    check_refused(["infer", "model.txt"], 64, "must end in one of: .uai, .bif, .xmlbif, .xml, .xdsl, .net, .dsc, .fg, .cnf, .wcsp, .cfn, .wcnf, .json, .circuit")


def test_no_output_takes_the_place_of_another_file():
    model, evidence = read(ASIA), "xray=yes\n"
    write("m.bif", model)
    write("e.evid", evidence)
    os.symlink("m.bif", "link.bif")
    for option in ("--json", "--html", "--trace", "--compile", "--marginals-out"):
        for name in ("m.bif", "./m.bif", "link.bif"):
            check_refused(["infer", "m.bif", option, name], 64,
                          f"treesample: {option}: '{name}' is the file of MODEL, which would be lost")
        check_refused(["infer", "m.bif", "--evidence", "e.evid", option, "e.evid"], 64, "is the file of --evidence")
    check_refused(["infer", "m.bif", "--samples", "2", "--samples-out", "m.bif"], 64, "is the file of MODEL")
    check_refused(["infer", "m.bif", "--cases", "c.csv", "--cases-out", "c.csv"], 64, "is the file of --cases")
    check_refused(["infer", "m.bif", "--json", "x", "--html", "x"], 64, "--html: 'x' is the file of --json")
    check_refused(["infer", "m.bif", "--journal", "j", "--json", "j.log"], 64, "is the file of --journal")
    check_refused(["compare", "m.bif", "--journal", "j", "--html", "j"], 64, "is the file of --journal")
    for option in ("--csv", "--html"):
        check_refused(["journal", "j", option, "j"], 64, f"{option}: 'j' is the file of FILE")
    os.link("m.bif", "hard.bif")
    for option in ("--json", "--trace"):
        check_refused(["infer", "m.bif", option, "hard.bif"], 64, "'hard.bif' is the file of MODEL, which would be lost")
    for name in ("m.bif", "link.bif", "hard.bif"):
        check_refused(["convert", "m.bif", name], 64, f"TO: '{name}' is the file of FROM, which would be lost")
    os.remove("hard.bif")
    check(read("m.bif") == model and read("e.evid") == evidence, "nothing was changed")
    done = run("infer", "m.bif", "--json", "/dev/null", "--html", "/dev/null", "--quiet")
    check(done.returncode == 0, "devices may be named twice", done.stderr)
    for name in ("m.bif", "e.evid", "link.bif"):
        os.remove(name)
    check(os.listdir() == [], "and nothing is left", os.listdir())


def test_tables_of_cases():
    for text, code, message in (("name,xray\nanna,yes\n", 65, "c.csv:1: there is no variable 'name' (a column of labels"),
                                ("xray,dysp\nyes\n", 65, "c.csv:2: 1 field, the first line has 2"),
                                ("xray\n", 0, "c.csv: there are no cases")):
        write("c.csv", text)
        done = run("infer", ASIA, "--cases", "c.csv", "--query", "lung")
        check(done.returncode == code and message in done.stderr, message, f"{done.returncode} {done.stderr}")
    os.remove("c.csv")


def test_standard_output():
    page = run("infer", ASIA, "--html", "-", "--quiet")
    check(page.returncode == 0 and page.stdout.startswith("<!doctype html>") and page.stdout.endswith("</html>\n"),
          "--html -: the page and nothing else", page.stdout[:100] + page.stdout[-100:])
    check_refused(["infer", ASIA, "--html", "-", "--json", "-"], 64, "--html: standard output is taken by --json")
    for option in ("--trace", "--marginals-out", "--uai-out", "--compile"):
        check_refused(["infer", ASIA, option, "-"], 64, f"{option}: '-' is no file")
    check(os.listdir() == [], "no file of that name", os.listdir())


def test_generated_models_have_the_format_of_their_name():
    for name, start in (("m.json", "{"), ("m.uai", "MARKOV"), ("M.UAI", "MARKOV")):
        done = run("generate", "chain", "--n", "4", "--out", name)
        with open(name) as file:
            check(done.returncode == 0 and file.read().startswith(start), name, done.stderr)
        check(run("info", name).returncode == 0, f"{name} can be read")
        os.remove(name)
    check_refused(["generate", "chain", "--out", "m.txt"], 64, "m.txt: the name of a model file must end in one of")
    check_refused(["generate", "chain", "--out", "m.bif"], 64, "m.bif: ")
    check(os.listdir() == [], "and nothing is left", os.listdir())


def test_completions_offer_what_can_be_given():
    for shell in ("bash", "fish"):
        words = re.findall(r"(?:words=| -a )'([^']*)'", run("docs", shell).stdout)
        check(words and not re.search("[A-Z]", " ".join(words)), f"{shell}: no placeholders", words)
        check("auto" in " ".join(words).split(), f"{shell}: words that are allowed", words)
    fish = run("docs", "fish").stdout.splitlines()
    for words in ("from reproduce' -l out ", "from train' -l out ", "from infer' -l json "):
        line = next((line for line in fish if words in line), "")
        check(" -r" in line, f"files and folders for {words}", line)


def test_methods_and_leaf_values_that_need_tables():
    write("f.py", "def f(x):\n    return 0.0\n")
    write("f.json", '{"variables": [{"name": "x", "states": 2}], "programs": {"p": {"python": "f.py"}}, '
                    '"factors": [{"name": "f", "scope": ["x"], "program": "p"}]}')
    for arguments, message in (
            (["--method", "bp"], "--method is 'bp', which needs a model of tables: this one has functions"),
            (["--method", "exact"], "--method is 'exact', which needs a model of tables"),
            (["--leaf", "mini-bucket", "--method", "search"], "--leaf is 'mini-bucket', which needs a model of tables")):
        done = run("infer", "f.json", "--allow-programs", *arguments)
        check(done.returncode == 64 and message in done.stderr, f"{arguments}", done.stderr)


run_tests(globals())

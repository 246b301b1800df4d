#!/usr/bin/env python3
"""Programs that build objects, as a user runs them: run_build_tests.py PROGRAM"""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import PATIENCE, PROGRAM, check, run_tests

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "programs")
CONSENT = {**os.environ, "TREESAMPLE_ALLOW_PROGRAMS": "1"}
WITHOUT = {key: value for key, value in os.environ.items() if key != "TREESAMPLE_ALLOW_PROGRAMS"}


def build(folder, *arguments, env=CONSENT):
    return subprocess.run([PROGRAM, "build", *arguments], cwd=folder, capture_output=True, text=True, env=env,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE)


class Folder:
    def __enter__(self):
        self.path = tempfile.mkdtemp()
        for name in ("grid.json", "grid.py"):
            shutil.copy(os.path.join(EXAMPLES, name), self.path)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def file(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def process(self, lines):
        """A process that answers with these lines, one to each that it gets."""
        self.file("fake.py", f"import sys\nfor line, _ in zip({lines!r}, sys.stdin):\n    print(line, flush=True)\n")
        return self.file("fake.json", json.dumps({"format": "treesample program", "command": [sys.executable, "fake.py"]}))


def grid_log_z():
    sys.path.insert(0, EXAMPLES)
    sys.dont_write_bytecode = True
    import grid
    places = [(x, y, True) for x in range(grid.SIDE) for y in range(grid.SIDE)]
    return math.log(sum(math.exp(grid.reward(place)) for place in places))


def test_the_example_is_exact():
    with Folder() as folder:
        done = build(folder.path, "grid.json", "--samples", "12", "--json", "out.json")
        check(done.returncode == 0, "it runs", done.stderr)
        with open(os.path.join(folder.path, "out.json"), encoding="utf-8") as file:
            answer = json.load(file)
        log_z = answer["log_z"]
        check(log_z["exact"] and abs(log_z["estimate"] - grid_log_z()) < 1e-12, "log Z", log_z)
        check(log_z["lower"] <= grid_log_z() <= log_z["upper"], "bounds", log_z)
        check(answer["calls"] == 64 and len(answer["samples"]) == 12 and answer["samples_are_exact"], "calls and samples")
        check(all(abs(s["log_prob"] - s["log_weight"] + log_z["estimate"]) < 1e-9 for s in answer["samples"]), "log_prob")
        check("exact" in done.stdout and "64 calls" in done.stdout and "optimal" in done.stdout, "text", done.stdout)
        again = build(folder.path, "grid.json", "--samples", "12", "--json", "out2.json")
        check(again.returncode == 0, "again")
        first, second = ({k: v for k, v in json.load(open(os.path.join(folder.path, n), encoding="utf-8")).items() if k != "seconds"}
                         for n in ("out.json", "out2.json"))
        check(first == second, "the same bits")


def test_nothing_runs_without_consent():
    with Folder() as folder:
        done = build(folder.path, "grid.json", env=WITHOUT)
        check(done.returncode == 77 and "--allow-programs" in done.stderr and "grid.py" in done.stderr, "consent", done.stderr)
        check(build(folder.path, "grid.json", "--allow-programs", env=WITHOUT).returncode == 0, "given by the option")


def test_a_journal_goes_on_after_a_kill():
    with Folder() as folder:
        text = open(os.path.join(folder.path, "grid.py"), encoding="utf-8").read()
        folder.file("grid.py", text.replace("def reward(state):", "def reward(state):\n    import time; time.sleep(0.02)"))
        running = subprocess.Popen([PROGRAM, "build", "grid.json", "--journal", "j"], cwd=folder.path, env=CONSENT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        journal = os.path.join(folder.path, "j")
        while not os.path.exists(journal) or open(journal, encoding="utf-8").read().count("\n") < 10:
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.wait()
        known = open(journal, encoding="utf-8").read().count("\n") - 1
        folder.file("grid.py", text)
        done = build(folder.path, "grid.json", "--journal", "j")
        check(done.returncode == 0 and f"{64 - known} calls" in done.stdout and "exact" in done.stdout, "it goes on", done.stdout)


def test_ctrl_c_gives_what_is_known():
    with Folder() as folder:
        text = open(os.path.join(folder.path, "grid.py"), encoding="utf-8").read()
        folder.file("grid.py", text.replace("def reward(state):", "def reward(state):\n    import time; time.sleep(0.05)"))
        running = subprocess.Popen([PROGRAM, "build", "grid.json", "--journal", "j"], cwd=folder.path, env=CONSENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        journal = os.path.join(folder.path, "j")
        while not os.path.exists(journal) or open(journal, encoding="utf-8").read().count("\n") < 5:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
        check(running.returncode == 130 and "at least" in out and "certified" in out, "an answer", f"{running.returncode} {out} {err}")


def test_any_process_speaks_the_protocol():
    with Folder() as folder:
        name = folder.process([
            '{"ready": true, "start": 0, "defines": ["upper"]}',
            '{"id": 1, "states": [{"actions": [["a", 1, -1.5], ["b", {"x": [2]}, "-inf"], ["c", 3]], "upper": 3}]}',
            '{"id": 2, "states": [{"end": true, "upper": 0}, {"end": true, "upper": 0}, {"end": true, "upper": 0}]}',
        ])
        done = build(folder.path, name, "--json", "out.json")
        check(done.returncode == 0, "it runs", done.stderr)
        answer = json.load(open(os.path.join(folder.path, "out.json"), encoding="utf-8"))
        check(abs(answer["log_z"]["estimate"] - math.log(1 + math.exp(-1.5))) < 1e-12, "log Z", answer["log_z"])
        check(answer["best"]["object"] == 3, "best")


def test_faults_of_processes_are_one_clear_line():
    ready = '{"ready": true, "start": 0, "defines": ["reward"]}'
    with Folder() as folder:
        for lines, message in [
            ([], "exited with status 0"),
            (["hello"], "no object of JSON on one line"),
            (['{"ready": true}'], "not with ready and start"),
            (['{"error": "no licence"}'], "says: \"no licence\""),
            (['{"ready": true, "start": 0, "objects": "dogs"}'], "objects is \"dogs\", allowed are ends and paths"),
            (['{"ready": true, "start": 0, "defines": ["rewards"]}'], "allowed are reward, upper"),
            ([ready, '{"id": 7, "states": []}'], "and not id 1 with 1 entry in states"),
            ([ready, '{"id": 1, "states": [{}]}'], "neither end nor actions"),
            ([ready, '{"id": 1, "states": [{"actions": [["a"]]}]}'], "an action is [\"a\"], allowed are"),
            ([ready, '{"id": 1, "states": [{"actions": [["a", 1, "much"]]}]}'], "a log reward is \"much\""),
            ([ready, '{"id": 1, "states": [{"end": true}]}', '{"id": 2, "log_rewards": [NaN]}'], "the log reward of an end is nan"),
            ([ready, '{"id": 1, "states": [{"end": true}]}', '{"id": 2, "log_rewards": [1, 2]}'], "1 entry in log_rewards"),
            ([ready, '{"id": 1, "states": [{"actions": [["a", 1]]}]}', '{"id": 2, "error": "disk full"}'], "says: \"disk full\""),
            ([ready, '{"id": 1, "states": [{"actions": [["a", 1]]}]}', '{"id": 2, "states": [{"actions": [["b", 0]]}]}',
              '{"id": 3, "states": [{"actions": [["b", 0]]}]}', '{"id": 4, "states": [{"actions": [["a", 1]]}]}',
              '{"id": 5, "states": [{"actions": [["a", 1]]}]}'], "a cycle: action \"b\" leads from 1 back to 0; the path there: 0 -\"a\"-> 1"),
        ]:
            done = build(folder.path, folder.process(lines), "--json", "out.json")
            check(done.returncode not in (0, 70) and message in done.stderr and done.stderr.strip().count("\n") <= 1,
                  message, f"{done.returncode} {done.stderr}")
            check(not os.path.exists(os.path.join(folder.path, "out.json")), "nothing half-written")
        for text, message in [
            ("{", "grid2.json:1"),
            ('{"format": "other"}', "format must be"),
            ('{"format": "treesample program"}', "exactly one of the fields command, python"),
            ('{"format": "treesample program", "command": []}', "the list is empty"),
            ('{"format": "treesample program", "command": ["./none"]}', "no executable file './none'"),
            ('{"format": "treesample program", "python": "none.py"}', "no file 'none.py' beside it"),
        ]:
            done = build(folder.path, folder.file("grid2.json", text))
            check(done.returncode not in (0, 70) and message in done.stderr, message, done.stderr)
        folder.file("grid.py", "def start(): return 0\n")
        done = build(folder.path, "grid.json")
        check("has no function 'actions'" in done.stderr, "a missing function", done.stderr)
        folder.file("grid.py", "def start(): return 0\ndef is_end(s): return False\ndef actions(s): return [1 / 0]\n")
        done = build(folder.path, "grid.json")
        check("ZeroDivisionError" in done.stderr and "line 3" in done.stderr, "where it raised", done.stderr)
        for words in (["grid.json", "--journal", "grid.json"], ["none.json"], ["grid.json", "--method", "search"]):
            done = build(folder.path, *words)
            check(done.returncode in (64, 66, 74, 69) and done.stderr.count("\n") >= 1, f"{words}", f"{done.returncode} {done.stderr}")


def test_a_bundled_environment_needs_no_program():
    with Folder() as folder:
        done = build(folder.path, "hypergrid", "--set", "height=8", "--set", "dimensions=2", "--samples", "3", "--json",
                     "out.json", env=WITHOUT)
        check(done.returncode == 0, "it runs without consent", done.stderr)
        answer = json.load(open(os.path.join(folder.path, "out.json"), encoding="utf-8"))
        check(answer["calls"] == 64 and answer["log_z"]["exact"], "it is exact", answer)
        check(all(len(s["object"]) == 2 for s in answer["samples"]), "objects are lists of coordinates", answer["samples"])
        folder.file("table.csv", "rain,river\n1,2\n2,4.5\n3,6\n")
        done = build(folder.path, "dag", "--set", "file=table.csv", "--json", "out.json")
        answer = json.load(open(os.path.join(folder.path, "out.json"), encoding="utf-8"))
        check(done.returncode == 0 and answer["ends"] == 3, "graphs of a table", done.stderr)
        check(answer["best"]["object"] in ([["rain", "river"]], [["river", "rain"]]), "edges by name", answer["best"])
        done = build(folder.path, "hypergrid", "--set", "height=6", "--calls", "100", "--journal", "grid.journal")
        again = build(folder.path, "hypergrid", "--set", "height=6", "--calls", "0", "--journal", "grid.journal")
        check(" 100 calls" in done.stdout and " 0 calls" in again.stdout, "a journal", done.stdout + again.stdout)
        other = build(folder.path, "hypergrid", "--set", "height=7", "--calls", "0", "--journal", "grid.journal")
        check(other.returncode not in (0, 70), "a journal belongs to one environment", other.stderr)
        check("needed" in build(folder.path, "dag", "--fields").stdout, "fields are listed")
        for words, message in [
            (["nonsense"], "environment is 'nonsense', allowed are hypergrid"),
            (["hypergrid", "--set", "height"], "'height' is not NAME=VALUE"),
            (["hypergrid", "--set", "height=0"], "height is '0', allowed are whole numbers from 2"),
            (["dag", "--set", "file=none.csv"], "none.csv"),
            (["dag", "--set", "file=table.csv", "--json", "table.csv"], "table.csv"),
            (["grid.json", "--set", "height=3"], "is for environments"),
        ]:
            done = build(folder.path, *words)
            check(done.returncode in (64, 65, 66) and message in done.stderr, message, f"{done.returncode} {done.stderr}")
        check(open(os.path.join(folder.path, "table.csv"), encoding="utf-8").read().startswith("rain"), "the table is still there")


def test_check_finds_a_program_that_changes_its_mind():
    with Folder() as folder:
        check("no mistake was found" in build(folder.path, "grid.json", "--check").stdout, "the example is right")
        folder.file("grid.py", "count = [0]\ndef start(): return 0\ndef is_end(s): return s > 5\n"
                    "def actions(s):\n    count[0] += 1\n    return [('a', s + 1, float(count[0]))]\n")
        done = build(folder.path, "grid.json", "--check")
        check(done.returncode == 64 and "other actions, or other log rewards" in done.stderr, "it is found", done.stderr)


run_tests(globals())

"""Models that are programs."""

import concurrent.futures
import dataclasses
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import treesample as ts

SIDE = 6


def weight(x, y):
    return -0.5 * abs(x - 3) - 0.3 * abs(y - 1)


def weight_of(state):
    return weight(state[0], state[1])


class Grid(ts.Program):
    """Places in a square, reached by many paths each."""

    def start(self):
        return (0, 0, False)

    def is_end(self, state):
        return state[2]

    def actions(self, state):
        x, y, _ = state
        if x < SIDE - 1:
            yield "right", (x + 1, y, False)
        if y < SIDE - 1:
            yield "up", (x, y + 1, False)
        yield "stop", (x, y, True)

    def reward(self, state):
        return weight(state[0], state[1])


LOG_Z = math.log(sum(math.exp(weight(x, y)) for x in range(SIDE) for y in range(SIDE)))


def test_a_grid_is_exact_and_each_place_counts_once():
    answer = Grid().infer(samples=20, seed=1)
    assert answer.log_z.exact and answer.log_z.kind == "exact"
    assert answer.log_z.lower <= LOG_Z <= answer.log_z.upper
    assert answer.calls == SIDE * SIDE
    assert answer.best == (3, 1, True) and answer.best_is_optimal
    for path in answer.sample_paths:
        assert path.log_weight == pytest.approx(weight(*path.end[:2]))
        assert path.log_prob == pytest.approx(path.log_weight - LOG_Z)
        assert path.actions[-1] == "stop" and len(path.states) == len(path.actions) + 1
    assert answer.samples == Grid().infer(samples=20, seed=1).samples
    probabilities = answer.probabilities()
    assert sum(probabilities.values()) == pytest.approx(1.0)
    mean = sum(p * state[0] for state, p in probabilities.items())
    assert answer.expect(lambda state: state[0]) == pytest.approx(mean)
    assert answer.expect_actions(lambda state, action, following: action == "right") == pytest.approx(mean)
    assert "exact" in repr(answer)


def test_functions_do_as_well_as_a_class():
    program = ts.Program(
        start="",
        actions=lambda word: [(letter, word + letter, -0.5 * (letter == "b")) for letter in "ab"],
        is_end=lambda word: len(word) == 5,
    )
    answer = program.infer()
    assert answer.log_z.exact
    assert answer.log_z.estimate == pytest.approx(5 * math.log(1 + math.exp(-0.5)))
    assert answer.best == "aaaaa"


def test_few_calls_give_a_certified_lower_bound_and_extend_goes_on():
    asked = []
    program = Grid()
    program.reward = lambda state: asked.append(state) or weight(*state[:2])
    answer = program.infer(calls=15)
    assert answer.calls == 15 == len(asked)
    assert answer.log_z.lower <= LOG_Z and not answer.log_z.exact
    rest = answer.extend(calls=SIDE * SIDE - 15)
    assert rest.log_z.exact and rest.calls == SIDE * SIDE - 15
    assert len(asked) == len(set(asked)) == SIDE * SIDE


@pytest.mark.parametrize("method", ["search", "tree", "black-box", "exact", "auto"])
def test_every_method_is_right_at_any_number_of_calls(method):
    class Bounded(Grid):
        def upper(self, state):
            return 0.0 if state[2] else math.log((SIDE - state[0]) * (SIDE - state[1]))

        def encode(self, state):
            return state[:2]

        def value(self, state):
            return weight(*state[:2])

    for calls in (0, 7, SIDE * SIDE):
        answer = Bounded().infer(calls=calls, method=method)
        assert answer.log_z.lower <= LOG_Z + 1e-12
        assert answer.log_z.upper is not None and answer.log_z.upper >= LOG_Z - 1e-12
        assert answer.calls <= calls
        assert answer.log_z.exact == (calls == SIDE * SIDE)


def test_a_journal_pays_for_nothing_twice(tmp_path):
    path = tmp_path / "rewards.journal"
    assert Grid().infer(calls=10, journal=path).calls == 10
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"key": "half of a l')  # a run was killed there
    again = Grid().infer(journal=path)
    assert again.calls == SIDE * SIDE - 10 and again.log_z.exact
    assert Grid().infer(calls=0, journal=path).log_z.lower == again.log_z.lower

    class Other(Grid):
        pass

    with pytest.raises(ts.Error, match="journal of the program"):
        Other().infer(journal=path)
    for text in ("something else\n", "{}\n", "no line at all"):
        path.write_text(text)
        with pytest.raises(ts.Error, match="no journal of rewards"):
            Grid().infer(journal=path)
        assert path.read_text() == text


def test_extend_goes_on_in_the_journal(tmp_path):
    path = tmp_path / "rewards.journal"
    answer = Grid().infer(calls=10, journal=path)
    assert Grid().infer(calls=5, journal=path).calls == 5  # another run may use it meanwhile
    assert answer.extend(calls=5).calls == 5
    assert len(path.read_text().splitlines()) == 1 + 20


def test_what_was_paid_for_is_kept_when_a_reward_raises(tmp_path):
    class Failing(Grid):
        def reward(self, state):
            if state[:2] == (0, 3):
                raise ValueError("no licence")
            return weight(*state[:2])

    path = tmp_path / "rewards.journal"
    with concurrent.futures.ThreadPoolExecutor(4) as pool, pytest.raises(ValueError, match="no licence"):
        Failing().infer(executor=pool, batch=SIDE * SIDE, journal=path)
    assert len(path.read_text().splitlines()) == 1 + SIDE * SIDE - 1
    Failing.reward = Grid.reward
    assert Failing().infer(journal=path).calls == 1


def test_an_answer_is_json():
    answer = json.loads(Grid().infer(calls=5, samples=2).to_json())
    assert answer["log_z"]["upper"] == "inf" and answer["calls"] == 5 and len(answer["samples"]) == 2


def test_a_wrong_line_of_a_journal_is_shown(tmp_path):
    path = tmp_path / "rewards.journal"
    Grid().infer(calls=3, journal=path)
    lines = path.read_text().splitlines()
    for wrong in ('{"key": 3, "log_reward": 1}', '{"key": "a", "log_reward": NaN}', "[]", "nonsense"):
        path.write_text("\n".join([lines[0], wrong, *lines[1:]]) + "\n")
        with pytest.raises(ts.Error, match="line 2 is "):
            Grid().infer(journal=path)


def test_sets_have_the_same_key_in_every_process(tmp_path):
    code = """
import sys, treesample as ts
class Sets(ts.Program):
    def start(self): return frozenset()
    def is_end(self, s): return len(s) == 2
    def actions(self, s): return [(x, s | {x}) for x in ("ant", "bee", "cow", "dog") if x not in s]
    def reward(self, s): return float(len("".join(s)))
print(Sets().infer(journal=sys.argv[1]).calls)
"""
    calls = []
    for seed in ("1", "2"):
        run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "j")], env={**os.environ, "PYTHONHASHSEED": seed},
                             capture_output=True, text=True, check=True)
        calls.append(run.stdout.strip())
    assert calls == ["6", "0"]


def test_an_executor_computes_rewards_at_the_same_time():
    under_way, most = 0, 0
    lock = threading.Lock()
    meeting = threading.Barrier(4, timeout=60)

    def reward(state):
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        meeting.wait()
        with lock:
            under_way -= 1
        return weight(*state[:2])

    program = Grid()
    program.reward = reward
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answer = program.infer(executor=pool)
    assert most == 4 and answer.log_z.exact


def test_an_executor_of_processes_gives_the_same_answer():
    program = Grid()
    program.reward = weight_of
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        answer = program.infer(executor=pool, batch=8)
    assert answer.log_z.estimate == Grid().infer().log_z.estimate


def test_paths_are_divided_by_the_number_of_those_that_mean_the_same():
    class Subsets(ts.Program):
        """Three of six numbers, in any order; the end has forgotten which."""

        def start(self):
            return ((), 0)

        def is_end(self, state):
            return len(state[0]) == 3

        def actions(self, state):
            return [(i, (state[0] + (i,), state[1] + i), 0.2 * i) for i in range(6) if i not in state[0]]

        def merge(self, state):
            return state if len(state[0]) < 3 else (("?",) * 3, state[1])

        def log_paths(self, state):
            return math.log(6)

    answer = Subsets().infer()
    truth = math.log(sum(math.exp(0.2 * sum(chosen)) for chosen in itertools.combinations(range(6), 3)))
    assert answer.log_z.estimate == pytest.approx(truth)
    assert "(all of them)" in Subsets().check()
    Subsets.log_paths = lambda self, state: math.log(7)
    with pytest.raises(ts.Error, match="log_paths says that 7 paths"):
        Subsets().check()


@dataclasses.dataclass(frozen=True)
class Word:
    letters: str


def test_states_may_be_frozen_dataclasses():
    program = ts.Program(
        start=lambda: Word(""),
        actions=lambda word: [(c, Word(word.letters + c)) for c in "ab"],
        is_end=lambda word: len(word.letters) == 3,
        reward=lambda word: 0.0,
    )
    assert program.infer().log_z.estimate == pytest.approx(math.log(8))


def test_wrong_arguments_are_named():
    for keywords, message in [
        (dict(method="exakt"), "method is 'exakt'"),
        (dict(calls=-1), "calls is -1"),
        (dict(time="x"), "time is 'x'"),
        (dict(memory="4 dogs"), "memory is '4 dogs'"),
        (dict(batch=0), "batch is 0"),
        (dict(seed=2**64), "seed is 18446744073709551616"),
        (dict(samples=10**12), "samples is 1000000000000"),
    ]:
        with pytest.raises(ts.Error, match=message):
            Grid().infer(**keywords)
    with pytest.raises(ts.Error, match="needs a program with `upper`"):
        Grid().infer(method="search")
    with pytest.raises(ts.Error, match="does not define actions"):
        ts.Program(start=0, is_end=bool).infer()
    with pytest.raises(ts.Error, match="no function 'rewards'"):
        ts.Program(rewards=len)
    with pytest.raises(ts.Error, match="objects is 'walks'"):
        Grid(objects="walks").infer()


def test_what_the_program_raises_arrives_as_itself():
    def reward(state):
        raise KeyError("lost")

    program = Grid()
    program.reward = reward
    with pytest.raises(KeyError, match="lost") as caught:
        program.infer()
    assert caught.value.__notes__ == ["in reward((0, 5, True))"] or "in reward(" in caught.value.__notes__[0]


def test_ctrl_c_gives_what_is_known():
    count = 0

    def reward(state):
        nonlocal count
        count += 1
        if count == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return weight(*state[:2])

    program = Grid()
    program.reward = reward
    with pytest.raises(KeyboardInterrupt) as caught:
        program.infer()
    answer = caught.value.answer
    assert -math.inf < answer.log_z.lower < LOG_Z
    assert answer.num_rewards in (9, 10, 11)


def test_limits_of_time_and_memory_end_a_run_with_bounds():
    class Words(ts.Program):
        def start(self):
            return ""

        def is_end(self, word):
            return len(word) == 40

        def actions(self, word):
            return [(c, word + c) for c in "abc"]

        def reward(self, word):
            return -1.0

        def upper(self, word):
            return (40 - len(word)) * math.log(3)

    for limits in (dict(time=1.0), dict(memory="20M")):
        answer = Words().infer(**limits)
        assert not answer.log_z.exact
        assert answer.log_z.lower <= 40 * math.log(3) - 1.0 <= answer.log_z.upper
        assert answer.stop in ("time", "memory"), answer.stop


def test_a_program_without_objects():
    answer = ts.Program(start=0, actions=lambda s: [], is_end=lambda s: False).infer()
    assert answer.log_z.exact and answer.log_z.estimate == -math.inf
    assert answer.best is None and answer.samples == [] and answer.probabilities() == {}
    with pytest.raises(ts.Error, match="no object is known"):
        answer.sample(1)


def test_the_example_of_the_documentation():
    text = (Path(__file__).resolve().parents[2] / "docs" / "programs.md").read_text(encoding="utf-8")
    block = text.split("```python\n")[1].split("```")[0].replace("D, H = 4, 20", "D, H = 2, 8").replace("calls=3000", "calls=30")
    names = {}
    exec(block, names)
    rewards = [names["Hypergrid"]().reward((x, y, True)) for x in range(8) for y in range(8)]
    answer = names["answer"]
    assert answer.log_z.exact and answer.log_z.estimate == pytest.approx(math.log(sum(map(math.exp, rewards))))
    assert len(answer.samples) == 5 and len(answer.probabilities()) == 64


def test_the_program_in_cpp_of_the_documentation_is_the_example():
    root = Path(__file__).resolve().parents[2]
    page, example = (root / name for name in ("docs/programs.md", "examples/hypergrid.cpp"))
    text = example.read_text(encoding="utf-8")
    struct = text[text.index("struct Hypergrid {") : text.index("int main")].rstrip()
    assert struct in page.read_text(encoding="utf-8")

"""Mistakes in programs: each gets one clear line, with the path that leads there."""

import itertools
import math

import pytest

import treesample as ts


class Changing:
    def __init__(self):
        self.number = 0

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        return self is other


def changing(state):
    if isinstance(state, Changing):
        return [("a", 1)]
    made = Changing()
    result = [("a", 5), ("b", made)]
    made_later.append(made)
    return result


made_later = []


class Plain:
    pass


FAULTS = {
    "a cycle: action 'back' leads from 1 back to 0; the path there: 0 -'on'-> 1": dict(
        actions=lambda s: [("on", 1)] if s == 0 else [("back", 0)], is_end=lambda s: False),
    r"the state \[0\] is not hashable.*; the path there: 0$": dict(actions=lambda s: [("a", [0])], is_end=lambda s: False),
    "is compared by identity.*; the path there: 0 -'on'-> 1$": dict(
        actions=lambda s: [("on", 1)] if s == 0 else [("a", Plain())], is_end=lambda s: False),
    r"gives \('a',\), allowed are": dict(actions=lambda s: [("a",)], is_end=lambda s: False),
    "gives 7, allowed are lists and generators": dict(actions=lambda s: 7, is_end=lambda s: False),
    "a log reward in .* is 'much', allowed are numbers": dict(actions=lambda s: [("a", 1, "much")], is_end=lambda s: False),
    "the log reward of action 'a' is nan": dict(actions=lambda s: [("a", 1, math.nan)], is_end=lambda s: s == 1),
    "the log reward of action 'a' is inf": dict(actions=lambda s: [("a", 1, math.inf)], is_end=lambda s: s == 1),
    "the log reward of an end is nan.*the path there: 0 -'a'-> 1": dict(
        actions=lambda s: [("a", 1)], is_end=lambda s: s == 1, reward=lambda s: math.nan),
    r"the log reward of an end is inf.*; the path there: 0 -'a'-> 1": dict(actions=lambda s: [("a", 1)], is_end=lambda s: s == 1, reward=lambda s: math.inf),
    r"the log reward of action 'a' is 1e\+308, allowed are -inf and numbers from -1e\+100": dict(
        actions=lambda s: [("a", 1, 1e308)], is_end=lambda s: s == 1),
    r"the log reward of an end is -1e\+200": dict(
        actions=lambda s: [("a", 1)], is_end=lambda s: s == 1, reward=lambda s: -1e200),
    r"reward\(1\) is None, allowed are numbers": dict(actions=lambda s: [("a", 1)], is_end=lambda s: s == 1, reward=lambda s: None),
    r"no end after 100000 actions \(max_steps\).*; the path there: \.\.\. ": dict(actions=lambda s: [("a", s + 1)], is_end=lambda s: False),
    "two paths lead to the state 9, with log rewards that add up to 0 and 1": dict(
        actions=lambda s: [("a", 1), ("b", 2)] if s == 0 else [("c", 9, float(s == 2))], is_end=lambda s: s == 9),
    "this end and 1 have one key, k.*; the path there: 0 -'b'-> 2": dict(actions=lambda s: [("a", 1), ("b", 2)], is_end=lambda s: s > 0, reward=lambda s: 0.0, key=lambda s: "k"),
    "encode gives the same numbers": dict(
        actions=lambda s: [("a", 1), ("b", 2)], is_end=lambda s: s > 0, reward=lambda s: 0.0, encode=lambda s: [0]),
    r"encode\(1\) is 'x', allowed are": dict(
        actions=lambda s: [("a", 1), ("b", 2)], is_end=lambda s: s > 0, reward=lambda s: 0.0, encode=lambda s: "x"),
}


@pytest.mark.parametrize("message", FAULTS)
def test_faults_are_shown_in_one_clear_line(message):
    with pytest.raises(ts.Error, match=message) as caught:
        ts.Program(start=0, **FAULTS[message]).infer(calls=1 if "encode" in message else None)
    assert "\n" not in str(caught.value)


def test_states_that_change_are_found():
    state = Changing()

    def actions(given):
        state.number += 1
        return [("a", 5)]

    with pytest.raises(ts.Error, match="has changed since.*; the path there: "):
        ts.Program(start=lambda: state, actions=lambda s: actions(s), is_end=lambda s: s == 5, key=str).check()


def test_programs_that_change_their_mind_are_found():
    count = itertools.count()
    program = ts.Program(start=0, actions=lambda s: [("a", 1, float(next(count)))], is_end=lambda s: s == 1)
    with pytest.raises(ts.Error, match="other actions, or other log rewards"):
        program.check()


def test_a_log_reward_of_minus_infinity_is_an_object_without_weight():
    answer = ts.Program(start=0, actions=lambda s: [("a", 1), ("b", 2)], is_end=lambda s: s > 0,
                        reward=lambda s: 0.5 if s == 1 else -math.inf).infer(samples=5)
    assert answer.log_z.estimate == 0.5 and answer.log_z.exact
    assert answer.samples == [1] * 5
    assert answer.probabilities() == {1: 1.0}

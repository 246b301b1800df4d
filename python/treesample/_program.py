"""Models that are programs: they build an object step by step."""

from __future__ import annotations

import functools
import math
import os
from typing import Any, Callable, Optional, Union

from . import _core
from ._executor import make_door
from ._numbers import bytes_of
from ._program_answer import ProgramAnswer, positive, whole_up_to
from ._progress import make_progress

METHODS = ("auto", "exact", "search", "tree", "black-box")
OBJECTS = ("ends", "paths")
NEEDED = ("start", "actions", "is_end")
OPTIONAL = ("reward", "upper", "value", "merge", "log_paths", "encode", "key")


class Program:
    """A model that builds an object step by step, as environments of GFlowNets do.

    >>> import treesample as ts
    >>> class Grid(ts.Program):
    ...     def start(self):
    ...         return (0, 0, "walking")
    ...     def is_end(self, state):
    ...         return state[2] == "done"
    ...     def actions(self, state):
    ...         x, y, _ = state
    ...         if x < 9: yield "right", (x + 1, y, "walking")
    ...         if y < 9: yield "up", (x, y + 1, "walking")
    ...         yield "stop", (x, y, "done")
    ...     def reward(self, state):
    ...         return -0.1 * state[0] * state[1]
    >>> answer = Grid().infer()
    >>> answer.log_z.exact, answer.calls
    (True, 100)

    A program defines

    - `start()`: the first state. States are hashable values: numbers, texts, tuples, frozen sets, frozen dataclasses;
    - `actions(state)`: `(action, next state)` or `(action, next state, log reward)` for each action;
    - `is_end(state)`: whether the object is complete,

    and, where it can,

    - `reward(state)`: the log reward of an end: what costs, and what `calls` limits. Each end is evaluated once;
    - `upper(state)`: never below the log of the sum of the weights of all objects from here on, without what led here:
      makes certified upper bounds;
    - `value(state)`: a guess of that number: Q_phi of the paper's tree search;
    - `merge(state)`: the canonical form of a state: states with the same one are the same;
    - `encode(state)`: features of an end from which rewards are learned: whole numbers from 0, different for different
      ends. Without it a tuple of numbers is its own features, and for other states the actions are;
    - `log_paths(state)`: the log of the number of paths that lead to one object at this end; `objects` is "paths" then;
    - `key(state)`: the text by which a journal knows an end; else `repr`, with sets in order.

    `ordered = True` says that the numbers of `encode` are quantities: ends whose numbers are near tend to have similar
    rewards.

    `objects = "ends"` (the default): an object is an end, and counts once however many paths lead there. With
    `objects = "paths"` each path is an object. Instead of a class, functions do as well:
    `ts.Program(start=..., actions=..., is_end=..., reward=...)`.
    """

    objects: str = ""
    ordered: bool = False

    def __init__(self, *, objects: str = "", **functions: Callable[..., Any]) -> None:
        for name, function in functions.items():
            if name not in NEEDED + OPTIONAL:
                allowed = ", ".join(NEEDED + OPTIONAL)
                raise _core.Error(f"Program: there is no function {name!r}, allowed are {allowed}")
            if name == "start" and not callable(function):
                function = _always(function)
            if not callable(function):
                raise _core.Error(f"Program: {name} is {function!r}, allowed are functions")
            setattr(self, name, function)
        if objects:
            self.objects = objects

    # ---- asking

    def infer(
        self,
        *,
        calls: Optional[int] = None,
        time: Optional[float] = None,
        memory: Union[int, str, None] = None,
        gap: float = 0.0,
        samples: int = 0,
        seed: int = 0,
        method: str = "auto",
        c: float = 1.0,
        max_steps: int = 100_000,
        journal: Union[str, "os.PathLike[str]", None] = None,
        executor: Any = None,
        batch: Optional[int] = None,
        progress: Union[bool, Callable[["dict[str, Any]"], None]] = False,
    ) -> "ProgramAnswer":
        """Log Z with certified bounds, the best object, and objects in proportion to their weights.

        `calls` limits evaluations of `reward` (without it, calls of `actions`), `time` is in seconds, `memory` in bytes
        or "4G". `method`: "exact" expands all states and evaluates all rewards; "search" needs `upper` and ends when the
        bounds are within `gap`; "tree" is the paper's tree search, with `c` of its rule; "black-box" expands all states
        and learns the rewards that were not paid for; "auto" takes the first one that fits. `journal` is a file that
        keeps all rewards, so that none is paid for twice; `executor` computes up to `batch` of them at the same time.
        """
        given: "dict[str, Any]" = {
            "calls": None if calls is None else whole_up_to(calls, "calls", 2**63 - 1),
            "time": None if time is None else positive(time, "time"),
            "memory": bytes_of(memory),
            "gap": positive(gap, "gap"),
            "samples": whole_up_to(samples, "samples", 100_000_000),
            "seed": whole_up_to(seed, "seed", 2**63 - 1),
            "method": _one_of(method, METHODS, "method"),
            "c": positive(c, "c"),
            "max_steps": whole_up_to(max_steps, "max_steps", 1_000_000_000),
            "most_states": 1_000_000,
            "batch": 1,
        }
        door = None if executor is None else make_door(executor)
        if batch is not None:
            given["batch"] = whole_up_to(batch, "batch", 1_000_000)
        elif door is not None:
            given["batch"] = door.num_workers()
        memory_ = _Memory(journal, self._journal_name())
        return _run(self, memory_, executor, given, progress)

    def check(self, *, states: int = 10_000, rewards: int = 100) -> str:
        """Looks for mistakes in what the program declares, in its first states: `ts.Error` shows the way to one.

        Asks everything twice, compares `log_paths` with the paths that it finds, `upper` with up to `rewards` rewards,
        and ends with their canonical forms. Returns a sentence on what was looked at.
        """
        raised = _core.Raised()
        core = self._core(None, raised, _Memory(None, ""))
        return str(core.check(whole_up_to(states, "states", 10**8), whole_up_to(rewards, "rewards", 10**8)))

    # ---- inside

    def _journal_name(self) -> str:
        return f"{type(self).__module__}.{type(self).__qualname__}"

    def _core(self, executor: Any, raised: Any, memory: "_Memory") -> Any:
        functions: "dict[str, Any]" = {}
        for name in NEEDED:
            functions[name] = getattr(self, name, None)
            if not callable(functions[name]):
                raise _core.Error(f"the program {type(self).__qualname__} does not define {name}")
        for name in OPTIONAL:
            function = getattr(self, name, None)
            if function is None:
                continue
            if not callable(function):
                raise _core.Error(f"{type(self).__qualname__}: {name} is {function!r}, allowed is a function")
            functions[name] = function
        functions.setdefault("key", _key)
        if "reward" in functions:
            key = functions["key"]
            functions["rewards"] = _rewards(
                functions.pop("reward"), executor, lambda end, value: memory.add(str(key(end)), float(value))
            )
        objects = self.objects or ("paths" if "log_paths" in functions else "ends")
        return _core.NumberedProgram(functions, _one_of(objects, OBJECTS, "objects"), bool(self.ordered), raised)


class _Memory:
    """Rewards that are known, by the keys of their ends; in a file as well, if there is one."""

    def __init__(self, path: Union[str, "os.PathLike[str]", None], name: str) -> None:
        self._known: "dict[str, float]" = {}
        self._path = None if path is None else os.fspath(path)
        self._name = name
        self._journal: Any = None

    def __enter__(self) -> "_Memory":
        """A journal has one user at a time, so that it is open during runs alone."""
        if self._path is not None:
            self._journal = _core.RewardJournal(self._path, self._name)
            self._known.update(self._journal.all())
        return self

    def __exit__(self, *_: Any) -> None:
        self._journal = None

    def find(self, key: str) -> Optional[float]:
        return self._known.get(key)

    def add(self, key: str, value: float) -> None:
        if self._journal is not None:
            self._journal.add(key, value)
        self._known[key] = value

    def flush(self) -> None:
        if self._journal is not None:
            self._journal.flush()


def _run(
    program: Program,
    memory: _Memory,
    executor: Any,
    given: "dict[str, Any]",
    progress: Union[bool, Callable[["dict[str, Any]"], None]],
) -> ProgramAnswer:
    raised = _core.Raised()
    show = make_progress(progress)
    try:
        with memory:
            numbered = program._core(executor, raised, memory)
            core, error = _core.infer_program(numbered, given, show, raised, memory)
    finally:
        if show is not None:
            show.end()

    def again(changed: "dict[str, Any]") -> ProgramAnswer:
        return _run(program, memory, None, {**given, **changed}, False)

    answer = ProgramAnswer(core, again)
    if error is not None:
        error.answer = answer  # type: ignore[attr-defined]
        raise error
    return answer


def _rewards(
    reward: Callable[[Any], Any],
    executor: Any,
    keep: Callable[[Any, Any], None],
) -> Callable[["list[Any]"], "list[Any]"]:
    """Several rewards. When one of them raises, `keep` gets those that were computed: they were paid for."""

    def value_of(end: Any, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except BaseException as error:
            if hasattr(error, "add_note"):
                error.add_note(f"in reward({end!r})")
            raise

    def rewards(ends: "list[Any]") -> "list[Any]":
        computes: "list[Callable[[], Any]]"
        if executor is None:
            computes = [functools.partial(reward, end) for end in ends]
        else:
            computes = [executor.submit(reward, end).result for end in ends]
        values: "list[Any]" = []
        failure: Optional[BaseException] = None
        for end, compute in zip(ends, computes):
            try:
                values.append(value_of(end, compute))
            except BaseException as error:
                failure = failure or error
                if executor is None or not isinstance(error, Exception):
                    break
                values.append(None)
        if failure is not None:
            for end, value in zip(ends, values):
                if isinstance(value, (int, float)) and value < math.inf:
                    keep(end, value)
            raise failure
        return values

    return rewards


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def _key(state: Any) -> str:
    """`repr`, with sets in order: that of a set depends on the process."""
    if isinstance(state, (frozenset, set)):
        return "{" + ", ".join(sorted(_key(item) for item in state)) + "}"
    if type(state) is tuple:
        return "(" + ", ".join(_key(item) for item in state) + ")"
    return repr(state)


def _one_of(value: Any, words: "tuple[str, ...]", what: str) -> str:
    if value not in words:
        raise _core.Error(f"{what} is {value!r}, allowed are {', '.join(map(repr, words))}")
    return str(value)

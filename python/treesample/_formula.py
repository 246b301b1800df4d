"""Formulas in conjunctive normal form, and the exact numbers of their solutions."""

from __future__ import annotations

import gzip
import math
import os
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple, Union

import numpy as np

from . import _core
from ._model import Model
from ._numbers import bytes_of, whole
from ._read import model_of

Weight = Union[int, float, str, Fraction, Decimal]
REDUCTIONS = ("all", "clauses", "none")
METHODS = ("auto", "search")


@dataclass(frozen=True)
class Count:
    """The count of a formula, or bounds of it. `Formula.count` makes it."""

    value: Union[int, Fraction, None]
    """The count, to the last digit: an int, or a Fraction if weights make it one. None if it is not finished."""
    satisfiable: Optional[bool]
    """None if it is not known. A count may be 0 by its weights although there are solutions."""
    log_lower: float
    log_upper: float
    """Certified bounds of the logarithm of the count (with negative weights: of its magnitude, if it is finished)."""
    stop: str
    """Why it ended: "exact" or what ended it."""
    seconds: float
    decisions: int
    width: int
    """Of the tree decomposition that guided the search."""

    @property
    def exact(self) -> bool:
        return self.value is not None

    @property
    def log10(self) -> "Tuple[float, float]":
        """Certified bounds of the logarithm to base 10."""
        low, high = self.log_lower / math.log(10.0), self.log_upper / math.log(10.0)
        return (low, low) if low == high else (math.nextafter(low, -math.inf), math.nextafter(high, math.inf))

    def __repr__(self) -> str:
        if self.value is None:
            return f"<treesample.Count: log10 in [{self.log10[0]:.6g}, {self.log10[1]:.6g}], not finished: {self.stop}>"
        text = str(self.value)
        return f"<treesample.Count: {text if len(text) <= 60 else f'about 10**{self.log10[0]:.6g}'}, exact>"


class Formula:
    """A formula in conjunctive normal form. Variables are numbers from 1 on, and -3 says that variable 3 is false.

    >>> import treesample as ts
    >>> f = ts.Formula([[1, 2], [-1, 3], [-2, -3, 4]])
    >>> f.count().value
    6
    >>> f.given(3).count().value                      # solutions in which variable 3 is true
    4
    >>> f.with_weights({1: "1/3", 2: "0.25"}).count().value
    Fraction(13, 12)
    >>> f.show(1, 2).count().value                    # states of these two that some solution has
    3
    >>> round(f.model().infer()["x3"][1], 4)          # marginals, samples, the best solution
    0.6667

    `weights` maps literals to numbers. They are exact: "1/3", "0.1", a Fraction or a Decimal, and a float is the decimal
    number that Python writes for it. Where only one literal of a variable has a weight w, from 0 to 1, the other one has
    1 - w; others have 1. Negative weights are carried exactly. `shown` are the variables whose states are counted,
    without it all; weights of others are left out.
    """

    def __init__(
        self,
        clauses: Iterable[Iterable[int]] = (),
        *,
        num_variables: Optional[int] = None,
        weights: Optional[Mapping[int, Weight]] = None,
        shown: Optional[Iterable[int]] = None,
    ) -> None:
        lists = [[_literal(literal, f"clause {i + 1}") for literal in clause] for i, clause in enumerate(clauses)]
        size = max((abs(literal) for clause in lists for literal in clause), default=0)
        if num_variables is not None:
            size = whole(num_variables, "num_variables")
            if not 0 <= size < 2**31:
                raise _core.Error(f"num_variables is {size}, allowed are numbers from 0 on")
        for i, clause in enumerate(lists):
            for literal in clause:
                _check_variable(literal, size, f"clause {i + 1}")
        self._core = _core.Formula(size, lists, _weight_texts(weights or {}, size), _variables(shown, size))

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Formula":
        """From a DIMACS file (.cnf, also .cnf.gz), with the lines of the model counting competition."""
        data = Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return cls.parse(data.decode("utf-8", "surrogateescape"), os.fspath(path))

    @classmethod
    def parse(cls, text: str, name: str = "formula") -> "Formula":
        """From a text in DIMACS; `name` stands in messages."""
        return cls._of_core(_core.parse_formula(text, name))

    @classmethod
    def of(cls, model: Model) -> "Formula":
        """Of a model of variables with two states whose tables over several variables are of zeros and ones."""
        return cls._of_core(_core.formula_of(model._graph))

    @classmethod
    def _of_core(cls, core: Any) -> "Formula":
        formula = cls.__new__(cls)
        formula._core = core
        return formula

    @property
    def num_variables(self) -> int:
        return int(self._core.num_variables)

    @property
    def clauses(self) -> "list[list[int]]":
        """Without those that always hold."""
        return list(self._core.clauses)

    @property
    def weights(self) -> "Dict[int, Fraction]":
        """By literal; those that are not given are left out."""
        return {literal: _fraction(text) for literal, text in self._core.weights.items()}

    @property
    def shown(self) -> "Optional[Tuple[int, ...]]":
        """None: all variables."""
        return None if self._core.shown is None else tuple(self._core.shown)

    def _changed(self, clauses: Any = None, weights: Any = None, shown: Any = None) -> "Formula":
        return Formula(
            self._core.clauses if clauses is None else clauses,
            num_variables=self.num_variables,
            weights=self.weights if weights is None else weights,
            shown=self._core.shown if shown is None else shown,
        )

    def given(self, *literals: int) -> "Formula":
        """The formula with these literals true."""
        return self._changed(clauses=[*self._core.clauses, *([literal] for literal in literals)])

    def with_weights(self, weights: Mapping[int, Weight]) -> "Formula":
        """The formula with these weights, and no others."""
        return self._changed(weights=weights)

    def show(self, *variables: int) -> "Formula":
        """The formula whose count is that of the states of these variables."""
        return self._changed(shown=variables)

    def count(
        self,
        *,
        time: Optional[float] = None,
        memory: Union[int, str, None] = None,
        threads: int = 0,
        reductions: str = "all",
        method: str = "auto",
        seed: int = 0,
        progress: Optional[Callable[["dict[str, Any]"], None]] = None,
    ) -> Count:
        """The number of solutions, or the sum of their weights, exactly.

        `time` is in seconds; without it, it counts until it is done. When the time or the `memory` (bytes, or such as
        "4G") is over, the result has certified bounds. `threads` 0: one per core; the count does not depend on them.
        `reductions`: "all", "clauses" (without looking for variables that others define) or "none". `method` "search"
        does without elimination of variables.
        """
        for name, word, allowed in (("reductions", reductions, REDUCTIONS), ("method", method, METHODS)):
            if word not in allowed:
                raise _core.Error(f"{name} is {word!r}, allowed are {', '.join(allowed)}")
        seconds = math.inf if time is None else float(time)
        found = self._core.count(
            seconds, bytes_of(memory), whole(threads, "threads"), reductions, method == "auto", whole(seed, "seed"), progress
        )
        value: Union[int, Fraction, None] = None
        if found.is_solved:
            denominator = whole_of(found.denominator)
            numerator = whole_of(found.numerator)
            value = numerator if denominator == 1 else Fraction(numerator, denominator)
        return Count(
            value, found.is_satisfiable, found.lower, found.upper, found.stop, found.seconds, found.decisions, found.width
        )

    def model(self) -> Model:
        """All of it as a model, with the variables x1, x2, ... of the states 0 and 1, for `infer`: marginals, samples,
        the best solution. `shown` is left out, and negative weights are refused: they have no logarithm."""
        return model_of(self._core.graph())

    def compile(
        self, path: Union[str, "os.PathLike[str]"], *, time: Optional[float] = None, memory: Union[int, str, None] = None
    ) -> None:
        """Writes a circuit of all variables: d-DNNF in a file .nnf, which has no weights and which other programs and
        `count_nnf` read, or .circuit, which `treesample infer` answers from."""
        self._core.compile(os.fspath(path), math.inf if time is None else float(time), bytes_of(memory))

    def text(self) -> str:
        """In DIMACS."""
        return str(self._core.text())

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        partial.write_text(self.text(), encoding="utf-8")
        partial.replace(target)

    def __getstate__(self) -> str:
        return self.text()

    def __setstate__(self, text: str) -> None:
        self._core = _core.parse_formula(text, "formula")

    def __repr__(self) -> str:
        return f"<treesample.Formula: {self.num_variables} variables, {self._core.num_clauses} clauses>"


def count_nnf(path: Union[str, "os.PathLike[str]"]) -> int:
    """The number of solutions of a formula that was compiled (.nnf), by `Formula.compile` or another
    compiler. It is checked that the circuit is decomposable and deterministic."""
    return whole_of(_core.count_nnf(Path(path).read_text(encoding="utf-8", errors="surrogateescape"), os.fspath(path)))


def whole_of(digits: str) -> int:
    """Of any number of digits: Python refuses to convert more than some thousands of them at once."""
    part = 4000
    if len(digits) <= part:
        return int(digits)
    if digits[0] == "-":
        return -whole_of(digits[1:])
    half = len(digits) // 2
    shift: int = 10**half
    return whole_of(digits[:-half]) * shift + whole_of(digits[-half:])


def _literal(literal: Any, where: str) -> int:
    if isinstance(literal, bool) or not isinstance(literal, (int, np.integer)):
        raise _core.Error(f"{where} has the literal {literal!r}, allowed are whole numbers")
    return int(literal)


def _fraction(weight: Any) -> Fraction:
    if isinstance(weight, str):
        above, _, below = weight.partition("/")
        return Fraction(Fraction(above) / Fraction(below or 1))
    return Fraction(repr(weight) if isinstance(weight, float) else weight)


def _check_variable(literal: int, size: int, where: str) -> None:
    if literal == 0 or abs(literal) > size:
        raise _core.Error(f"{where} has the literal {literal}, allowed are 1 to {size} and their negatives")


def _variables(shown: Optional[Iterable[int]], size: int) -> "Optional[list[int]]":
    if shown is None:
        return None
    variables = [whole(v, "a shown variable") for v in shown]
    for v in variables:
        if not 1 <= v <= size:
            raise _core.Error(f"shown has the variable {v}, allowed are 1 to {size}")
    return variables


def _weight_texts(weights: Mapping[int, Weight], size: int) -> "Dict[int, str]":
    exact: "Dict[int, Fraction]" = {}
    for literal, weight in weights.items():
        _check_variable(_literal(literal, "weights"), size, "weights")
        try:
            exact[int(literal)] = _fraction(weight)
            str(exact[int(literal)])  # Python writes numbers of some thousands of digits, not more
        except (TypeError, ValueError, ZeroDivisionError):
            raise _core.Error(f"the weight of {literal} is {weight!r}, allowed are numbers and fractions") from None
    for literal, number in list(exact.items()):
        if -literal in exact:
            continue
        if not 0 <= number <= 1:
            raise _core.Error(f"the weight of {literal} is {number}, no probability, so that {-literal} needs one, too")
        exact[-literal] = 1 - number
    return {literal: str(number) for literal, number in exact.items()}

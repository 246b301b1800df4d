"""What was handed in, as the library takes it."""

from __future__ import annotations

import decimal
import numbers
import sys
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core

if TYPE_CHECKING:
    from ._parts import Variable

Ordered = Union[bool, Sequence[float]]

UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}
SMALLEST = sys.float_info.min  # of the numbers that a double holds with all its digits


def doubles(values: npt.ArrayLike, what: str) -> "npt.NDArray[np.float64]":
    """The numbers as doubles. One that is not 0 must not become 0: what it belongs to would become impossible."""
    try:
        given = np.asarray(values)
        if given.dtype.kind == "c":
            raise TypeError("complex numbers have no order, allowed are real ones")
        array = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError, decimal.DecimalException) as error:
        raise _core.Error(f"{what}: cannot be read as numbers: {error}") from None
    if given.dtype.kind in "biu" or (given.dtype.kind == "f" and given.dtype.itemsize <= array.itemsize):
        return array
    for place in zip(*np.nonzero(np.abs(array) < SMALLEST)):
        number: Any = given[place]
        if (decimal.Decimal(str(number)) if isinstance(number, (str, bytes)) else number) != 0:
            raise _core.Error(
                f"{what}: {number} is too small for a number of 64 bits, allowed are 0 and sizes from "
                f"{SMALLEST:.3g} on; log_table takes logarithms"
            )
    return array


def factor_values(values: npt.ArrayLike, what: str) -> "npt.NDArray[np.float64]":
    """Numbers from 0 on."""
    array = doubles(values, what)
    wrong = array[~((array >= 0.0) & (array < np.inf))]
    if wrong.size:
        raise _core.Error(f"{what} has the value {wrong[0]}, allowed are numbers from 0 on; log_table takes logarithms")
    return array


def by_name(evidence: Any) -> "Mapping[str, Any]":
    """Evidence, which may be none."""
    if evidence is not None and not isinstance(evidence, Mapping):
        raise _core.Error(f"evidence is {evidence!r}, allowed is a mapping of names to states or weights")
    return evidence or {}


def whole(value: Any, what: str) -> int:
    """A count."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise _core.Error(f"{what} is {value!r}, allowed are whole numbers from 0 on")
    return int(value)


def bytes_of(memory: Union[int, str, None]) -> Optional[int]:
    """Of a size such as "4G"; none without one."""
    if memory is None:
        return None
    text = str(memory).strip()
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in UNITS else (text, "")
    if isinstance(memory, bool) or not number.isdigit() or int(number) == 0:
        raise _core.Error(f"memory is {memory!r}, allowed are bytes from 1 on, or texts such as '512M' and '4G'")
    return int(number) << UNITS.get(unit, 0)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


MOST_STATES = 1 << 20


def labels_of(states: Any, variable: str) -> "Tuple[Tuple[Any, ...], list[str]]":
    """The labels of so many states, or those that are given, and how they are written; numbers have no names."""
    if isinstance(states, (bool, np.bool_)) or not isinstance(states, (int, np.integer, Iterable)):
        raise _core.Error(f"the states of {variable!r} are {states!r}, allowed are a whole number or a list of labels")
    if isinstance(states, (int, np.integer)):
        if states > MOST_STATES:
            raise _core.Error(f"variable {variable!r} has {states} states, allowed are 1 to {MOST_STATES}")
        return tuple(range(int(states))), []
    labels = tuple(states)
    names = [str(label) for label in labels]
    if len(set(names)) != len(names):
        raise _core.Error(f"two states of variable {variable!r} have the same label: {names}")
    return labels, names


def rows(configurations: Any, variables: "Sequence[Variable]", what: str) -> "npt.NDArray[np.int32]":
    """Rows of one state per variable, from 0."""
    given = np.asarray(configurations)
    if given.ndim != 2 or given.shape[1] != len(variables):
        raise _core.Error(f"{what}: configurations are rows of one state per variable, of which there are {len(variables)}")
    if given.dtype.kind not in "iuf" and given.size:
        raise _core.Error(f"{what}: states are whole numbers, not {given.dtype}")
    most = np.array([len(v.states) for v in variables])
    is_wrong = ~((given >= 0) & (given < most)) | (given != np.floor(given)) if given.size else np.zeros((0, 0), bool)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        raise _core.Error(
            f"{what}: row {row} has the state {given[row, column]} of {variables[column].name!r}, allowed are whole "
            f"numbers from 0 to {most[column] - 1}"
        )
    return np.ascontiguousarray(given, dtype=np.int32)


def levels_of(ordered: Any, labels: "Tuple[Any, ...]", variable: str) -> "list[float]":
    """The numbers that ordered states stand for: given, or the labels where these are numbers, or their places."""
    if isinstance(ordered, (bool, np.bool_)):
        if not ordered:
            return []
        is_number = [isinstance(s, numbers.Real) and not isinstance(s, (bool, np.bool_)) for s in labels]
        levels = [float(s) for s in labels] if all(is_number) else [float(i) for i in range(len(labels))]
    elif isinstance(ordered, str) or not isinstance(ordered, Iterable):
        raise _core.Error(f"ordered is {ordered!r}, allowed are True, False and a list of numbers, one for each state")
    else:
        levels = doubles(list(ordered), f"the levels of {variable!r}").tolist()
        if not levels:
            raise _core.Error(f"the levels of {variable!r}: there are none, allowed is one for each state")
    problem: str = _core.levels_problem(levels, len(labels))
    if problem:
        raise _core.Error(f"the variable {variable!r} has {problem}")
    return levels

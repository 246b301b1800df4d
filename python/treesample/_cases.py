"""Many cases of evidence, answered together."""

from __future__ import annotations

import importlib
import math
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _core, _display
from ._options import unknown_name
from ._parts import Variable
from ._progress import logger, make_progress

if TYPE_CHECKING:
    from ._model import Model

Rows = Union[str, "os.PathLike[str]", Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]], Any]
Soft = List[Tuple[int, int, List[float]]]


class CaseAnswers(Mapping[str, "npt.NDArray[Any]"]):
    """The answers to many cases as a table: a mapping of the names of its columns to arrays, with a row for each case.

    The columns are "case" (its label), "log_z", "lower" and "upper" (certified), "exact", "conflict" (observations that
    contradict each other) and one for each probability, such as "P(lung=yes)"; NaN is what is not known.
    """

    def __init__(self, columns: "Dict[str, npt.NDArray[Any]]", asked: "List[Tuple[Variable, ...]]") -> None:
        self._columns = columns
        self._asked = asked

    def __getitem__(self, name: str) -> "npt.NDArray[Any]":
        if name not in self._columns:
            raise unknown_name("column", name, self._columns)
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def probabilities(self, *names: str) -> "npt.NDArray[np.float64]":
        """Of one variable, or jointly of several that were asked for: a row for each case, then an axis per variable."""
        for asked in self._asked:
            if tuple(v.name for v in asked) == names:
                shape = (-1, *(len(v.states) for v in asked))
                result: "npt.NDArray[np.float64]" = np.stack([self._columns[name] for name in column_names(asked)], 1)
                return result.reshape(shape)
        known = [", ".join(v.name for v in asked) for asked in self._asked]
        raise unknown_name("query", ", ".join(names), known)

    def to_pandas(self) -> Any:
        """A data frame with one row per case."""
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame(dict(self._columns))

    def __repr__(self) -> str:
        return f"<treesample.CaseAnswers: {len(self._columns['log_z'])} cases, columns {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        shown = {name: column for name, column in self._columns.items() if name not in ("lower", "upper")}
        return _display.columns_html(shown, f"{len(self._columns['log_z'])} cases")


def column_names(asked: "Tuple[Variable, ...]") -> "List[str]":
    """P(a=x, b=y) for all joint states, the last variable changing fastest."""
    names = [""]
    for variable in asked:
        names = [f"{before}{', ' if before else ''}{variable.name}={s}" for before in names for s in variable.states]
    return [f"P({name})" for name in names]


def is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value in ("", "?", "NA")):
        return True
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")  # of pandas


class _Reader:
    """Cells of one variable, each label looked up once."""

    def __init__(self, model: Model, variable: Variable) -> None:
        self._model = model
        self._variable = variable
        self._known: "Dict[Any, int]" = {}

    def state(self, value: Any, row: int) -> int:
        if isinstance(value, np.generic):
            value = value.item()
        try:
            return self._known[value]
        except KeyError:
            pass
        is_label = value in self._variable.states or str(value) in [str(s) for s in self._variable.states]
        if not is_label and is_missing(value):
            state = -1
        else:
            if isinstance(value, float) and value.is_integer() and not is_label:
                value = int(value)  # a column of numbers in which some are missing
            try:
                state = self._model._state(self._variable, value)
            except _core.Error as error:
                raise _core.Error(f"case {row + 1}: {error}") from None
        self._known[value] = state
        return state


def read_rows(model: Model, rows: Rows) -> "Tuple[Optional[List[Any]], List[int], npt.NDArray[np.int32], Soft]":
    """Labels, variables by column, states (-1 where nothing is known), and weights of states."""
    if isinstance(rows, (str, os.PathLike)):
        named, states, soft = _core.read_cases(model._graph, os.fspath(rows))
        seen = [v for v in range(len(model)) if bool((states[:, v] >= 0).any())]
        return named, seen, np.ascontiguousarray(states[:, seen]), soft
    columns: "Dict[str, List[Any]]"
    if hasattr(rows, "columns") and hasattr(rows, "__getitem__"):  # a data frame
        columns = {str(name): list(rows[name]) for name in rows.columns}
    elif isinstance(rows, Mapping):
        columns = {name: list(values) for name, values in rows.items()}
    else:
        listed = list(rows)
        for i, each in enumerate(listed):
            if not isinstance(each, Mapping):
                raise _core.Error(f"case {i + 1} is {each!r}, allowed is a mapping of names to states")
        names = list(dict.fromkeys(name for each in listed for name in each))
        columns = {name: [each.get(name) for each in listed] for name in names}
    labels: "Optional[List[Any]]" = columns.pop("case") if "case" in columns and "case" not in model._by_name else None
    lengths = {len(values) for values in columns.values()} | ({len(labels)} if labels is not None else set())
    if len(lengths) > 1:
        raise _core.Error(f"cases: columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
    count = lengths.pop() if lengths else len(rows) if isinstance(rows, Sequence) else 0
    variables = [model[name] for name in columns]
    states = np.full((count, len(variables)), -1, dtype=np.int32)
    weights: Soft = []
    for c, (variable, values) in enumerate(zip(variables, columns.values())):
        reader = _Reader(model, variable)
        for r, value in enumerate(values):
            if isinstance(value, (Mapping, list, tuple, np.ndarray)):
                _, found = model._seen({variable.name: value})
                weights.append((r, variable.index, found[variable.index]))
            else:
                states[r, c] = reader.state(value, r)
    weights.sort(key=lambda each: each[0])
    return labels, [v.index for v in variables], states, weights


def infer_cases(
    model: Model,
    problem: Any,
    rows: Rows,
    query: "Sequence[Union[str, Sequence[str]]]",
    keywords: "List[Tuple[str, str]]",
    progress: Any,
) -> Any:
    """Of `Model.infer_cases`."""
    labels, columns, states, soft = read_rows(model, rows)
    names = [[asked] if isinstance(asked, str) else list(asked) for asked in query]
    asked = [tuple(model[name] for name in each) for each in names] or [(v,) for v in model.variables]
    width = sum(math.prod(len(v.states) for v in each) for each in asked)
    show = make_progress(progress)
    try:
        log_z, lower, upper, exact, probabilities, conflicts = _core.solve_cases(
            problem, columns, states, soft, keywords, names, width, show, _core.Raised()
        )
    finally:
        if show is not None:
            show.end()
    logger.info("infer_cases: %d of %d cases", len(log_z), len(states))
    count = len(log_z)  # fewer where the time was over
    table: "Dict[str, npt.NDArray[Any]]" = {}
    if labels is not None:
        table["case"] = np.array(labels[:count], dtype=object)
    table.update(log_z=log_z, lower=lower, upper=upper, exact=exact.astype(bool))
    table["conflict"] = np.array(conflicts, dtype=object)
    at = 0
    for each in asked:
        for name in column_names(each):
            table[name] = probabilities[:, at]
            at += 1
    answers = CaseAnswers(table, asked)
    if hasattr(rows, "columns") and hasattr(rows, "__getitem__"):
        frame = answers.to_pandas()
        given: Any = rows
        frame.index = given.index[:count]
        return frame
    return answers



"""Answers from files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Union

from . import _core
from ._answer import Answer
from ._parts import Variable

if TYPE_CHECKING:
    from ._parts import State

VERSION = 1  # of the format


def load_answer(path: Union[str, "os.PathLike[str]"]) -> Answer:
    """An answer that `Answer.save` or the program (`treesample infer --json`) wrote.

    It has all results, but no distribution to draw from. Labels of states are texts, or 0, 1, ... where these are the
    names of a variable's states.
    """
    name = os.fspath(path)
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise _core.Error(f"{name}: is no answer of treesample: {error}") from None
    if not isinstance(values, dict) or values.get("format") != "treesample answer":
        raise _core.Error(f"{name}: is no answer of treesample")
    if values.get("version") != VERSION:
        raise _core.Error(f"{name}: is an answer of version {values.get('version')}, this module reads {VERSION}")
    missing = [row for row, *_ in _core.results() if row not in values]
    if missing:
        raise _core.Error(f"{name}: is not whole: it has no {missing[0]!r}")
    variables = []
    for index, known in enumerate(values["variables"]):
        texts: "list[State]" = list(known["states"])
        numbers: "list[State]" = list(range(len(texts)))
        labels = numbers if texts == [str(number) for number in numbers] else texts
        variables.append(Variable(known["name"], tuple(labels), index))
    return Answer(None, values, tuple(variables))

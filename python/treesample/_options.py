"""The table of options as keywords."""

from __future__ import annotations

import difflib
from typing import Any, Iterable, Mapping

import numpy as np

from . import _core


def infer_options() -> "dict[str, str]":
    """The keywords of `Model.infer` beside those in its signature, with their help.

    >>> import treesample as ts
    >>> "gap" in ts.infer_options()
    True
    """
    return {name.replace("-", "_"): text for name, text, *_ in _core.options()}


def suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def as_text(keywords: Mapping[str, Any]) -> "list[tuple[str, str]]":
    """Keywords as the table of options takes them."""
    known = infer_options()
    result = []
    for name, value in keywords.items():
        if name not in known:
            raise TypeError(f"infer() has no keyword {name!r}{suggestion(name, known)}")
        if value is None:
            continue
        if isinstance(value, (bool, np.bool_)):
            text = "yes" if value else "no"
        elif isinstance(value, (float, np.floating)):
            text = repr(float(value))
        else:
            text = str(value)
        result.append((name.replace("_", "-"), text))
    return result

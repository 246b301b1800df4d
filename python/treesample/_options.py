"""The table of options as keywords."""

from __future__ import annotations

import difflib
import inspect
import warnings
from typing import Any, Callable, Iterable, Mapping

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


class UnknownName(_core.Error, KeyError):
    """A name that the model or the answer does not have."""

    def __str__(self) -> str:
        return str(self.args[0])


def unknown_name(what: str, name: Any, known: Iterable[str]) -> UnknownName:
    """An error that says which name was probably meant."""
    error = UnknownName(f"there is no {what} {name!r}{suggestion(name, known)}")
    error.code = "argument"
    return error


def check_keywords(method: Callable[..., Any], keywords: Iterable[str]) -> None:
    """Refuses those that neither the table of options nor the signature of a method has."""
    options = infer_options()
    parameters = inspect.signature(method).parameters.values()
    known = [*options, *(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)]
    for name in keywords:
        if name not in options:
            raise TypeError(f"{method.__name__}() has no keyword {name!r}{suggestion(name, known)}")


def renamed(keywords: "dict[str, Any]", has_leaf: bool) -> "dict[str, Any]":
    """Takes `prior`, the name that `leaf` had in earlier versions."""
    if "prior" not in keywords:
        return keywords
    if has_leaf:
        raise TypeError("'prior' is the old name of 'leaf': give one of both")
    warnings.warn("the keyword 'prior' is called 'leaf' now", FutureWarning, stacklevel=3)
    return {"leaf" if name == "prior" else name: value for name, value in keywords.items()}


def as_text(keywords: Mapping[str, Any]) -> "list[tuple[str, str]]":
    """Keywords as the table of options takes them."""
    result = []
    for name, value in keywords.items():
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

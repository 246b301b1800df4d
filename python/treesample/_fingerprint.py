"""What a journal knows functions by: a change that can be seen makes another text of them."""

from __future__ import annotations

import decimal
import dis
import fractions
import functools
import hashlib
import inspect
import types
from typing import Any, Callable, Iterable

import numpy as np

PLAIN = (type(None), bool, int, float, complex, str, bytes, decimal.Decimal, fractions.Fraction)


def fingerprint(functions: Iterable[Callable[..., Any]]) -> str:
    """Changes with the text of a function, with its defaults, and with the constants that it encloses, that partial
    gives it, or that are attributes of its object. What globals, lists and dictionaries hold is not seen, nor what the
    function itself changes: a count of its calls makes no other function of it."""
    digest = hashlib.sha256()
    for function in functions:
        digest.update(_function(function, set()).encode())
    return digest.hexdigest()


def _function(function: Any, seen: "set[int]") -> str:
    if id(function) in seen:
        return "the same again"
    seen.add(id(function))
    if isinstance(function, functools.partial):
        given = [_value(v, seen) for v in function.args]
        named = [f"{name}={_value(v, seen)}" for name, v in sorted(function.keywords.items())]
        return f"partial({', '.join([_function(function.func, seen), *given, *named])})"
    if inspect.ismethod(function):
        return " ".join([_function(function.__func__, seen), *_attributes(function.__self__, seen)])
    if not inspect.isfunction(function):
        inside = [getattr(function, "__wrapped__", None), getattr(type(function), "__call__", None)]
        texts = [_function(one, seen) for one in inside if inspect.isfunction(one)]
        name = getattr(function, "__qualname__", type(function).__qualname__)
        return " ".join([name, *texts, *_attributes(function, seen)])
    return " ".join([_text(function), *_enclosed(function, seen)])


def _text(function: types.FunctionType) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return _code(function.__code__)


def _code(code: types.CodeType) -> str:
    """Where there is no source: of what was typed in or made by exec."""
    constants = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_name} {code.co_code.hex()} {code.co_names} {constants}"


def _enclosed(function: types.FunctionType, seen: "set[int]") -> "list[str]":
    """Defaults, and what is enclosed but for what the function itself changes."""
    texts = [_value(value, seen) for value in function.__defaults__ or ()]
    texts += [f"{name}={_value(value, seen)}" for name, value in sorted((function.__kwdefaults__ or {}).items())]
    own = {step.argval for step in dis.get_instructions(function.__code__) if step.opname == "STORE_DEREF"}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            texts += [] if name in own else [f"{name}={_value(cell.cell_contents, seen)}"]
        except ValueError:  # nothing is in it yet
            pass
    return texts


def _attributes(owner: Any, seen: "set[int]") -> "list[str]":
    """Of an object, but for those that its methods set after it was made."""
    if inspect.isclass(owner) or not hasattr(owner, "__dict__"):
        return []
    methods = inspect.getmembers(type(owner), inspect.isfunction)
    later = [method for name, method in methods if name not in ("__init__", "__post_init__", "__new__")]
    own = {step.argval for method in later for step in dis.get_instructions(method) if step.opname == "STORE_ATTR"}
    return [f"{name}={_value(value, seen)}" for name, value in sorted(vars(owner).items()) if name not in own]


def _value(value: Any, seen: "set[int]") -> str:
    kind = type(value).__qualname__
    if isinstance(value, PLAIN):
        return f"{kind} {value!r}"
    if isinstance(value, np.generic):
        return f"{value.dtype} {value.item()!r}"
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"{value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return f"{kind} ({', '.join(_value(each, seen) for each in value)})"
    if isinstance(value, frozenset):
        return f"{kind} ({', '.join(sorted(_value(each, seen) for each in value))})"
    return _function(value, seen) if callable(value) and not inspect.isclass(value) else kind

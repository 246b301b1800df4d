"""log Z for JAX: `log_z(f)` is a function of tables, with f of `Model.log_z_function`. Needs jax."""

from __future__ import annotations

import importlib
from typing import Any, Callable

import numpy as np

from ._kept import LogZFunction

jax: Any = importlib.import_module("jax")


def log_z(function: LogZFunction) -> "Callable[..., Any]":
    """Takes the logarithms of the parameters, in the order of `function.scopes`; may be differentiated and jitted."""

    def outside(*tables: Any) -> Any:
        value, gradients = function([np.asarray(table, dtype=float) for table in tables])
        return (np.asarray(value, tables[0].dtype), *(g.astype(t.dtype) for g, t in zip(gradients, tables)))

    def both(*tables: Any) -> Any:
        shapes = (jax.ShapeDtypeStruct((), tables[0].dtype), *(jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tables))
        return jax.pure_callback(outside, shapes, *tables)

    @jax.custom_vjp  # type: ignore[misc]
    def value_of(*tables: Any) -> Any:
        return both(*tables)[0]

    def forward(*tables: Any) -> Any:
        value, *gradients = both(*tables)
        return value, gradients

    value_of.defvjp(forward, lambda gradients, above: tuple(above * g for g in gradients))
    result: "Callable[..., Any]" = value_of
    return result

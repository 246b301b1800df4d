"""Pictures by matplotlib, which is looked for when one is drawn. Each function returns the axes, or a list of them."""

from __future__ import annotations

import importlib
import math
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _core

MOST_VARIABLES = 12
BLUE, ORANGE = "#3b7ec2", "#c2410c"


def _axes(ax: Any, count: int = 1, size: "tuple[float, float]" = (6.0, 3.5)) -> "list[Any]":
    """Those that were given, or new ones: several side by side, at most four in a row."""
    if ax is not None:
        return [ax]
    pyplot = importlib.import_module("matplotlib.pyplot")
    wide = min(count, 4)
    rows = math.ceil(count / wide)
    figure, axes = pyplot.subplots(rows, wide, figsize=(size[0] * (1 if wide == 1 else 0.55 * wide), size[1] * rows),
                                   squeeze=False, layout="constrained")
    flat = list(axes.ravel())
    for spare in flat[count:]:
        spare.remove()
    return flat[:count]


def plot_marginals(marginals: Any, names: Sequence[str] = (), ax: Any = None, seen: "Mapping[str, Any]" = {}) -> Any:
    """Probabilities of variables as bars, with one standard error to each side where they have one."""
    shown = list(names) or [name for name in marginals if name not in seen][:MOST_VARIABLES]
    if not shown:
        raise _core.Error("plot: there are no marginals to draw")
    if ax is not None and len(shown) > 1:
        raise _core.Error(f"plot: ax is one picture, and {len(shown)} variables are asked for")
    axes = _axes(ax, len(shown), (4.0 if len(shown) > 1 else 6.0, 2.6))
    for name, one in zip(shown, axes):
        row = marginals[name]
        labels, values = [str(state) for state in row], list(row.values())
        error = marginals.std_error(name)
        one.barh(range(len(values)), values, xerr=error or None, color=BLUE, capsize=3)
        one.set_yticks(range(len(values)), labels)
        one.invert_yaxis()
        one.set_xlim(0, 1)
        one.set_xlabel("probability")
        one.set_title(f"{name} = {seen[name]} (observed)" if name in seen else name)
    return axes[0] if len(axes) == 1 else axes


def plot_answer(answer: Any, *names: str, ax: Any = None) -> Any:
    """The marginals of the variables that are named, else of those that were asked for, else of the first ones."""
    asked = [name for query in answer._result("queries") or [] for name in query["variables"]]
    return plot_marginals(answer.marginals, names or tuple(dict.fromkeys(asked)), ax, answer._result("evidence") or {})


def plot_slices(slices: Any, *names: str, ax: Any = None) -> Any:
    """The probabilities of the states of each variable over time, one above the other."""
    shown = list(names) or list(slices)[:MOST_VARIABLES]
    if ax is not None and len(shown) > 1:
        raise _core.Error(f"plot: ax is one picture, and {len(shown)} variables are asked for")
    axes = _axes(ax, len(shown), (7.0, 2.6))
    for name, one in zip(shown, axes):
        values = slices[name]
        one.stackplot(np.arange(len(values)), values.T, labels=[str(s) for s in slices.states(name)])
        one.set_ylim(0, 1)
        one.margins(x=0)
        one.set_xlabel("slice")
        one.set_title(name)
        one.legend(loc="upper right", fontsize="small")
    return axes[0] if len(axes) == 1 else axes


def plot_fit(fit: Any, ax: Any = None) -> Any:
    """The log likelihood over iterations."""
    (one,) = _axes(ax)
    one.plot(range(len(fit.log_likelihoods)), fit.log_likelihoods, color=BLUE, marker="." if fit.iterations < 60 else None)
    one.set_xlabel("iteration")
    one.set_ylabel("log likelihood (nats)")
    return one


def plot_comparison(comparison: Any, measure: Optional[str] = None, ax: Any = None) -> Any:
    """The mean error of each method over the budgets, with its standard error."""
    (one,) = _axes(ax)
    measure = measure or comparison.measure
    for method in comparison.methods:
        points = [(budget, comparison.mean(method, budget, measure)) for budget in comparison.budgets]
        drawn = [(b, mean, error) for b, (mean, error) in points if math.isfinite(mean)]
        if drawn:
            budgets, means, errors = zip(*drawn)
            one.errorbar(budgets, means, yerr=errors, marker="o", capsize=3, label=method)
    one.set_xscale("log")
    if all(bool((line.get_ydata() > 0).all()) for line in one.get_lines() if len(line.get_ydata())):
        one.set_yscale("log")
    one.set_xlabel("budget: reward evaluations")
    one.set_ylabel(measure.replace("log_z", "log Z").replace("_", " "))
    if one.get_legend_handles_labels()[1]:
        one.legend()
    return one

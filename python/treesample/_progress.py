"""How a run goes, while it goes: a bar by the conventions of tqdm (total, n, postfix), with tqdm or without.

Runs tell reports, which are dicts. `make_progress` makes of what the caller gave for `progress` a callable of reports
with `end()`: a bar of tqdm where that is installed, a line of our own in a terminal or a notebook where it is not, or
the caller's own callable, class of bars or bar. The logger "treesample" hears of runs in any case.
"""

from __future__ import annotations

import html
import importlib
import importlib.util
import logging
import math
import sys
from typing import Any, Callable, Optional, Union

from . import _core

Given = Union[bool, None, Callable[["dict[str, Any]"], None], Any]

logger = logging.getLogger("treesample")
logger.addHandler(logging.NullHandler())


class Pace:
    """Calls per second in the last half of the time: the values of a journal come all at once, and say nothing about
    the calls that are still to come."""

    def __init__(self) -> None:
        self._past = [(0.0, 0)]  # seconds, calls

    def __call__(self, report: "dict[str, Any]") -> float:
        seconds, calls = report["seconds"], report["calls"]
        while len(self._past) > 1 and self._past[1][0] <= seconds / 2:
            self._past.pop(0)
        begin, before = self._past[0]
        self._past.append((seconds, calls))
        return float((calls - before) / (seconds - begin)) if seconds > begin else 0.0


def known(report: "dict[str, Any]") -> "list[str]":
    """What is known so far."""
    parts = []
    if report.get("lower") is not None and report.get("upper") is not None:
        lower, upper = _core.decimal_bound(report["lower"], -1.0), _core.decimal_bound(report["upper"], 1.0)
        parts.append(f"log Z in [{lower}, {upper}]")
    else:
        if report.get("lower") is not None:
            parts.append(f"log Z at least {_core.decimal_bound(report['lower'], -1.0)}")
        if report.get("estimate") is not None:
            parts.append(f"log Z about {report['estimate']:.6g}")
    if report.get("best") is not None:
        parts.append(f"best {report['best']:.6g}")
    return parts


def line_of(report: "dict[str, Any]", pace: float = 0.0, most_calls: Optional[int] = None) -> str:
    parts = [f"{report['seconds']:6.1f} s", str(report["phase"])]
    calls = report["calls"]
    if calls > 0:
        parts.append(f"{calls} calls, {pace:.3g} per second")
    parts += known(report)
    if report["share"] is not None:
        parts.append(f"{100 * report['share']:.0f} %")
    elif most_calls is not None and 0 < calls <= most_calls and pace > 0:
        parts.append(f"about {(most_calls - calls) / pace:.0f} s left")
    return "  ".join(parts)


class TerminalProgress:
    """A line that is written over."""

    def __init__(self, most_calls: Optional[int] = None) -> None:
        self.most_calls = most_calls
        self._pace = Pace()
        self._width = 0

    def __call__(self, report: "dict[str, Any]") -> None:
        line = line_of(report, self._pace(report), self.most_calls)
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def end(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class NotebookProgress:
    """An output of the cell that changes, and is empty in the end."""

    def __init__(self, display: Any, most_calls: Optional[int] = None) -> None:
        self.most_calls = most_calls
        self._display = display
        self._pace = Pace()
        self._handle: Optional[Any] = None

    def __call__(self, report: "dict[str, Any]") -> None:
        self._show(f"<pre>{html.escape(line_of(report, self._pace(report), self.most_calls))}</pre>")

    def end(self) -> None:
        if self._handle is not None:
            self._show("")

    def _show(self, text: str) -> None:
        data = {"text/html": text, "text/plain": ""}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class BarProgress:
    """A bar of tqdm, or of a class like it: calls of so many, the finished share in per cent, or seconds."""

    def __init__(self, make: Callable[..., Any], most_calls: Optional[int] = None, bar: Any = None) -> None:
        self._make = make
        self._most_calls = most_calls
        self._bar = bar
        self._is_own = bar is None

    def __call__(self, report: "dict[str, Any]") -> None:
        share, calls = report.get("share"), report.get("calls") or 0
        if self._bar is None:
            total, unit = (100, "%") if share is not None else (None, "s")
            if self._most_calls is not None and math.isfinite(self._most_calls):
                total, unit = int(self._most_calls), "call"
            self._bar = self._make(total=total, unit=unit, leave=False)
        bar = self._bar
        if self._most_calls is not None or calls:
            now: float = calls
        elif share is not None and bar.total is not None:
            now = round(share * bar.total, 1)
        else:
            now = round(report["seconds"], 1)
        bar.set_description_str(str(report["phase"]), refresh=False)
        bar.set_postfix_str(", ".join(known(report)), refresh=False)
        bar.update(max(0, now - bar.n))

    def end(self) -> None:
        if self._bar is not None and self._is_own:
            self._bar.close()


class Told:
    """A callable of the caller."""

    def __init__(self, call: Callable[["dict[str, Any]"], None]) -> None:
        self._call = call

    def __call__(self, report: "dict[str, Any]") -> None:
        self._call(report)

    def end(self) -> None:
        pass


def _kernel() -> bool:
    """Whether this is a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _own(most_calls: Optional[int]) -> Any:
    """By where we are and what there is."""
    is_notebook = _kernel()
    if importlib.util.find_spec("tqdm") is not None and (not is_notebook or importlib.util.find_spec("ipywidgets")):
        return BarProgress(importlib.import_module("tqdm.notebook" if is_notebook else "tqdm").tqdm, most_calls)
    if is_notebook:
        return NotebookProgress(importlib.import_module("IPython.display").display, most_calls)
    return TerminalProgress(most_calls)


class _Logged:
    """Tells the logger of each phase as it begins, at the level DEBUG."""

    def __init__(self, shown: Any) -> None:
        self._shown = shown
        self._phase = ""

    def __call__(self, report: "dict[str, Any]") -> None:
        if report["phase"] != self._phase:
            self._phase = report["phase"]
            logger.debug("%s at %.1f s%s", self._phase, report["seconds"], "".join(f", {t}" for t in known(report)))
        if self._shown is not None:
            self._shown(report)

    def end(self) -> None:
        if self._shown is not None:
            self._shown.end()


def make_progress(given: Given, most_calls: Optional[int] = None) -> Any:
    """None where nobody wants to know."""
    shown: Any = None
    if given is True:
        shown = _own(most_calls)
    elif isinstance(given, type) and hasattr(given, "set_postfix_str"):  # tqdm, or a class like it
        shown = BarProgress(given, most_calls)
    elif hasattr(given, "set_postfix_str"):  # a bar
        shown = BarProgress(type(given), most_calls, given)
    elif given:
        shown = Told(given)
    return _Logged(shown) if logger.isEnabledFor(logging.DEBUG) else shown

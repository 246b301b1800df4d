"""How a run goes, while it goes: one line that is written over."""

from __future__ import annotations

import html
import importlib
import sys
from typing import Any, Optional

from . import _core


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


def line_of(report: "dict[str, Any]", pace: float = 0.0, most_calls: Optional[int] = None) -> str:
    parts = [f"{report['seconds']:6.1f} s", str(report["phase"])]
    calls = report["calls"]
    if calls > 0:
        parts.append(f"{calls} calls, {pace:.3g} per second")
    if report["lower"] is not None and report["upper"] is not None:
        lower, upper = _core.decimal_bound(report["lower"], -1.0), _core.decimal_bound(report["upper"], 1.0)
        parts.append(f"log Z in [{lower}, {upper}]")
    else:
        if report["lower"] is not None:
            parts.append(f"log Z at least {_core.decimal_bound(report['lower'], -1.0)}")
        if report["estimate"] is not None:
            parts.append(f"log Z about {report['estimate']:.6g}")
    if report["best"] is not None:
        parts.append(f"best {report['best']:.6g}")
    if report["share"] is not None:
        parts.append(f"{100 * report['share']:.0f} %")
    elif most_calls is not None and 0 < calls <= most_calls and pace > 0:
        parts.append(f"about {(most_calls - calls) / pace:.0f} s left")
    return "  ".join(parts)


class TerminalProgress:
    most_calls: Optional[int] = None  # of the run

    def __init__(self) -> None:
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

    most_calls: Optional[int] = None

    def __init__(self, display: Any) -> None:
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


def make_progress() -> Any:
    """By where we are: a kernel of Jupyter, or else a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None and hasattr(shell, "kernel"):
        return NotebookProgress(importlib.import_module("IPython.display").display)
    return TerminalProgress()

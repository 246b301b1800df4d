"""How a run goes, while it goes: one line that is written over."""

from __future__ import annotations

import html
import sys
from typing import Any, Optional


def line_of(report: "dict[str, Any]") -> str:
    parts = [f"{report['seconds']:6.1f} s", str(report["phase"])]
    if report["lower"] is not None and report["upper"] is not None:
        parts.append(f"log Z in [{report['lower']:.6g}, {report['upper']:.6g}]")
    elif report["estimate"] is not None:
        parts.append(f"log Z about {report['estimate']:.6g}")
    if report["share"] is not None:
        parts.append(f"{100 * report['share']:.0f} %")
    return "  ".join(parts)


class TerminalProgress:
    def __init__(self) -> None:
        self._width = 0

    def __call__(self, report: "dict[str, Any]") -> None:
        line = line_of(report)
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def end(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class NotebookProgress:
    """An output of the cell that changes, and is empty in the end."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Optional[Any] = None

    def __call__(self, report: "dict[str, Any]") -> None:
        self._show(f"<pre>{html.escape(line_of(report))}</pre>")

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
        from IPython.display import display  # type: ignore[import]

        return NotebookProgress(display)
    return TerminalProgress()

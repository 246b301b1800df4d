"""Models, answers, sessions and what else is looked at in a notebook, as HTML. Text of a model is always escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence

from . import _core

if TYPE_CHECKING:
    from ._model import Model

MOST_ROWS = 30
MOST_STATES = 12


def text(value: Any) -> str:
    return html.escape(str(value))


def paragraphs(lines: "Iterable[str]") -> str:
    return "".join(f"<p>{text(line)}</p>" for line in lines)


def rest_of(count: int, noun: str) -> str:
    more = count - MOST_ROWS
    return f"<p>… and {more} more {noun}{'s' * (more != 1)}</p>" if more > 0 else ""


def table(head: Sequence[str], rows: "Sequence[Sequence[Any]]", noun: str = "row") -> str:
    """Its first rows; cells that are markup already are of the class Markup."""
    cells = "".join(
        "<tr>" + "".join(f"<td>{c if isinstance(c, Markup) else text(c)}</td>" for c in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    first = "<tr>" + "".join(f"<th>{text(name)}</th>" for name in head) + "</tr>"
    return f"<table><thead>{first}</thead><tbody>{cells}</tbody></table>{rest_of(len(rows), noun)}"


class Markup(str):
    """Text that is HTML already."""


def bars(probabilities: "Mapping[Any, float]", error: Optional[float] = None, seen: Any = None) -> Markup:
    """A bar for each state, with its number; the state that was seen is marked."""
    doubt = f" ± {error:.2g}" if error else ""
    lines = [
        f"<div style='display:flex;gap:.6em;align-items:center'><span style='min-width:5em'>"
        f"{'<b>' + text(state) + '</b>' if state == seen else text(state)}</span>"
        f"<span style='width:8em;height:.7em;background:rgba(128,128,128,.25);display:inline-block'>"
        f"<span style='height:.7em;display:block;background:{'#c77d1e' if state == seen else '#4a86c8'};"
        f"width:{100 * min(1.0, max(0.0, p)):.1f}%'></span></span><span>{p:.4f}{doubt}</span></div>"
        for state, p in list(probabilities.items())[:MOST_STATES]
    ]
    more = len(probabilities) - MOST_STATES
    return Markup("".join(lines) + (f"<div>… {more} more</div>" if more > 0 else ""))


def marginals_table(marginals: Any, names: "Optional[Sequence[str]]" = None, seen: "Mapping[str, Any]" = {}) -> str:
    shown = [name for name in (marginals if names is None else names) if name in marginals]
    rows = [(name, bars(marginals[name], marginals.std_error(name), seen.get(name))) for name in shown[:MOST_ROWS]]
    return table(["variable", "probabilities"], rows) + rest_of(len(shown), "variable") if shown else ""


def answer_html(answer: Any) -> str:
    """What was asked first, then all marginals."""
    states = answer._result("evidence") or {}
    given = [f"given {', '.join(f'{name} = {state}' for name, state in states.items())}"] if states else []
    asked = ""
    for query in answer._result("queries") or []:
        names = query["variables"]
        rows = {", ".join(str(row["states"][name]) for name in names): row["probability"] for row in query["table"]}
        asked += f"<h4>{text(', '.join(names))}</h4>{bars(rows)}"
    about = [repr(answer)[1:-1], *given, answer._result("method")]
    where = f"marginals: {answer._result('marginals_from') or 'none'}"
    return paragraphs(about) + asked + paragraphs([where]) + marginals_table(answer.marginals, seen=states)


def session_html(session: Any) -> str:
    given = [f"given {', '.join(f'{name} = {state}' for name, state in session.evidence.items())}"]
    return paragraphs([repr(session)[1:-1], *(given if session.evidence else [])]) + marginals_table(
        session.marginals, seen=session.evidence
    )


def model_html(self: "Model") -> str:
    parents: "dict[int, str]" = {}
    is_network = not self._functions and not _core.network_problem(self._graph)
    if is_network:
        for factor in range(self._graph.num_factors):
            *before, child = self._graph.scope(factor)
            parents[child] = ", ".join(self._variables[v].name for v in before)
    seen = self.evidence
    head = ["variable", "states", *(["parents"] if is_network else []), "observed"]
    rows = []
    for v in self._variables[: MOST_ROWS + 1]:
        labels = ", ".join(map(str, v.states[:MOST_STATES])) + (" …" if len(v.states) > MOST_STATES else "")
        rows.append([v.name, labels, *([parents.get(v.index, "")] if is_network else []), seen.get(v.name, "")])
    kind = ["a Bayesian network"] if is_network else []
    return paragraphs([repr(self)[1:-1], *kind]) + table(head, rows[:MOST_ROWS]) + rest_of(len(self), "variable")


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def columns_html(columns: "Mapping[str, Any]", about: str) -> str:
    """A mapping of names to columns of one length."""
    names = list(columns)[:12]
    count = len(columns[names[0]]) if names else 0
    rows = [[_cell(columns[name][i]) for name in names] for i in range(min(count, MOST_ROWS))]
    return paragraphs([about]) + table(names, rows) + rest_of(count, "row")


class Page:
    """A page in a frame of its own: in a notebook it is alive, evidence can be clicked in it."""

    def __init__(self, page: str, height: int) -> None:
        self._page, self._height = page, height

    def _repr_html_(self) -> str:
        return (
            f"<iframe srcdoc=\"{html.escape(self._page)}\" style='width:100%;border:0' height='{self._height}' "
            f"sandbox='allow-scripts allow-downloads'></iframe>"
        )

    def __repr__(self) -> str:
        return f"<treesample.Page of {len(self._page)} characters>"


def show_page(answer: Any, height: int = 900) -> Page:
    """The page of `to_html` in a frame of a notebook: its graph, its tables, and evidence that can be clicked."""
    return Page(answer.to_html(), height)

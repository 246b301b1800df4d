"""A run of `infer`: calls of functions that are paid for, progress, and what ends it."""

from __future__ import annotations

import concurrent.futures
import hashlib
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _core
from ._answer import Answer
from ._options import as_text

if TYPE_CHECKING:
    from ._model import Evidence, Model, State, _FunctionFactor


class Run:
    """A model with what its functions have been paid for; further calls of `infer` go on from there."""

    def __init__(
        self,
        model: Model,
        evidence: Optional[Evidence],
        executor: Optional[concurrent.futures.Executor],
        workers: Optional[int],
        journal: Union[str, "os.PathLike[str]", None],
        retry_failed: bool,
        version: str,
        query: "list[list[str]]",
        map: "list[str]",
    ) -> None:
        self.model = model
        self.query = query
        self._map = map
        self._evidence = model._observed(evidence)
        self._executor = executor
        if workers is None:
            workers = getattr(executor, "_max_workers", None) or (os.cpu_count() or 1 if executor else 1)
        self._workers = workers
        self._journal = os.fspath(journal or "")
        self._retry_failed = retry_failed
        self._version = version
        self._raised: "list[BaseException]" = []
        self._problem: Any = None
        has_calls = bool(model._functions) or model._program_file is not None
        if not has_calls and (journal or executor):
            raise _core.OptionError(f"{'journal' if journal else 'executor'}: the model has no functions")

    def problem(self) -> Any:
        """The model of the library, with what it has paid for."""
        model = self.model
        if self._problem is not None:
            return self._problem
        options = _core.OracleOptions(self._workers, self._journal, "", self._retry_failed)
        if model._program_file is not None:
            return _core.programs_of(model._program_file, self._evidence, options)
        if not model._functions:
            return _core.tables_and_functions(model._graph, self._evidence)
        if not self._journal and self._executor is None and all(f.cost == 0 for f in model._functions.values()):
            return _core.tables_and_functions(model._built(model._call), self._evidence)
        # The functions must not refer to this object, which keeps what refers to them.
        graph = model._built(lambda factor: _paid(model, factor, self._executor, self._raised))
        return _core.paid_functions(graph, self._evidence, self._version or _fingerprint(model), options)

    def infer(self, keywords: "dict[str, Any]", progress: Union[bool, Callable[["dict[str, Any]"], None]]) -> Answer:
        if self._workers != 1 and (self.model._functions or self.model._program_file):
            keywords = {"oracle_workers": self._workers, **keywords}
        show = _Progress() if progress is True else None
        problem = self.problem()
        # A journal knows what was paid, and another run may want it; else the library's model does.
        self._problem = None if self._journal else problem
        try:
            found, error = _core.infer(problem, as_text(keywords), self.query, self._map, show or progress or None)
        except Exception as refused:
            # The library hands on a message; what the function raised says more.
            original = self._raised[-1] if self._raised and isinstance(refused, _core.Error) else refused
            original.answer = None  # type: ignore[attr-defined]
            raise original from None
        finally:
            if show is not None:
                show.end()
        answer = None if found is None else Answer(found, self, keywords)
        if error is None and answer is not None and found.error is not None:
            error = self._raised[-1] if self._raised else _core.Error(found.error)
        if error is not None:
            error.answer = answer
            raise error
        assert answer is not None
        return answer


def _paid(
    model: Model,
    factor: _FunctionFactor,
    executor: Optional[concurrent.futures.Executor],
    raised: "list[BaseException]",
) -> Callable[..., Any]:
    """The function as a worker calls it; what it raises is kept, because the library hands on only a message."""
    function = model._call(factor)
    name = getattr(function, "__name__", "function")
    variables = [model._variables[v].name for v in factor.scope]

    def call(*states: State) -> float:
        try:
            return float(function(*states) if executor is None else executor.submit(function, *states).result())
        except BaseException as error:
            where = ", ".join(f"{variable}={state!r}" for variable, state in zip(variables, states))
            _add_note(error, f"in factor {name}({where})")
            raised.append(error)
            raise

    call.__name__ = name
    return call


def _add_note(error: BaseException, note: str) -> None:
    if hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note(note)


def _fingerprint(model: Model) -> str:
    """Changes when the text of a function does, as far as it can be seen."""
    digest = hashlib.sha256()
    for factor in model._functions.values():
        try:
            text = inspect.getsource(factor.function)
        except (OSError, TypeError):
            text = getattr(factor.function, "__qualname__", repr(type(factor.function)))
        digest.update(text.encode())
    return digest.hexdigest()


class _Progress:
    """One line that is written over; in a notebook too."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, report: "dict[str, Any]") -> None:
        parts = [f"{report['seconds']:6.1f} s", str(report["phase"])]
        if report["lower"] is not None and report["upper"] is not None:
            parts.append(f"log Z in [{report['lower']:.6g}, {report['upper']:.6g}]")
        elif report["estimate"] is not None:
            parts.append(f"log Z about {report['estimate']:.6g}")
        if report["share"] is not None:
            parts.append(f"{100 * report['share']:.0f} %")
        line = "  ".join(parts)
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def end(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

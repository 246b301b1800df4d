"""A run of `infer`: calls of functions that are paid for, progress, and what ends it."""

from __future__ import annotations

import atexit
import copy
import logging
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, Union

from . import _core
from ._answer import Answer
from ._executor import Door, do_task
from ._fingerprint import fingerprint
from ._functions import names, rules, servers, shares, with_functions
from ._options import as_text, suggestion
from ._progress import logger, make_progress

if TYPE_CHECKING:
    from ._model import Evidence, Model


UNDER_WAY = 16  # questions, where workers elsewhere may join at any time, so that their number is not known
REDIS_FIELDS = (
    "address", "password_file", "key_file", "tls_ca", "tls_cert", "tls_key", "insecure", "patience"
)


class Calling(NamedTuple):
    """How functions are called, and where their values are kept."""

    executor: Optional[Door]
    workers: Optional[int]
    journal: Union[str, "os.PathLike[str]", None]
    retry_failed: bool
    version: str
    redis: Optional[_core.RedisOptions] = None

    @property
    def num_workers(self) -> int:
        """Of the run; 0: as many as the executor has."""
        if self.workers is not None:
            return self.workers
        if self.redis is not None:
            return UNDER_WAY
        return 1 if self.executor is None else 0


def redis_options(
    given: Union[str, Mapping[str, Any], None], run: str, time: Optional[float]
) -> Optional[_core.RedisOptions]:
    """How the server between this process and workers elsewhere is reached; a run waits no longer than its time."""
    if given is None:
        if run != "default":
            raise _core.OptionError("run is for workers on other machines (redis=ADDRESS)")
        return None
    options = _core.RedisOptions()
    options.run = run
    for name, value in ({"address": given} if isinstance(given, str) else given).items():
        if name not in REDIS_FIELDS:
            raise _core.OptionError(f"redis: has no field {name!r}{suggestion(name, REDIS_FIELDS)}")
        setattr(options, name, os.fspath(value) if isinstance(value, os.PathLike) else value)
    if time:
        options.patience = min(options.patience, time)
    return options


class Asked(NamedTuple):
    """What is asked beside log Z, and the value function."""

    query: "list[list[str]]"
    map: "list[str]"
    leaf: Optional[Callable[..., Any]]


def as_it_is(model: Model) -> Model:
    """A copy that later changes of the model, even by its own functions, do not reach."""
    copied = object.__new__(type(model))
    parts = {"_graph": model._graph.copy()}
    for name in ("_variables", "_by_name", "_functions", "_evidence", "_weights"):
        parts[name] = copy.copy(getattr(model, name))
    copied.__dict__.update(model.__dict__, **parts)
    return copied


_live: "weakref.WeakSet[_Paid]" = weakref.WeakSet()
# By their journals: interrupted runs whose exceptions are still there, as in a notebook, where the last one stays.
_interrupted: "weakref.WeakValueDictionary[str, _Paid]" = weakref.WeakValueDictionary()


@atexit.register
def _end_all() -> None:
    """Workers of an interrupted run that came back into an interpreter which is gone would end the process badly."""
    for problem in list(_live):
        problem.close()


class _Paid:
    """The model of the library with workers."""

    def __init__(self, core: Any) -> None:
        self.core = core
        _live.add(self)

    def close(self) -> None:
        """Waits for calls that are under way in this process; the journal is free then."""
        self.core = None


class Run:
    """A model with what its functions have been paid for; further calls of `infer` go on from there."""

    def __init__(self, model: Model, evidence: Optional[Evidence], calling: Calling, asked: Asked) -> None:
        self.model = as_it_is(model)
        self.query = asked.query
        self._asked = asked
        self._evidence = model._observed(evidence)
        self._calling = calling
        self._journal = os.fspath(calling.journal or "")
        self._raised = _core.Raised()
        self._problem: Optional[_Paid] = None
        self._is_free = threading.Lock()
        self._executor: Optional[_core.Executor] = None
        if calling.executor is not None:
            self._executor = _core.Executor(calling.executor, do_task, self._raised, calling.workers or 0)
        has_calls = bool(model._functions) or model._program_file is not None
        if not has_calls and calling.journal:
            raise _core.OptionError("journal: the model has no functions")
        if calling.redis is not None and model._program_file is None:
            raise _core.OptionError(
                "redis: workers elsewhere run programs of a model file (ts.read('model.json', allow_programs=True)), "
                "and this model has none; executor=... lets other processes call Python functions"
            )
        if model._program_file is not None and calling.executor is not None:
            raise _core.OptionError("executor: is for Python functions, and this model has programs")

    def problem(self) -> _Paid:
        """The model of the library, with what it has paid for."""
        model, calling = self.model, self._calling
        if self._problem is not None:
            return self._problem
        if self._journal and (before := _interrupted.pop(os.path.realpath(self._journal), None)) is not None:
            before.close()
        journal, redis = self._journal, calling.redis
        told = rules(model), shares(model), names(model)
        executor = self._executor if model._functions else None
        options = _core.OracleOptions(calling.num_workers, journal, "", calling.retry_failed, *told, redis, executor)
        for factor, server in servers(model).items():
            if executor is not None:
                raise _core.OptionError("executor: a UM-Bridge server makes its calls itself; workers=N keeps N under way")
            options.add_server(factor, server)
        if model._program_file is not None:
            return _Paid(_core.programs_of(model._program_file, self._evidence, options))
        is_direct = not self._journal and executor is None
        if is_direct and all(factor.is_direct for factor in model._functions.values()):
            return _Paid(_core.tables_and_functions(with_functions(model, self._raised), self._evidence))
        graph = with_functions(model, self._raised, True, executor)
        version = calling.version or fingerprint(factor.function for factor in model._functions.values())
        return _Paid(_core.paid_functions(graph, self._evidence, version, options))

    def infer(self, keywords: "dict[str, Any]", progress: Union[bool, Callable[["dict[str, Any]"], None]]) -> Answer:
        if not self._is_free.acquire(blocking=False):
            raise _core.Error("extend: the run is under way, in another thread or in a function that asks for more")
        try:
            return self._infer(keywords, progress)
        finally:
            self._is_free.release()

    def _infer(self, keywords: "dict[str, Any]", progress: Union[bool, Callable[["dict[str, Any]"], None]]) -> Answer:
        workers = self._calling.num_workers or (self._calling.executor.num_workers() if self._calling.executor else 1)
        if workers != 1 and (self.model._functions or self.model._program_file):
            keywords = {"oracle_workers": workers, **keywords}
        show = make_progress(progress, keywords.get("calls"))
        problem = self.problem()
        # A journal knows what was paid, and another run may want it; else the library's model does.
        self._problem = None if self._journal else problem
        asked = self._asked
        leaf = None if asked.leaf is None else (asked.leaf, list(self.model.variables))
        try:
            found, error = _core.infer(
                problem.core, as_text(keywords), asked.query, asked.map, show, leaf, self._raised,
                None if self.model._functions else self._executor,
            )
        except BaseException as refused:
            refused.answer = None  # type: ignore[attr-defined]
            self._leave(problem, refused)
            raise
        finally:
            if show is not None:
                show.end()
        answer = None if found is None else Answer._of_run(found, self, keywords)
        if error is None and answer is not None and found.error is not None:
            error = _core.Error(found.error)
        if error is not None:
            error.answer = answer
            self._leave(problem, error)
            raise error
        assert answer is not None
        self._log(answer)
        return answer

    def _log(self, answer: Answer) -> None:
        """What the run found, and what it had to say, for whoever listens."""
        if logger.isEnabledFor(logging.WARNING):
            for remark in answer.remarks:
                logger.warning("infer: %s", remark)
        if logger.isEnabledFor(logging.INFO):
            logger.info("infer: %r in %.3g s, by %s", answer, answer.spent["seconds"], answer.method)

    def _leave(self, problem: _Paid, error: BaseException) -> None:
        """The exception keeps what there is in its traceback, and a journal has one user at a time."""
        if not self._journal:
            return
        if isinstance(error, KeyboardInterrupt):  # a person waits, a call may take long
            _interrupted[os.path.realpath(self._journal)] = problem
        else:
            problem.close()

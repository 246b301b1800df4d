"""Doors to those who make calls elsewhere: any `concurrent.futures.Executor`, and Dask as what it is.

A door begins tasks and puts what comes of them into an inbox, from whatever thread it comes. It has as many threads as
its executor needs, and none for a single call.
"""

from __future__ import annotations

import concurrent.futures
import importlib
import os
import sys
import threading
import time
import uuid
from typing import Any, Callable, Iterable, Optional, Protocol, Tuple

from . import _core, _timed

Call = Tuple[int, Callable[..., Any], Tuple[Any, ...]]

BETWEEN_LOOKS = 2.0  # seconds, at the workers of a cluster
MOST_LOSSES = 3  # of one call, each of which has cost as many workers as the scheduler allows


def do_task(shared: bytes, kind: str, arguments: "list[int]") -> Any:
    """What a worker does for the library. It must have this module, of the same version."""
    return _core.do_task(shared, kind, arguments)


class Inbox(Protocol):
    """Where results arrive, by the number of their task. One that comes twice counts once."""

    def put(self, number: int, value: Any, seconds: float, worker: str) -> None: ...
    def put_error(self, number: int, error: BaseException) -> None: ...


class Door(Protocol):
    def num_workers(self) -> int: ...
    def share(self, data: bytes) -> Any: ...
    def submit(self, calls: "Iterable[Call]", inbox: Inbox) -> None: ...
    def cancel(self) -> None: ...


def make_door(executor: Any) -> Door:
    """Dask's client, its executor, or any other."""
    if type(executor).__module__.partition(".")[0] == "distributed":
        client = getattr(executor, "_client", executor)
        if not hasattr(client, "nthreads"):
            raise _core.OptionError(f"executor: is a {type(executor).__name__} of dask, allowed is its Client")
        return DaskDoor(client)
    if not hasattr(executor, "submit"):
        raise _core.OptionError(
            f"executor: is a {type(executor).__name__}, allowed are a concurrent.futures.Executor and a Client of dask"
        )
    return PoolDoor(executor)


def _broken(error: BaseException) -> BaseException:
    """An error of the executor, which is no failure of the call."""
    if isinstance(error, (concurrent.futures.BrokenExecutor, KeyboardInterrupt, SystemExit)):
        return error
    return concurrent.futures.BrokenExecutor(f"the executor takes no calls: {type(error).__name__}: {error}")


class PoolDoor:
    """Any executor of the kind of `concurrent.futures`."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._under_way: "dict[int, Any]" = {}
        _send_by_value()

    def num_workers(self) -> int:
        pool = self._executor
        return getattr(pool, "_max_workers", None) or getattr(pool, "num_workers", None) or os.cpu_count() or 1

    def share(self, data: bytes) -> Any:
        return data

    def submit(self, calls: "Iterable[Call]", inbox: Inbox) -> None:
        for number, function, arguments in calls:
            try:
                future = self._executor.submit(_timed.timed, function, arguments)
            except Exception as error:  # such as no new process for a pool: no failure of a call
                inbox.put_error(number, _broken(error))
                continue
            self._under_way[number] = future
            arrived = _Arrived(number, inbox, self._under_way)
            if hasattr(future, "add_done_callback"):
                future.add_done_callback(arrived)
            else:
                threading.Thread(target=arrived, args=(future,), daemon=True).start()

    def cancel(self) -> None:
        for future in list(self._under_way.values()):
            future.cancel()
        self._under_way.clear()


class _Arrived:
    """Puts the result of a future into the inbox."""

    def __init__(self, number: int, inbox: Inbox, under_way: "dict[int, Any]") -> None:
        self._number = number
        self._inbox = inbox
        self._under_way = under_way

    def __call__(self, future: Any) -> None:
        self._under_way.pop(self._number, None)
        try:
            value, seconds, worker = future.result()
        except BaseException as error:
            self._inbox.put_error(self._number, error)
        else:
            self._inbox.put(self._number, value, seconds, worker)


def _send_by_value() -> None:
    """Where functions are sent by cloudpickle, workers need no copy of this package to call others."""
    cloudpickle = sys.modules.get("cloudpickle")
    if cloudpickle is not None and hasattr(cloudpickle, "register_pickle_by_value"):
        cloudpickle.register_pickle_by_value(_timed)


class DaskDoor:
    """A scheduler of Dask. One thread waits for all tasks, takes what has arrived at once, and asks the scheduler once
    for the results of all of it.

    A task whose worker is lost is begun again by the scheduler. Where it gives up, because too many workers were lost
    with the task, the task is begun again from here, some times: with many lost workers it may have been innocent.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._num_workers = 0
        self._next_look = 0.0
        self._lock = threading.Lock()
        self._calls: "dict[Any, tuple[Call, Inbox, int]]" = {}  # by future: what it does, for whom, and losses before
        self._completed: Any = None
        self._waiter: Optional[threading.Thread] = None
        _send_by_value()

    def num_workers(self) -> int:
        if time.monotonic() >= self._next_look:
            self._num_workers = sum(self._client.nthreads().values())
            self._next_look = time.monotonic() + BETWEEN_LOOKS
        return max(1, self._num_workers)

    def share(self, data: bytes) -> Any:
        """As the result of a task: each worker gets it once, from another one, and it is there again where all workers
        that had it are lost. What is scattered would be gone then."""
        return self._client.submit(_timed.same, data, key=f"treesample-model-{uuid.uuid4()}")

    def submit(self, calls: "Iterable[Call]", inbox: Inbox) -> None:
        self._begin([(call, inbox, 0) for call in calls])

    def _begin(self, begun: "list[tuple[Call, Inbox, int]]") -> None:
        functions = [call[1] for call, _, _ in begun]
        arguments = [call[2] for call, _, _ in begun]
        futures = self._client.map(_timed.timed, functions, arguments, pure=False, key="treesample")
        with self._lock:
            self._calls.update(zip(futures, begun))
            if self._completed is None:
                self._completed = _distributed().as_completed(loop=self._client.loop)
            self._completed.update(futures)
            if self._waiter is None:
                self._waiter = threading.Thread(target=self._wait, name="treesample-dask", daemon=True)
                self._waiter.start()

    def _wait(self) -> None:
        """Until nothing is under way."""
        while True:
            with self._lock:
                if not self._calls or self._completed.is_empty():
                    self._waiter = None
                    return
                completed = self._completed
            try:
                self._hand_over(completed.next_batch())
            except StopIteration:
                continue
            except BaseException as error:  # of dask itself: nobody would hear of these calls
                with self._lock:
                    lost, self._calls, self._waiter = self._calls, {}, None
                for call, inbox, _ in lost.values():
                    inbox.put_error(call[0], _broken(error))
                return

    def _hand_over(self, batch: "list[Any]") -> None:
        with self._lock:
            known = {future: self._calls.pop(future) for future in batch if future in self._calls}
        again: "list[tuple[Call, Inbox, int]]" = []
        values = self._values(list(known))
        for (future, (call, inbox, losses)), value in zip(known.items(), values):
            if value is None:  # it was lost with its worker, and the scheduler has begun it again
                with self._lock:
                    self._calls[future] = (call, inbox, losses)
                    self._completed.add(future)
            elif not isinstance(value, BaseException):
                inbox.put(call[0], *value)
            elif type(value).__name__ == "KilledWorker" and losses + 1 < MOST_LOSSES:
                again.append((call, inbox, losses + 1))
            else:
                inbox.put_error(call[0], value)
        if again:
            self._begin(again)

    def _values(self, futures: "list[Any]") -> "list[Any]":
        """What each has returned, its exception, or None where it is not there any more."""
        done = [future for future in futures if future.status == "finished"]
        try:
            values = dict(zip(done, self._client.gather(done)))
        except Exception:  # lost on the way, or something that cannot be received
            values = {future: _fetched(future) for future in done}
        for future in futures:
            if future.status == "error":
                values.setdefault(future, future.exception())
            elif future.status == "cancelled":
                values.setdefault(future, _broken(RuntimeError("dask has cancelled a call")))
        return [values.get(future) for future in futures]

    def cancel(self) -> None:
        with self._lock:
            futures = list(self._calls)
            self._calls.clear()
        if futures:
            self._client.cancel(futures)


def _distributed() -> Any:
    return importlib.import_module("distributed")


def _fetched(future: Any) -> Any:
    """The value of a future of Dask, or why there is none."""
    try:
        return future.result()
    except (concurrent.futures.CancelledError, OSError) as error:  # the scheduler is gone
        return _broken(error)
    except Exception as error:
        return error

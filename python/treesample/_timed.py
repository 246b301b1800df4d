"""What workers elsewhere run. It needs nothing else of this package, so that it can be sent to where there is none."""

import os
import socket
import time
from typing import Any, Callable, Tuple


def timed(function: Callable[..., Any], arguments: Tuple[Any, ...]) -> Tuple[Any, float, str]:
    """What the function returns, how many seconds it took, and who called it."""
    start = time.perf_counter()
    value = function(*arguments)
    return value, time.perf_counter() - start, f"{socket.gethostname()}:{os.getpid()}"


def same(value: Any) -> Any:
    """The value itself: what many tasks need, as the result of another one."""
    return value

"""The run behind an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._functions import with_functions

if TYPE_CHECKING:
    from ._run import Run


class Live:
    """A run and its answer in the library: what samples can be drawn from, and what can go on."""

    def __init__(self, core: Any, run: "Run", keywords: "dict[str, Any]") -> None:
        self.core = core
        self.run = run
        self.keywords = keywords
        self._shown: Any = None

    @property
    def shown(self) -> Any:
        """The answer with its model; made when it is first looked at."""
        if self._shown is None:
            model = self.run.model
            self._shown = _core.Shown(self.core, with_functions(model), self.run._evidence, model._program_file or "")
        return self._shown

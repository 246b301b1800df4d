"""Results of an answer that need no code here: an attribute for each row of the library's table of results.

Their types are in _results.pyi, which make_stub.py writes from the same table when the module is built.
"""

from __future__ import annotations

from typing import Any

from . import _core


def numbers_in(value: Any) -> Any:
    """Infinite numbers, which are texts in JSON, as numbers."""
    if isinstance(value, dict):
        return {name: numbers_in(each) for name, each in value.items()}
    if isinstance(value, list):
        return [numbers_in(each) for each in value]
    return float(value) if value in ("inf", "-inf") else value


class Results:
    """What `_result` reads, by name: the fields of docs/answer_file.md."""

    def _result(self, name: str) -> Any:
        """A value as JSON has it; None where it is not known or was not asked for."""
        raise NotImplementedError


def _attribute(name: str, is_text: bool, text: str) -> property:
    def read(self: Results) -> Any:
        value = self._result(name)
        return value if is_text else numbers_in(value)

    return property(read, doc=text[:1].upper() + text[1:] + ".")


for _name, _type, _text in _core.results():
    setattr(Results, _name, _attribute(_name, "str" in _type, _text))

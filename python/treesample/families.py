"""The random models of the paper, and Ising grids.

>>> import treesample as ts
>>> ts.families.factor_graphs_2(seed=3)
<treesample.Model: 20 variables, 22 factors>
"""

from __future__ import annotations

from . import _core
from ._model import Model
from ._read import model_of


def _make(name: str, reading: str, seed: int, instance: int, values: "dict[str, float]") -> Model:
    if reading not in ("letter", "best"):
        raise _core.Error(f"reading is {reading!r}, allowed are 'letter' and 'best'")
    return model_of(_core.family(name, reading, seed, instance, {k: float(v) for k, v in values.items()}))


def chain(*, reading: str = "letter", seed: int = 0, instance: int = 0, **fields: float) -> Model:
    """A chain of N variables whose potentials are drawn from a Gaussian process."""
    return _make("chain", reading, seed, instance, fields)


def permuted_chain(*, reading: str = "letter", seed: int = 0, instance: int = 0, **fields: float) -> Model:
    """A Markov chain whose variables come in a random order."""
    return _make("permuted-chain", reading, seed, instance, fields)


def factor_graphs_1(*, reading: str = "letter", seed: int = 0, instance: int = 0, **fields: float) -> Model:
    """Random tables on the maximal cliques of a random graph."""
    return _make("factor-graphs-1", reading, seed, instance, fields)


def factor_graphs_2(*, reading: str = "letter", seed: int = 0, instance: int = 0, **fields: float) -> Model:
    """NOT and majority factors on the cliques of a random graph."""
    return _make("factor-graphs-2", reading, seed, instance, fields)


def ising(*, reading: str = "letter", seed: int = 0, instance: int = 0, **fields: float) -> Model:
    """An Ising grid with random couplings and fields."""
    return _make("ising", reading, seed, instance, fields)

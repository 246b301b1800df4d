"""Value functions that are learned from inference on many problems."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence, Union

from . import _core
from ._model import Model
from ._options import suggestion

Problems = Union[str, Model, Sequence[Model], Callable[[int], Model]]


class Trained(NamedTuple):
    """A network that was trained, and how that went: a dict per episode, the rows of progress.csv."""

    folder: Path
    episodes: int
    steps: int
    is_finished: bool
    records: "list[dict[str, Any]]"

    @property
    def network(self) -> Path:
        """The file, for others to read (docs/network_file.md)."""
        return self.folder / "network.safetensors"

    @property
    def leaf(self) -> str:
        """What `Model.infer` takes as `leaf`."""
        return f"net:{self.network}"

    def __repr__(self) -> str:
        left = "" if self.is_finished else ", not finished"
        return f"<treesample.Trained: {self.network}, {self.episodes} episodes, {self.steps} steps{left}>"


def train(
    problems: Problems,
    out: Union[str, "os.PathLike[str]"],
    *,
    episodes: int = 4000,
    evidence_variables: Sequence[str] = (),
    workers: Optional[int] = None,
    resume: bool = False,
    progress: Optional[Callable[["dict[str, Any]"], Any]] = None,
    **options: Any,
) -> Trained:
    """Learns a value function, as the program's `treesample train` does, and leaves it in the folder `out`.

    `problems` is the name of a family ("ising", with `fields={"n": 4}`), a model, several models (in turn), or a
    function that makes a model of a number from 0 to 2**31 - 1, always the same of the same number; it is called by
    several threads. With `evidence_variables` the model or models are observed in these variables, in states that they
    draw themselves, others in each episode: the network is then for new observations.

    `progress` gets a dict after each episode. A run that was interrupted goes on with `resume=True`; Ctrl-C raises
    KeyboardInterrupt, with what there is as its attribute `trained`. Every other keyword is an option of the program
    (`treesample train --help`): budget, targets, iterations, rate, deterministic, seed, ...

    >>> import tempfile
    >>> import treesample as ts
    >>> trained = ts.train("chain", tempfile.mkdtemp(), episodes=2, budget=100, deterministic=True)
    >>> trained.episodes
    2
    >>> answer = ts.families.chain(seed=7).infer(leaf=trained.leaf, space="tree", order="given", budget=1000)
    """
    folder = Path(out)
    keywords = _keywords(options, folder, resume)
    keywords["episodes"] = episodes
    if not options.get("deterministic"):
        keywords["workers"] = workers or max(1, (os.cpu_count() or 1) - 1)
    if evidence_variables:
        keywords["evidence_variables"] = list(evidence_variables)
    models: "list[Any]" = []
    generator: Optional[Callable[[int], Any]] = None
    name = ""
    if isinstance(problems, str):
        keywords["family"] = problems
    elif callable(problems):
        name = str(getattr(problems, "__qualname__", type(problems).__name__))
        generator = _generator(problems)
    else:
        models = _models(problems)
    records: "list[dict[str, Any]]" = []

    def tell(record: "dict[str, Any]") -> None:
        records.append(record)
        if progress is not None:
            progress(record)

    made, error = _core.train(keywords, models, generator, name, tell)
    trained = None if made is None else Trained(folder, made["episodes"], made["steps"], made["is_finished"], records)
    if error is not None:
        error.trained = trained
        raise error
    assert trained is not None
    return trained


def _keywords(options: "dict[str, Any]", folder: Path, resume: bool) -> "dict[str, Any]":
    """The options that were given, and the folder, which holds a run if and only if that is to go on."""
    known = _core.train_options()
    for name in options:
        if name not in known or name == "family":
            raise TypeError(f"train() has no keyword {name!r}{suggestion(name, known)}")
    has_run = (folder / "checkpoint.safetensors").exists()
    if has_run != resume:
        raise _core.Error(
            f"train: {folder} holds a run already; resume=True goes on with it"
            if has_run else f"train: {folder} holds no run to go on with"
        )
    keywords = {key: value for key, value in options.items() if value is not None}
    keywords.update(out=str(folder), resume=resume)
    return keywords


def _generator(make: Callable[[int], Model]) -> Callable[[int], Any]:
    return lambda number: _tables(make(number))


def _models(problems: Any) -> "list[Any]":
    if isinstance(problems, Model):
        return [_tables(problems)]
    if not isinstance(problems, Iterable):
        raise _core.Error(
            f"train: problems is {problems!r}, allowed are the name of a family, a model, several models, "
            "and a function"
        )
    models = [_tables(model) for model in problems]
    if not models:
        raise _core.Error("train: there are no models")
    return models


def _tables(model: Model) -> Any:
    """The graph of a model that networks can read."""
    if not isinstance(model, Model):
        raise TypeError(f"train: {model!r} is no Model")
    if model._functions or model._program_file is not None:
        raise _core.Error("train: a model with functions or programs; networks read tables")
    if model._evidence or model._weights:
        raise _core.Error("train: the model has observations; evidence_variables= names what is observed in each episode")
    return model._graph

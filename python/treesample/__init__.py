"""Inference in discrete distributions under a budget, with certified answers.

>>> import treesample as ts
>>> m = ts.Model()
>>> rain = m.variable("rain", ["no", "yes"])
>>> grass = m.variable("grass", ["dry", "wet"])
>>> m.table([rain], [0.8, 0.2])
>>> m.table([rain, grass], [[0.9, 0.1], [0.2, 0.8]])
>>> answer = m.infer(evidence={"grass": "wet"})
>>> round(answer["rain"]["yes"], 4)
0.6667
>>> answer.log_z.exact
True

`Model` is a factor graph: tables, and functions that may be expensive simulators. `read` reads UAI, BIF and JSON files.
`Model.infer` returns an `Answer`: log Z with certified bounds, marginals, the most probable configuration, samples.
It is the same call as the program `treesample infer` and the C++ function `treesample::infer`, with the same options.
"""

from . import dags, environments, families, paper
from ._answer import Answer
from ._black_box import BlackBox
from ._cases import CaseAnswers
from ._compare import Comparison
from ._core import Error, OptionError, __version__
from ._decide import Decided, Policy
from ._fit import Fit
from ._formula import Count, Formula, count_nnf
from ._journal import Journal, read_journal
from ._kept import LogZFunction, Session
from ._model import Model
from ._options import UnknownName, infer_options
from ._parts import Calls, LogZ, MapStates, Marginals, ObservationValues, Parameter, Sensitivity, Variable
from ._program import Program
from ._program_answer import Path, ProgramAnswer
from ._read import read, read_decisions
from ._reproduce import reproduce
from ._saved import load_answer
from ._slices import Slices, TimeSeries
from ._train import Trained, train
from .paper import tree_sample

__all__ = [
    "Answer",
    "BlackBox",
    "Calls",
    "CaseAnswers",
    "Comparison",
    "Count",
    "Decided",
    "Error",
    "Fit",
    "Formula",
    "Journal",
    "LogZ",
    "LogZFunction",
    "MapStates",
    "Marginals",
    "Model",
    "ObservationValues",
    "OptionError",
    "Parameter",
    "Path",
    "Policy",
    "Program",
    "ProgramAnswer",
    "Sensitivity",
    "Session",
    "Slices",
    "TimeSeries",
    "Trained",
    "UnknownName",
    "Variable",
    "__version__",
    "count_nnf",
    "dags",
    "environments",
    "families",
    "infer_options",
    "load_answer",
    "paper",
    "read",
    "read_decisions",
    "read_journal",
    "reproduce",
    "train",
    "tree_sample",
]

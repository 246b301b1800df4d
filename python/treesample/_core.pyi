"""The compiled part. Not for users: its functions take indices where the module takes names."""

from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

__version__: str
max_failure_share: float

def log_value_problem(value: float, log_max: Optional[float]) -> str: ...
def levels_problem(levels: Sequence[float], num_states: int) -> str: ...
def decimal_bound(value: float, direction: float) -> str: ...

class Error(RuntimeError):
    code: str
    answer: Any

class OptionError(Error, ValueError): ...

class Raised:
    def __init__(self) -> None: ...

class FunctionOptions:
    def __init__(
        self,
        log_max: Optional[float],
        cost: Optional[float],
        max_batch: int,
        on_failure: Optional[float],
        raised: Optional[Raised],
        is_paid: bool,
        fatal: Any,
        directions: Sequence[int],
    ) -> None: ...

class Graph:
    num_variables: int
    num_factors: int
    def __init__(self) -> None: ...
    def add_variable(
        self, num_states: int, name: str, state_names: Sequence[str], levels: Sequence[float]
    ) -> int: ...
    def add_table(self, scope: Sequence[int], log_values: npt.NDArray[np.float64]) -> int: ...
    def add_function(
        self,
        scope: Sequence[int],
        function: Callable[..., Any],
        labels: Sequence[list[Any]],
        options: FunctionOptions,
    ) -> int: ...
    def variable(self, index: int) -> Tuple[int, str, list[str], list[float]]: ...
    def scope(self, index: int) -> list[int]: ...
    def table(self, index: int) -> Any: ...
    def value(self, index: int, states: Sequence[int]) -> float: ...
    def log_densities(self, states: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]: ...
    def copy(self) -> Graph: ...

class Seen:
    def __init__(
        self, states: Sequence[Tuple[int, int]], weights: Sequence[Tuple[int, Sequence[float]]]
    ) -> None: ...

class Problem: ...

class Answer: ...

class RedisOptions:
    address: str
    run: str
    password_file: str
    key_file: str
    insecure: bool
    tls_ca: str
    tls_cert: str
    tls_key: str
    patience: float
    def __init__(self) -> None: ...

class OracleOptions:
    def __init__(
        self,
        workers: int,
        journal: str,
        log: str,
        retry_failed: bool,
        on_failure: dict[int, Any],
        max_failure_share: dict[int, float],
        names: dict[int, str],
        redis: Optional[RedisOptions],
    ) -> None: ...

class TreeSearch:
    log_z: float
    is_exact: bool
    evaluations: int
    num_nodes: int
    def sample(self, count: int, seed: int) -> npt.NDArray[np.int32]: ...
    def log_prob(self, states: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]: ...
    def q_along(self, x: Sequence[int]) -> list[npt.NDArray[np.float64]]: ...

def read_file(
    path: str, allow_programs: bool
) -> Tuple[Graph, list[Tuple[int, int]], list[Tuple[int, list[float]]], bool]: ...
def format_uai(graph: Graph) -> str: ...
def format_json(graph: Graph) -> str: ...
def family_names() -> list[str]: ...
def family(name: str, reading: str, seed: int, instance: int, values: dict[str, float]) -> Graph: ...
def tables_and_functions(graph: Graph, seen: Seen) -> Problem: ...
def paid_functions(
    graph: Graph, seen: Seen, version: str, options: OracleOptions
) -> Problem: ...
def programs_of(path: str, seen: Seen, options: OracleOptions) -> Problem: ...
def infer(
    problem: Problem,
    keywords: Sequence[Tuple[str, str]],
    query: Sequence[Sequence[str]],
    map: Sequence[str],
    progress: Any,
    prior: Optional[Tuple[Callable[..., Any], Sequence[Any]]],
    raised: Raised,
) -> Tuple[Any, Any]: ...
def plan(problem: Problem, keywords: Sequence[Tuple[str, str]]) -> str: ...
def journal_summary(path: str) -> Tuple[str, str, list[Tuple[str, str, int, float, int, str]], list[str]]: ...
def page(answer: Answer, graph: Graph, seen: Seen, name: str) -> str: ...
def options() -> list[Tuple[str, str, str, str, bool]]: ...
def train_options() -> list[str]: ...
def train(
    keywords: dict[str, Any],
    models: Sequence[Graph],
    generator: Optional[Callable[[int], Graph]],
    generator_name: str,
    tell: Callable[[dict[str, Any]], None],
) -> Tuple[Optional[dict[str, Any]], Any]: ...
def tree_search(
    graph: Graph, order: Sequence[int], budget: int, c: float, epsilon: float, has_random_ties: bool, seed: int
) -> TreeSearch: ...

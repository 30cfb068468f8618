"""The compiled core (`src/native`), built where there was a C++ compiler at installation.

Results are written into arrays that the caller made: `out`, and those named like the fields of `rows.Pass`.
"""

from typing import Any, overload

from .arrays import Floats, Integers

instruction_set: str
pad: int
group_pad: int

class Units:
    def __init__(
        self, center: Floats, scale: Floats, low: Floats, high: Floats, source: Integers, code: Integers
    ) -> None: ...

class Gaps:
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(
        self,
        sources: Integers,
        group: Integers,
        start: Integers,
        column: Integers,
        value: Floats,
        coefficients: Floats | None,
        left_open: Floats | None,
    ) -> None: ...

class Table:
    def __init__(
        self,
        X: Any,
        index: Integers,
        segments: Integers,
        gap_starts: Integers,
        codes: Any,
        k: int,
        statistics: Floats | None,
        targets: Floats | None,
        basis: Floats | None,
        weights: Floats,
        mass: Floats,
        log_reach: Floats | None,
        log_other: Floats | None,
        units: Units,
        gaps: Gaps,
        tail: Floats,
        keep: bool,
        whole: Table | None = None,
        places: Integers | None = None,
    ) -> None: ...
    def pass_(
        self,
        hyperplanes: Floats,
        children: Integers,
        parameters: Floats,
        threads: int,
        log_normalizer: Floats,
        statistics: Floats,
        gradient: Floats,
        observed: Floats | None,
        complete: Floats | None,
        in_floats: bool = False,
    ) -> None: ...
    def moments(self, threads: int, second: Floats, cross: Floats) -> None: ...
    def moments_of_numbers(
        self, coefficients: Floats | None, threads: int, second: Floats, cross: Floats, size: Floats
    ) -> None: ...
    def membership_sums(self, hyperplanes: Floats, children: Integers, threads: int, out: Floats) -> None: ...
    def leaf_views(
        self,
        hyperplanes: Floats,
        children: Integers,
        parameters: Floats,
        leaves: Integers,
        log_share: float,
        threads: int,
    ) -> list[tuple[Integers, Floats, Floats]]: ...
    def likelihoods_below(
        self,
        hyperplanes: Floats,
        children: Integers,
        parameters: Floats,
        threads: int,
        out: Floats,
        statistics: Floats,
    ) -> None: ...
    def histogram(
        self,
        directions: Floats,
        edges: Floats,
        cuts: Floats,
        coefficients: Floats | None,
        threads: int,
        out: Floats,
    ) -> None: ...
    def scan(
        self,
        directions: Floats,
        edges: Floats,
        cuts: Floats,
        leaves: Leaves,
        coefficients: Floats | None,
        threads: int,
        out: Floats,
    ) -> None: ...
    def quantiles(self, directions: Floats, probabilities: Floats, threads: int, out: Floats) -> None: ...

class PassSource: ...

class TablePasses(PassSource):
    def __init__(
        self,
        table: Table,
        hessian_rows: Table,
        rows_per_hessian_row: float,
        threads: int,
        fewest_gates: int,
        in_floats: bool,
    ) -> None: ...

class CallbackPasses(PassSource):
    def __init__(self, function: Any, width: int, n_statistics: int, tail: Floats) -> None: ...

class Leaves:
    def evaluate(self, statistics: Floats, expected: Floats | None, log_evidence: Floats | None) -> None: ...

class DirichletLeaves(Leaves):
    def __init__(self, prior: Floats) -> None: ...

class NormalLeaves(Leaves):
    def __init__(
        self,
        n_slopes: int,
        scale: float,
        offset_precision: float,
        shape: float,
        rate: float,
        slope_precisions: Floats,
    ) -> None: ...
    @property
    def n_slopes(self) -> int: ...
    def average(self, statistics: Floats, out: Floats) -> None: ...

class PythonLeaves(Leaves):
    def __init__(self, family: Any, n_statistics: int) -> None: ...

def ascend(
    passes: PassSource,
    leaves: Leaves,
    children: Integers,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats,
    fixed: bool,
    sparse: bool,
    tolerance: float,
    rounds: int,
    max_passes: int,
    least: float,
    log_evidence: Floats,
    prices: Floats,
) -> None: ...
def predict(
    X: Any,
    units: Units,
    gaps: Gaps | None,
    hyperplanes: Floats,
    children: Integers,
    values: Floats | None,
    threads: int,
    out: Floats,
) -> bool: ...

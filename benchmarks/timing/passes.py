"""One pass over the rows, beside the least work that a pass has to do: its time, its parts and its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesian_reticulum.compiled import is_available
from bayesian_reticulum.rows import ArrayRows, MembershipSums, Pass

from .memory import Memory, in_a_process
from .random_models import FAMILY, random_rows, schema_of
from .results import Line, Part, print_progress, size_text
from .turns import Floats, in_turns, middle, ratios

BLOCK_ROWS = (512, 1024, 2048)  # rows at a time in the least work of a pass; the fastest counts


def least_work(design: Floats, hyperplanes: Floats, block_rows: int, steps: int) -> None:
    """The least that a pass has to do, in blocks of rows with NumPy.

    One product (1 step), the exponentials of its gates (2), another product (3).
    """
    activations = np.empty((len(hyperplanes), block_rows))
    gradient = np.zeros(hyperplanes.shape)
    for start in range(0, design.shape[1], block_rows):
        block = design[:, start : start + block_rows]
        activation = activations[:, : block.shape[1]]
        np.matmul(hyperplanes, block, out=activation)
        if steps > 1:
            np.exp(activation, out=activation)
        if steps > 2:
            gradient += activation @ block.T


def passes(repeats: int) -> tuple[list[Line], list[Part]]:
    """One pass with 31 splits in one thread, against the least work of a pass and against NumPy; and its parts."""
    n, d = 100_000, 20
    wide, narrow = random_rows(n, d), random_rows(n, 1)
    # One row of memory for each column, as compiled code has it: the products are faster than from rows.
    design = np.ascontiguousarray(np.column_stack([np.ones(n), wide.X]).T)
    tree = wide.tree
    expected = FAMILY.expected_parameters(wide.statistics)
    planes, narrow_planes = tree.hyperplanes, np.ascontiguousarray(tree.hyperplanes[:, :2])
    tasks: dict[str, Callable[[int], Any]] = {
        f"floor {steps}, {size}": lambda _, size=size, steps=steps: least_work(design, planes, size, steps)
        for size in BLOCK_ROWS
        for steps in (1, 2, 3)
    }
    tasks |= {
        "gradient": lambda _: wide.make_pass(),
        "gradient and information": lambda _: wide.make_pass(information=True),
        "narrow": lambda _: narrow.rows.reduce(Pass(narrow_planes[None], tree.shape, expected)),
        "memberships": lambda _: wide.rows.reduce(MembershipSums(planes[None], tree.shape)),
        "narrow memberships": lambda _: narrow.rows.reduce(MembershipSums(narrow_planes[None], tree.shape)),
    }
    seconds = warm_in_turns(tasks, 5 * repeats)
    fastest = min(BLOCK_ROWS, key=lambda size: np.median(seconds[f"floor 3, {size}"]))
    seconds |= {f"floor {steps}": seconds[f"floor {steps}, {fastest}"] for steps in (1, 2, 3)}
    parts = parts_of_a_pass({name: 1e3 * float(np.median(values)) for name, values in seconds.items()}, d)
    task = f"one pass, 31 splits, {size_text((n, d))}, 1 thread"
    return [*pass_lines(task, seconds, parts), *against_numpy(repeats)], parts


def pass_lines(task: str, seconds: Mapping[str, Floats], parts: Sequence[Part]) -> Iterator[Line]:
    """A pass with and without information, against the least work and against its own products and gates."""
    gradient = seconds["gradient"]
    ratio = ratios(gradient, seconds["floor 3"])
    limit = (float(np.median(ratio)), 2.0, "×")
    yield Line(task, "gradient, to NumPy's two products and exp", 1e3 * gradient, "ms", ratio, limit)
    products, gates, _, total = (part.ours for part in parts)
    share = total / (products + gates)
    subject = "gradient, to its own two products and gates"
    yield Line(task, subject, 1e3 * gradient, "ms", np.array([share]), (share, 2.0, "×"))
    both = seconds["gradient and information"]
    subject = "gradient and information, to NumPy's two products and exp"
    yield Line(task, subject, 1e3 * both, "ms", ratios(both, seconds["floor 3"]))


def parts_of_a_pass(times: Mapping[str, float], d: int) -> list[Part]:
    """Where the milliseconds of a pass go, from passes over rows with d columns and with one.

    What grows with the columns are the products; what a pass over one column has in common with sums of memberships
    are the gates.
    """
    products = (d + 1) / (d - 1) * (times["gradient"] - times["narrow"])
    gates = times["narrow memberships"] - 2 / (d - 1) * (times["memberships"] - times["narrow memberships"])
    exponentials = times["floor 2"] - times["floor 1"]
    return [
        Part("two matrix products", times["floor 3"] - exponentials, products),
        Part("gates and memberships (of the least work: exp)", exponentials, gates),
        Part("responsibilities, leaf statistics, slopes", 0.0, times["gradient"] - products - gates),
        Part("all", times["floor 3"], times["gradient"]),
    ]


def against_numpy(repeats: int) -> Iterator[Line]:
    """A small pass in compiled code and in NumPy."""
    if not is_available():
        print_progress("There is no compiled code, or it is switched off: it is not compared with NumPy.")
        return
    n, d = 5000, 2
    compiled = random_rows(n, d)
    plain = ArrayRows.of_table(compiled.X, compiled.y, FAMILY, np.ones(n), schema_of(compiled.X))
    tasks = {"compiled": lambda _: compiled.make_pass(), "NumPy": lambda _: compiled.make_pass(plain)}
    seconds = warm_in_turns(tasks, 20 * repeats)
    ratio = middle(ratios(seconds["compiled"], seconds["NumPy"]))
    limit = (float(np.median(ratio)), 0.25, "×")
    task = f"one pass, 31 splits, {n} × {d}, 1 thread"
    yield Line(task, "compiled, to NumPy", middle(1e3 * seconds["compiled"]), "ms", ratio, limit)


def warm_in_turns(tasks: Mapping[str, Callable[[int], Any]], repeats: int) -> dict[str, Floats]:
    """Times in one thread; what rows keep between passes is made before, in a first one."""
    with threadpool_limits(1):
        for task in tasks.values():
            task(0)
        return in_turns(tasks, repeats)


def memory_of_a_pass() -> Iterator[Line]:
    """Largest memory beyond the rows themselves during one pass over a million of them."""
    megabytes = in_a_process(pass_memory, 1_000_000, 20)
    task = "one pass, 31 splits, 1 000 000 × 20"
    yield Line(task, "memory beyond X", np.array([megabytes]), "MB", None, (megabytes, 64.0, "MB"))


def pass_memory(n: int, d: int) -> float:
    """Megabytes that the first pass over rows takes, with what it keeps for the next."""
    random_rows(1000, d).make_pass()
    many = random_rows(n, d)
    memory = Memory()
    many.make_pass()
    return memory.megabytes()

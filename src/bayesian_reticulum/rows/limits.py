"""Sizes at which rows change how they work: what stays in memory, what is done at once, what is left out.

A limit chooses a way to compute, not a result: with other limits sums differ by rounding alone. The exceptions are
`negligible_share`, which leaves rows out of views, and the limits of float32, whose sums are right to a few millionths.
"""

from __future__ import annotations

from dataclasses import dataclass

# Widest table, in columns, whose splits have a whole matrix of information and whose gaps are filled from the rest of
# their row. A wider one is rotated to its principal axes, and information is a matrix for the leading ones alone:
# prices come out somewhat higher, hyperplanes and log-loss hardly differ, and 1000 columns take seconds instead of
# minutes. With 64 axes instead of 128, tables of 287 mixed columns take three quarters of the time at the same loss.
FULL_HESSIAN_COLUMNS = 256
LEADING_AXES = 64
# A sample of so many rows is enough for the information of Newton's steps: steps are as good as with all rows, but
# prices are off by a percent.
HESSIAN_ROWS = 16384


@dataclass(frozen=True)
class Limits:
    """Sizes at which rows in memory change how they work; views and samples have those of their table.

    Parameters
    ----------
    block_floats : int
        Scratch numbers of a block of rows (float64): with 1 MiB they stay in the second-level cache of a core.
    fewest_block_rows, most_block_rows : int
        Least and most rows of a block, whatever `block_floats` allows, so that calls of NumPy do not outweigh the sums
        and blocks of small trees do not outgrow the cache with the table's columns.
    kept_bytes : int
        Bytes of standardised columns and statistics of rows that are kept from pass to pass. Larger ones are made anew
        block by block in each pass, so that memory does not grow with the table (a million rows of 20 columns need less
        than 64 MB beyond it). Row statistics that take more are summed on blocks by NumPy.
    widest_products : int
        Numbers in a row of the design up to which NumPy forms the products of all pairs once and shares them among all
        splits; wider designs are multiplied split by split, where BLAS is at its best.
    product_floats : int
        Such products (float64) that are held at once: 4 MiB.
    quantile_floats : int
        Values along directions (float64) that are held at once for their quantiles: 16 MiB.
    views_at_once : int
        Leaves whose views are made in one reading of the rows: all views together may hold more than the rows do.
    negligible_share : float
        Share of a row's weight: a leaf that holds less of a row leaves it out of its view, as it cannot turn a proposal
        below that leaf.
    fewest_gates : int
        Gates of a request (rows × splits, × columns if information is summed) from which on compiled code uses more
        than one thread: with fewer a second thread costs more than it saves.
    fewest_arranged, fewest_splits_arranged : int
        Rows and splits from which on compiled code sorts rows by their leaf: most subtrees can then be skipped.
    arranged_floats : int
        Cells and memberships (float64) that are held at once while rows are sorted: 8 MiB.
    most_multiplied : int
        Numbers in a row of the design up to which compiled code sums moments; the products of wider designs are made
        faster by BLAS.
    fewest_in_floats : int
        Rows of a table beyond which its rows are put into an order by content and ascents make their passes in float32
        until the polish. That halves the time of a pass: fits of covertype (24 000 rows) take 28 s instead of 54 s with
        log-loss .514 instead of .518, of magic_telescope (17 000 rows) .99 s instead of 1.62 s with .2960 instead of
        .2975. As many rows as the first sample of growth has, so that smaller tables use float64.
    float_tolerance : float
        Nats: ascents that are to converge more exactly than this make their passes in float64.
    float_weights : (float, float)
        Least and largest weight of a row that float32 can still divide by a likelihood.
    """

    block_floats: int = 1 << 17
    fewest_block_rows: int = 64
    most_block_rows: int = 4096
    kept_bytes: int = 48 << 20
    widest_products: int = 64
    product_floats: int = 1 << 19
    quantile_floats: int = 1 << 21
    views_at_once: int = 16
    negligible_share: float = 1e-3
    fewest_gates: int = 1 << 14
    fewest_arranged: int = 1 << 15
    fewest_splits_arranged: int = 8
    arranged_floats: int = 1 << 20
    most_multiplied: int = 512
    fewest_in_floats: int = 1 << 14
    float_tolerance: float = 1e-3
    float_weights: tuple[float, float] = (1e-12, 1e6)


DEFAULT_LIMITS = Limits()

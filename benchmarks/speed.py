"""Time and memory against peers in the same run, with the limits that the library is held to.

Prints Markdown tables. Times depend on the machine and on what else it does: peers take turns with what is measured,
and a ratio is taken within a turn. Shown are the median over the turns and, as "least to most", their range. All have
two threads, unless --threads or a line says otherwise; memory is measured in a process of its own. Fits of `numbers`
and `mixed`, and the growth of passes (`scaling`), are measured by processor time in one thread.

On a busy machine, peers whose threads wait for each other lose far more than those that work alone. The report says how
busy it was; with --threads 1 the ratios still mean something there.

Needs no data. With --data also known tables are fitted, from files like banknote.csv with what is to be predicted in
the column `target`, and with --large covertype.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from timing.covertype import covertype
from timing.fits import compare
from timing.growth import scalings
from timing.histograms import mixed, numbers
from timing.imports import imports
from timing.pass_growth import pass_growth
from timing.passes import memory_of_a_pass, passes
from timing.peers import OURS, PEERS, missing_peers
from timing.picture import draw, draw_passes
from timing.predictions import predictions
from timing.report import Report, surroundings
from timing.results import print_progress


def add_passes(arguments: argparse.Namespace, report: Report) -> None:
    lines, report.parts = passes(arguments.repeats)
    report.lines += [*lines, *memory_of_a_pass(), *imports(arguments.repeats)]


def add_predictions(arguments: argparse.Namespace, report: Report) -> None:
    report.lines += predictions(arguments.repeats, arguments.threads)


def add_growth(arguments: argparse.Namespace, report: Report) -> None:
    for scaling in scalings(arguments.scaling, arguments.repeats, arguments.threads):
        report.grown.append(scaling)


def add_fits(arguments: argparse.Namespace, report: Report) -> None:
    for comparison in compare(arguments.data, arguments.repeats, arguments.threads, arguments.models):
        report.comparisons.append(comparison)


def add_numbers(arguments: argparse.Namespace, report: Report) -> None:
    for line in numbers(arguments.data, arguments.repeats):
        report.lines.append(line)


def add_mixed(arguments: argparse.Namespace, report: Report) -> None:
    for line in mixed(arguments.data, arguments.repeats):
        report.lines.append(line)


def add_scaling(arguments: argparse.Namespace, report: Report) -> None:
    for growth in pass_growth(arguments.repeats):
        report.passes_grown.append(growth)


def add_covertype(arguments: argparse.Namespace, report: Report) -> None:
    report.lines += covertype(arguments.data, arguments.threads)


Measure = Callable[[argparse.Namespace, Report], None]
# Each part of the benchmark, and how it fills the report; the last one is left out unless it is asked for.
PARTS: Mapping[str, Measure] = {
    "passes": add_passes,
    "predictions": add_predictions,
    "growth": add_growth,
    "fits": add_fits,
    "numbers": add_numbers,
    "mixed": add_mixed,
    "scaling": add_scaling,
    "covertype": add_covertype,
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The checked arguments of the command line; `parts` are those to measure, `models` those to fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, metavar="K", help="turns that each task takes (default: 3)")
    parser.add_argument("--threads", type=int, default=2, metavar="K", help="threads of each model (default: 2)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with tables as CSV, to be fitted as well")
    parser.add_argument("--large", action="store_true", help="fit covertype of --data; takes minutes")
    parser.add_argument("--scaling", action="store_true", help="growth of fit time up to a million rows; takes minutes")
    parser.add_argument("--only", metavar="PART,PART", help=f"some parts alone, of {', '.join(PARTS)}")
    parser.add_argument("--peers", metavar="NAME,NAME", help="fits of some peers alone, by how their names begin")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw growth of fit time and ratios to peers as a PNG"
    )
    parser.add_argument("--plot-passes", type=Path, metavar="FILE", help="draw growth of a pass as a PNG")
    parser.add_argument("--limits", action="store_true", help="exit with 1 if a limit is not met")
    options = parser.parse_args(arguments)
    usual = ",".join(PARTS if options.large else list(PARTS)[:-1])
    options.parts = [part.strip() for part in (options.only or usual).split(",")]
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"--only: {unknown[0]!r} is not a part of this benchmark. Choose from {', '.join(PARTS)}.")
    beginnings = [name.strip().casefold() for name in (options.peers or "").split(",")]
    options.models = [name for name in PEERS if name == OURS or name.casefold().startswith(tuple(beginnings))]
    if len(options.models) == 1:
        parser.error(f"--peers: no peer begins with {options.peers!r}. They are {'; '.join(PEERS)}.")
    for name in ("repeats", "threads"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1; got {getattr(options, name)}.")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data: there is no folder {options.data}.")
    if "covertype" in options.parts and options.data is None:
        parser.error("covertype is a table of --data; give the folder that holds covertype.csv.gz.")
    if options.plot is not None and not {"growth", "fits"} <= set(options.parts):
        parser.error("--plot draws growth and fits, which --only leaves out.")
    if options.plot_passes is not None and "scaling" not in options.parts:
        parser.error("--plot-passes draws scaling, which --only leaves out.")
    return options


def main(arguments: Sequence[str] | None = None, parts: Mapping[str, Measure] = PARTS) -> int:
    options = parse(arguments)
    header = surroundings(options.threads)
    if missing_peers():
        print_progress(missing_peers())
    report = Report()
    complete = False
    try:
        with threadpool_limits(options.threads):
            for part in options.parts:
                print_progress(f"{part} ...")
                parts[part](options, report)
        complete = True
    finally:
        ending = "" if complete else "Interrupted: the rest was not measured."
        print("\n\n".join(filter(None, [header, str(report), missing_peers(), ending])))
    if options.plot is not None:
        draw(report.comparisons, report.grown, options.plot)
    if options.plot_passes is not None:
        draw_passes(report.passes_grown, options.plot_passes)
    return int(options.limits and not all(line.is_met() for line in report.limits()))


if __name__ == "__main__":
    # A long run that is ended from outside is to leave what it has measured, as one that is interrupted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())

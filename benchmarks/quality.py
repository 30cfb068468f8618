"""Quality of the defaults on known data sets, with peers on the same folds.

Prints Markdown tables, with means over five folds. Classification: the log-loss; then the Brier score (summed over the
classes, 0 to 2) and the expected calibration error (ECE, 15 bins), both of the held-out rows of all folds together.
Regression: the root mean squared error (RMSE) over the standard deviation of all targets; for models that predict a
distribution also the negative log-likelihood (NLL), the continuous ranked probability score (CRPS) and the share of
targets in the central 90% interval.

Data sets are prepared or raw. Prepared, rows with gaps are dropped and categories become indicator columns, for all
models. Raw, the reticulum gets each table as pandas reads it, with its gaps and with words for categories. Peers get
their usual preparation: gaps are filled by the mean, categories become indicator columns with one more for their gaps,
and columns without any cell are dropped; boosting takes gaps and categories by itself.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from threadpoolctl import threadpool_limits

from scoring.peers import RIVAL, has_rival
from scoring.problems import PROBLEMS, Problem, Regression
from scoring.report import nll_differences, report, wins_enough
from scoring.runs import measure_all


def choose_problems(names: str | None, raw: bool | None) -> list[Problem]:
    problems = [problem for problem in PROBLEMS if raw in (None, problem.raw)]
    if names is None:
        return problems
    known = list(dict.fromkeys(problem.name for problem in problems))
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"--only: {unknown[0]!r} is not a data set of this benchmark. Choose from {', '.join(known)}.")
    return [problem for name in wanted for problem in problems if problem.name == name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder with the tables, as CSV")
    parser.add_argument("--seeds", type=int, default=1, metavar="K", help="fits with random_state below K (default: 1)")
    parser.add_argument("--only", metavar="NAME,NAME", help="some data sets alone, of any kind")
    parser.add_argument("--raw", action=argparse.BooleanOptionalAction, help="raw data sets alone, or prepared ones")
    parser.add_argument("--limits", action="store_true", help="exit with 1 if a limit is not met")
    arguments = parser.parse_args()
    problems = choose_problems(arguments.only, arguments.raw)
    if arguments.seeds < 1:
        parser.error(f"--seeds must be at least 1; got {arguments.seeds}.")
    if not arguments.data.is_dir():
        print(f"Skipped: there is no folder {arguments.data}. Give the folder that holds cross.csv and the others.")
        return 0
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "reading the tables needs pandas, which is not installed. "
            "Install the extra 'benchmarks': pip install 'bayesian-reticulum[benchmarks]'"
        ) from error
    if not has_rival() and any(isinstance(problem, Regression) for problem in problems):
        print(
            f"{RIVAL} is not installed: its columns stay empty, and the limit on data sets with a lower NLL is not "
            "checked. Install the extra 'benchmarks': pip install 'bayesian-reticulum[benchmarks]'",
            file=sys.stderr,
        )
    with threadpool_limits(1):
        rows = list(measure_all(arguments.data, problems, arguments.seeds))
    if not rows:
        print(f"Skipped: {arguments.data} holds none of the tables {', '.join(problem.name for problem in problems)}.")
        return 0
    print(report(rows))
    prepared = [row for row in rows if not row.problem.raw]
    missed = any(not row.is_met() for row in rows) or wins_enough(nll_differences(prepared)) is False
    return int(arguments.limits and missed)


if __name__ == "__main__":
    sys.exit(main())

"""Tune and compare all techniques on the examples of the paper, and print the results beside the numbers in the paper.

Writes tables.md, tables.csv, the figures, experiments.md (how the two bounds behave) and studies.db, which holds every
trial: a run that was interrupted goes on where it ended, with the same result, and one with more trials adds to those
that are there.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

from data import FILES, Refusal, generated, read

# All benchmarks share the module that writes tables, one folder up.
sys.path.append(str(Path(__file__).resolve().parent.parent))

EXTRAS = ("matplotlib", "optuna", "pandas", "xgboost")


def check_extras() -> None:
    """Refuse if a package that is needed beyond the library's own cannot be imported."""
    missing = []
    for name in EXTRAS:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        raise Refusal(f"{', '.join(missing)} cannot be imported. Install: pip install 'bayesian-reticulum[paper]'")


def make_writable(folder: Path) -> None:
    """Make a folder, and refuse if nothing can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Refusal(f"--out: {folder} cannot be written to: {error.strerror}.") from error


def replace(path: Path, text: str) -> None:
    """Write a file in one go, so that nobody ever sees half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=Path("paper-results"), metavar="DIR", help="(default: paper-results)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder with the published rows: sphere.csv, cross.csv, ripley_train.csv and ripley_test.csv, "
        "features and a column 'target' (default: rows are generated)",
    )
    parser.add_argument("--trials", type=int, metavar="N", help="trials for each technique (default: 40; quick: 2)")
    parser.add_argument("--seeds", type=int, metavar="K", help="repeats of the reticula (default: 10; quick: 2)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--only", metavar="NAME,NAME", help=f"some data sets alone, of {', '.join(FILES)}")
    parser.add_argument("--quick", action="store_true", help="few rows and tiny models, to see that all works")
    arguments = parser.parse_args()
    if arguments.trials is None:
        arguments.trials = 2 if arguments.quick else 40
    if arguments.seeds is None:
        arguments.seeds = 2 if arguments.quick else 10
    return arguments


def run(arguments: argparse.Namespace) -> None:
    """Check everything first, then measure, write and print."""
    for option in ("trials", "seeds", "jobs"):
        if getattr(arguments, option) < 1:
            raise Refusal(f"--{option} must be at least 1; got {getattr(arguments, option)}.")
    names = list(FILES) if arguments.only is None else [name.strip() for name in arguments.only.split(",")]
    for name in names:
        if name not in FILES:
            raise Refusal(f"--only: {name!r} is not a data set of this benchmark. Choose from {', '.join(FILES)}.")
    check_extras()
    quick, is_generated = arguments.quick, arguments.data is None
    data = {
        name: generated(name, quick=quick) if is_generated else read(arguments.data, name, quick=quick)
        for name in names
    }
    make_writable(arguments.out)

    # Only now, because these need the extras.
    import convergence
    import polygons
    from diagrams import save
    from figures import draw_all
    from report import as_csv, markdown
    from study import conduct

    sizes = (arguments.trials, arguments.seeds, arguments.jobs)
    results = conduct(arguments.out, data, *sizes, is_generated=is_generated, is_quick=quick)
    text = markdown(results)
    replace(arguments.out / "tables.md", text)
    replace(arguments.out / "tables.csv", as_csv(results))
    print(text, end="", flush=True)
    draw_all(results, arguments.out)

    parts = ["# How the two bounds behave\n"]
    if quick:
        parts.append("**Quick run.** What the text says holds at full size; the numbers here mean nothing.\n")
    for experiment in (polygons, convergence):
        measured = experiment.measure(quick=quick)
        save(experiment.figure(measured), arguments.out / f"{experiment.__name__}.png")
        parts.append(experiment.markdown(measured))
    replace(arguments.out / "experiments.md", "\n".join(parts))


def main() -> int:
    try:
        run(parse())
    except Refusal as error:
        print(f"paper: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

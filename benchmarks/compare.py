"""Shows whether two revisions give the same results, and which of the two takes less time.

`python benchmarks/compare.py BASE` compares the revision BASE with the working tree as it is, files that are not
committed included. The script builds both below `build/compare`, in virtual environments that it keeps: a revision is
built once, and the working tree again only after its sources have changed.

Both revisions make the same fits in turns. A Markdown table shows the log evidence of the base and its difference, the
splits of both, and the largest absolute differences of predictions: of probabilities of classes, or of means and both
ends of the 90% intervals of numbers. Seconds are medians of processor time; a ratio above 1 says that the working tree
takes longer. The exit status is 1 if a fit fails; with --check also if any result differs, or if the geometric mean of
all ratios is above 1.03. The script needs git, tar, pip, a C++ compiler and NumPy.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PYTHON = Path("environment", "bin", "python")  # in the folder of a build
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
BASE, WORKING = "base", "working"
RESULTS = ("log evidence", "splits", "training rows", "fresh rows")
LARGEST_RATIO = 1.03  # of the times, as the geometric mean over all fits
VERSIONS = "versions"  # what a worker can be asked for besides fits
# A second thread would make times vary, text would have other hashes, and the path could bring in another library.
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONPATH": ""}

# A function that is timed and returns a fitted model; then its training rows and fresh rows, which the model predicts.
# Only workers import the library and what else fits need: the Python that starts them may have none of it.
Task = tuple[Callable[[], Any], Any, Any]


def half(name: str, X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Task:
    """The fit of an estimator, by the name of its class, to every other row; the rows between are the fresh ones."""
    training, fresh = (X.iloc[::2], X.iloc[1::2]) if hasattr(X, "iloc") else (X[::2], X[1::2])
    model = getattr(import_module("bayesian_reticulum"), name)(random_state=0, **parameters)
    return lambda: model.fit(training, y[::2], sample_weight), training, fresh


def generated(name: str, n: int) -> tuple[Any, Any]:
    return getattr(import_module("bayesian_reticulum.datasets"), f"make_{name}")(n, random_state=0)[:2]


def bundled(name: str) -> tuple[Any, Any]:
    return getattr(import_module("sklearn.datasets"), f"load_{name}")(return_X_y=True)


def bent(n: int) -> tuple[Any, Any]:
    """Numbers that follow planes, with one bend along a diagonal and one across a column."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, np.abs(X[:, 0] - X[:, 1]) + np.maximum(X[:, 2], 0.5) + 0.1 * rng.standard_normal(n)


def gappy() -> tuple[Any, Any]:
    """Cells that are missing at random, and blocks of cells: the same columns are missing in the same rows."""
    X, y = bundled("breast_cancer")
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    X[:180, 20:] = X[400:, :5] = np.nan
    return X, y


def frame(n: int, has_classes: bool = False) -> tuple[Any, Any]:
    """Numbers, text, a categorical dtype and bools, with gaps in all but the bools; targets are numbers or classes."""
    import pandas as pd

    rng = np.random.default_rng(0)
    age, size = rng.normal(40, 12, size=n).round(), rng.choice(["small", "medium", "large"], size=n)
    city = rng.choice(["Oslo", "Rome", "Wien", "Bern"], size=n, p=[0.45, 0.3, 0.15, 0.1])
    smokes = rng.uniform(size=n) < 0.3
    # What the age does depends on the size, so that one split is not enough.
    slope = np.where(size == "large", -0.15, 0.15)
    y = slope * (age - 40) + 1.5 * smokes + 2.0 * (city == "Rome") + 0.4 * rng.standard_normal(n)
    table = pd.DataFrame({"age": age, "income": 40 * age + rng.normal(0, 300, size=n), "city": city, "size": size})
    table = table.mask(rng.uniform(size=table.shape) < 0.08)
    table = table.assign(size=pd.Categorical(table["size"], ["small", "medium", "large"]), smokes=smokes)
    return table, np.where(y > 0.5, "yes", "no") if has_classes else y


def wide() -> tuple[Any, Any]:
    """More columns than training rows; all columns follow a few hidden ones."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((400, 6))
    X = hidden @ rng.standard_normal((6, 300)) + 0.5 * rng.standard_normal((400, 300))
    return X, np.maximum(hidden[:, 0], hidden[:, 1]) > 0.5


def simplified() -> Task:
    """A simpler tree in the place of a fitted one; the fit itself is not timed."""
    X, y = bundled("breast_cancer")
    fit, training, fresh = half("ReticulumClassifier", X, y)
    model, simplify = fit(), import_module("bayesian_reticulum").simplify
    return lambda: simplify(model, training, y[::2]).estimator, training, fresh


FITS: Mapping[str, Callable[[], Task]] = {
    "two-classes": lambda: half("ReticulumClassifier", *generated("sphere", 8000)),
    "three-classes": lambda: half("ReticulumClassifier", *bundled("iris"), n_restarts=3),
    "constant-leaves": lambda: half("ReticulumRegressor", *bundled("diabetes"), leaf="constant"),
    "linear-leaves": lambda: half("ReticulumRegressor", *bent(800), leaf="linear"),
    "gaps": lambda: half("ReticulumClassifier", *gappy()),
    "categories": lambda: half("ReticulumClassifier", *frame(2000, has_classes=True)),
    "category-regression": lambda: half("ReticulumRegressor", *frame(400)),
    # The weights of rows are fractions, and one in seven is zero.
    "weights": lambda: half(
        "ReticulumClassifier", *bundled("breast_cancer"), np.arange(285) % 7 / 3, class_weight={0: 2.0, 1: 0.5}
    ),
    "wide": lambda: half("ReticulumClassifier", *wide()),
    # With more than 16 384 training rows leaves are scanned on samples, and the compiled core climbs in floats.
    "many-rows": lambda: half("ReticulumClassifier", *generated("sphere", 40_000)),
    "paper": lambda: half("PaperReticulumClassifier", *generated("ripley", 500)),
    "simplify": simplified,
    "pure-classification": lambda: half("ReticulumClassifier", *generated("cross", 500)),
    "pure-regression": lambda: half("ReticulumRegressor", *bent(160)),
}
PURE = ("pure-classification", "pure-regression")  # fits without the compiled core


def predictions(model: Any, X: Any) -> list[float]:
    """Probabilities of all classes, or means and both ends of the 90% intervals."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X).ravel().tolist()
    return np.concatenate([model.predict(X), *model.predict_distribution(X).interval(0.9)]).tolist()


def versions() -> dict[str, str]:
    """Versions that may decide the last digits of results; the compiled core has to be in use."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        import_module("bayesian_reticulum").show_versions()
    core = "".join(line for line in text.getvalue().splitlines() if line.startswith("compiled code"))
    if "in use" not in core:
        raise ImportError(f"the compiled core is missing ({core}); install a C++ compiler and compare again")
    return {"Python": sys.version.split()[0]} | {name: version(name) for name in PACKAGES}


def answer(question: str, tasks: dict[str, Task], fits: Mapping[str, Callable[[], Task]] = FITS) -> dict[str, Any]:
    """Seconds of a fit and, the first time, its results; `tasks` keeps the tables for the next time."""
    if question == VERSIONS:
        return versions()
    is_first = question not in tasks
    if is_first:
        tasks[question] = fits[question]()
    run, *tables = tasks[question]
    start = time.process_time()
    model = run()
    found = {"seconds": time.process_time() - start}
    if is_first:
        results = float(model.log_evidence_), int(model.n_splits_), *(predictions(model, X) for X in tables)
        found |= dict(zip(RESULTS, results, strict=True))
    return found


def serve() -> None:
    """Answer each line of standard input, the name of a fit, with a line of JSON."""
    # The process that has started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    # What a fit prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tasks: dict[str, Task] = {}
    for line in sys.stdin:
        try:
            found = answer(line.strip(), tasks)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), file=answers, flush=True)


class Worker:
    """A process that makes fits with the library of one interpreter; it stays alive, so that no time has imports."""

    def __init__(self, python: Path | str, is_pure: bool = False) -> None:
        self._command = [python, "-P", Path(__file__).resolve(), "--serve"]
        self._environment = os.environ | SETTINGS | {"BAYESIAN_RETICULUM_NATIVE": "0" if is_pure else "1"}
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: str) -> dict[str, Any]:
        """What the process answers, with the key `error` if the fit fails; a process that ends is started again."""
        if self._process is None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._process = subprocess.Popen(self._command, text=True, env=self._environment, **pipes)
        with contextlib.suppress(BrokenPipeError):
            print(question, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        status = self._process.wait()
        self.close()
        return {"error": f"the process ended with status {status}"}

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE).stdout


def base_build(root: Path, base: str) -> Path:
    """The folder of a revision, which is built there if it was not before."""
    sha = git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}").decode().strip()
    if not sha:
        raise SystemExit(f"{base!r} is no revision of this repository: give a commit, a branch or a tag.")
    source = emptied(root / "build" / "compare" / sha[:10] / "source")
    subprocess.run(["tar", "-x", "-C", source], input=git(root, "archive", sha), check=True)
    return built(source.parent, sha)


def working_build(root: Path) -> Path:
    """The folder of the working tree, which is built there if its sources have changed."""
    source = emptied(root / "build" / "compare" / WORKING / "source")
    for name in os.fsdecode(git(root, "ls-files", "-coz", "--exclude-standard")).split("\0"):
        # Git also lists files that were deleted but not committed.
        if (root / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, source / name)
    digest = hashlib.sha256()
    for path in [*sorted((source / "src").rglob("*")), source / "pyproject.toml", source / "CMakeLists.txt"]:
        if path.is_file():
            digest.update(f"{path.relative_to(source)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return built(source.parent, digest.hexdigest())


def emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def built(folder: Path, key: str) -> Path:
    """A folder after its `source` was installed in its `environment`; a note with the key says that this is done."""
    note = folder / "built"
    if note.is_file() and note.read_text() == key and (folder / PYTHON).exists():
        return folder
    note.unlink(missing_ok=True)
    print(f"building {folder} ...", file=sys.stderr, flush=True)
    # The environments that the Makefile makes have no pip, but the Python from which they come has it.
    outer = Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info))
    commands = [[outer, "-m", "pip", "--python", folder / PYTHON, "install", "--quiet", folder / "source", "pandas"]]
    if not (folder / PYTHON).exists():
        commands.insert(0, [outer, "-m", "venv", "--clear", "--without-pip", folder / PYTHON.parts[0]])
    for command in commands:
        if subprocess.run(command, stdout=sys.stderr).returncode:
            raise SystemExit(f"{folder} could not be built, as told above. Remove it to begin anew.")
    note.write_text(key)
    return folder


def check_environments(folders: Sequence[Path]) -> None:
    """Refuse environments without the compiled core, or with different versions of what results depend on."""
    found = []
    for folder in folders:
        with contextlib.closing(Worker(folder / PYTHON)) as worker:
            found.append(worker.ask(VERSIONS))
        if "error" in found[-1]:
            # The next comparison has to build it anew.
            (folder / "built").unlink(missing_ok=True)
            raise SystemExit(f"{folder} cannot be used: {found[-1]['error']}.")
    if found[0] != found[1]:
        told = [", ".join(f"{name} {value}" for name, value in have.items()) for have in found]
        both = " and ".join(map(str, folders))
        raise SystemExit(f"One has {told[0]}, the other {told[1]}: remove {both} and compare again.")


class Line(NamedTuple):
    """A fit and what it came to in both revisions: results and the median of seconds, or the key `error`."""

    fit: str
    base: Mapping[str, Any]
    working: Mapping[str, Any]

    @property
    def errors(self) -> list[str]:
        pairs = ((BASE, self.base), (WORKING, self.working))
        return [f"{self.fit}, {revision}: {found['error']}" for revision, found in pairs if "error" in found]

    @property
    def ratio(self) -> float:
        return self.working["seconds"] / self.base["seconds"]

    def difference(self, result: str) -> float:
        """The largest absolute difference; infinite where NaN is in one revision alone, or where sizes differ."""
        base, working = np.atleast_1d(self.base[result]), np.atleast_1d(self.working[result])
        if base.shape != working.shape:
            return math.inf
        differs = (base != working) & ~(np.isnan(base) & np.isnan(working))
        gaps = np.abs(base[differs] - working[differs])
        return float(np.where(np.isnan(gaps), math.inf, gaps).max(initial=0.0))


def compared(pythons: Mapping[str, Path | str], fits: Sequence[str], turns: int) -> Iterator[Line]:
    """Each fit in both revisions, given by their interpreters; an error ends the turns of a fit."""
    with contextlib.ExitStack() as stack:
        workers = {
            (revision, is_pure): stack.enter_context(contextlib.closing(Worker(python, is_pure)))
            for revision, python in pythons.items()
            for is_pure in (False, True)
        }
        for number, fit in enumerate(fits):
            print(f"{fit}, {number + 1} of {len(fits)} ...", file=sys.stderr, flush=True)
            answers: dict[str, list[dict[str, Any]]] = {BASE: [], WORKING: []}
            for turn in range(turns):
                # Neither revision goes first more often.
                for revision in sorted(answers, reverse=(number + turn) % 2 == 1):
                    answers[revision].append(workers[revision, fit in PURE].ask(fit))
                if any("error" in found[-1] for found in answers.values()):
                    break
            yield Line(fit, *map(summed_up, answers.values()))


def summed_up(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if "error" in answers[-1]:
        return answers[-1]
    return answers[0] | {"seconds": median(found["seconds"] for found in answers)}


def table(lines: Sequence[Line]) -> str:
    """A Markdown table with a row for each fit."""
    rows = [["fit", "log evidence", "difference", "splits", *RESULTS[2:], f"{BASE} s", f"{WORKING} s", "ratio"]]
    for line in lines:
        cells = ["failed"] + [""] * 7
        if not line.errors:
            evidence, _, training, fresh = (f"{line.difference(result):.2g}" for result in RESULTS)
            times = f"{line.base['seconds']:.3f}", f"{line.working['seconds']:.3f}", f"{line.ratio:.3f}"
            splits = f"{line.base['splits']} and {line.working['splits']}"
            cells = [f"{line.base['log evidence']:.4f}", evidence, splits, training, fresh, *times]
        rows.append([line.fit, *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    aligned = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in aligned)


def complaints(lines: Sequence[Line], allowed: float) -> list[str]:
    """Results that differ by more than is allowed, and times that have grown; lines with errors say nothing here."""
    whole = [line for line in lines if not line.errors]
    gaps = ((line.fit, result, line.difference(result)) for line in whole for result in RESULTS)
    found = [f"{fit}: {result} differ by {gap:.2g}" for fit, result, gap in gaps if gap > allowed]
    if mean_ratio(lines) > LARGEST_RATIO:
        found.append(f"the geometric mean of the ratios is {mean_ratio(lines):.3f}, above {LARGEST_RATIO}")
    return found


def mean_ratio(lines: Sequence[Line]) -> float:
    ratios = [line.ratio for line in lines if not line.errors]
    return geometric_mean(ratios) if ratios else math.nan


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE", help="the revision to compare with")
    parser.add_argument("--turns", type=int, default=7, metavar="K", help="times that each fit is made (default: 7)")
    parser.add_argument("--only", metavar="NAME,NAME", help=f"some fits alone, of {', '.join(FITS)}")
    parser.add_argument("--check", action="store_true", help="exit with 1 if results differ or times have grown")
    parser.add_argument("--allow", type=float, default=0.0, metavar="X", help="differences that --check lets pass")
    chosen = parser.parse_args(arguments)
    fits = list(FITS) if chosen.only is None else [name.strip() for name in chosen.only.split(",")]
    unknown = [name for name in fits if name not in FITS]
    if unknown:
        parser.error(f"--only: {unknown[0]!r} is not one of the fits. Choose from {', '.join(FITS)}.")
    if chosen.turns < 1 or not chosen.allow >= 0:
        parser.error("--turns must be at least 1 and --allow must not be negative.")
    folders = base_build(ROOT, chosen.base), working_build(ROOT)
    check_environments(folders)
    pythons = {BASE: folders[0] / PYTHON, WORKING: folders[1] / PYTHON}
    lines = list(compared(pythons, fits, chosen.turns))
    largest = max((line.difference(name) for line in lines if not line.errors for name in RESULTS), default=math.nan)
    errors = [error for line in lines for error in line.errors]
    wrong = complaints(lines, chosen.allow) if chosen.check else []
    summary = f"Largest difference: {largest:.2g}; geometric mean of the ratios: {mean_ratio(lines):.3f}."
    print(table(lines), f"\nThe base is {chosen.base}, {folders[0].name}.", summary, *errors, *wrong, sep="\n")
    return int(bool(errors or wrong))


if __name__ == "__main__":
    sys.exit(serve() if sys.argv[1:] == ["--serve"] else main())

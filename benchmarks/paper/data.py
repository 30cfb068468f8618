"""The three data sets of the paper: read from CSV files, or generated where there are none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from bayesian_reticulum.datasets import make_cross, make_ripley, make_sphere

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# What each data set is read from: the rows to fit on and, for one of them, rows to predict.
FILES = {
    "sphere": ("sphere.csv",),
    "cross": ("cross.csv",),
    "ripley": ("ripley_train.csv", "ripley_test.csv"),
}
_MAKERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "sphere": (make_sphere, (5000,)),
    "cross": (make_cross, (1000,)),
    "ripley": (make_ripley, (250, 1000)),
}
_QUICK_ROWS = 120
N_FOLDS = 5


class Refusal(Exception):
    """Something about what was asked for makes the run impossible; the message says what, in one line."""


@dataclass(frozen=True)
class DataSet:
    """Rows to fit on, and for some data sets rows to predict; classes are numbered from 0."""

    name: str
    X: Floats
    y: Ints
    X_test: Floats | None = None
    y_test: Ints | None = None

    def parts(self, fold: int | None) -> tuple[Floats, Ints, Floats | None, Ints | None]:
        """Rows to fit on and rows to predict: those outside and inside of a fold, or all and the test rows."""
        if fold is None:
            return self.X, self.y, self.X_test, self.y_test
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=42).split(self.X, self.y)
        train, test = list(folds)[fold]
        return self.X[train], self.y[train], self.X[test], self.y[test]

    def fingerprint(self) -> str:
        """Differs between data sets with different numbers."""
        digest = hashlib.sha256()
        for part in (self.X, self.y, self.X_test, self.y_test):
            digest.update(b"none" if part is None else repr(part.shape).encode() + part.tobytes())
        return digest.hexdigest()[:16]


def generated(name: str, *, quick: bool) -> DataSet:
    """A fresh draw from the distribution of a data set, the same every time."""
    make, sizes = _MAKERS[name]
    parts = [make(min(size, _QUICK_ROWS) if quick else size, random_state=seed) for seed, size in enumerate(sizes)]
    return DataSet(name, *(array for part in parts for array in (part.X, part.y)))


def read(directory: Path, name: str, *, quick: bool) -> DataSet:
    """The published rows of a data set.

    Raises
    ------
    Refusal
        If a file is not there or not a table of numbers with a column `target` and enough rows of both classes.
    """
    frames = [_table(directory / file, quick) for file in FILES[name]]
    files, first = " and ".join(FILES[name]), frames[0]
    if any(list(frame.columns) != list(first.columns) for frame in frames):
        raise Refusal(f"--data: the columns of {files} in {directory} differ.")
    classes = sorted(first["target"].unique())
    if any(sorted(frame["target"].unique()) != classes for frame in frames):
        raise Refusal(f"--data: the classes of {files} in {directory} differ.")
    arrays = []
    for frame in frames:
        arrays += [frame.drop(columns="target").to_numpy(), np.searchsorted(classes, frame["target"])]
    return DataSet(name, *arrays)


def _table(path: Path, quick: bool) -> Any:
    """A data frame of finite numbers, with a column `target` of two classes."""
    import pandas as pd

    if not path.is_file():
        raise Refusal(f"--data: there is no file {path}.")
    try:
        # Names in the first row are read as they are: of two that are the same, pandas would rename one.
        frame = pd.read_csv(path, header=None, skiprows=1, names=None)
        frame.columns = pd.read_csv(path, header=None, nrows=1, dtype=str).iloc[0].tolist()
    except (OSError, ValueError) as error:
        raise Refusal(f"--data: {path} cannot be read as CSV: {' '.join(str(error).split())}") from error
    if list(frame.columns).count("target") != 1 or frame.shape[1] < 2:
        raise Refusal(f"--data: {path} needs one column 'target' and at least one feature.")
    if quick and len(frame) > _QUICK_ROWS:
        frame = frame.sample(_QUICK_ROWS, random_state=0)
    try:
        features = frame.drop(columns="target").astype(np.float64)
    except ValueError as error:
        raise Refusal(f"--data: {path} has features that are not numbers.") from error
    counts = frame["target"].value_counts(dropna=False)
    is_finite = np.isfinite(features.to_numpy()).all()
    if not is_finite or frame["target"].isna().any() or len(counts) != 2 or counts.min() < N_FOLDS:
        raise Refusal(f"--data: {path} needs finite features and {N_FOLDS} rows or more of each of two classes.")
    return features.assign(target=frame["target"])

"""Tables as they are read, and their folds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


class Fold(NamedTuple):
    """Rows to fit on and rows to predict."""

    X: pd.DataFrame
    y: NDArray[Any]
    X_test: pd.DataFrame
    y_test: NDArray[Any]

    def for_peers(self) -> Fold:
        """This fold without empty columns, and with words as categories, whose levels both parts have in common."""
        import pandas as pd

        X = pd.concat([self.X, self.X_test]).dropna(axis="columns", how="all")
        X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
        return self._replace(X=X.iloc[: len(self.X)], X_test=X.iloc[len(self.X) :])


def load(
    directory: Path, name: str, max_rows: int | None, raw: bool = False
) -> tuple[pd.DataFrame, NDArray[Any]] | None:
    """Features and targets of a table, raw or prepared; None if it is not there."""
    import pandas as pd

    paths = [path for path in (directory / f"{name}.csv", directory / f"{name}.csv.gz") if path.exists()]
    if not paths:
        return None
    frame = pd.read_csv(paths[0])
    if not raw:
        frame = frame.dropna()
    if max_rows is not None and len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0)
    X = frame.drop(columns="target")
    return X if raw else pd.get_dummies(X).astype(np.float64), frame["target"].to_numpy()


def split(X: pd.DataFrame, y: NDArray[Any], folds: Any) -> list[Fold]:
    """The folds of a table."""
    return [Fold(X.iloc[train], y[train], X.iloc[test], y[test]) for train, test in folds.split(X, y)]

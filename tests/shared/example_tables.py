"""Tables that laws of fits are tested on, and the same frame in every library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.datasets import load_iris

from bayesian_reticulum.datasets import make_cross, make_ripley


def three_classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] + 0.3 * rng.normal(size=n) > 0.5)
    return X, y


CLASSES = {
    "ripley": lambda: make_ripley(200, random_state=0)[:2],
    "cross": lambda: make_cross(300, random_state=0)[:2],
    "iris": lambda: load_iris(return_X_y=True),
    "three classes": three_classes,
}


def kink(n=200, seed=0, noise=0.1):
    """A line with a kink."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.abs(X[:, 0]) + 0.3 * X[:, 1] + noise * rng.standard_normal(n)


def step(n=200, seed=0, noise=0.1):
    """A constant that jumps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] > 0, 3.0, 0.0) + noise * rng.standard_normal(n)


def line(n=200, seed=0, noise=0.3):
    """A line."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, X @ [1.0, 2.0, -1.0] + noise * rng.standard_normal(n)


NUMBERS = {"kink": kink, "step": step, "line": line}


def listed(frame):
    return [[None if pd.isna(cell) else cell for cell in row] for row in frame.itertuples(index=False)]


def in_polars(frame):
    return pl.DataFrame({name: [None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in frame})


LIBRARIES = {
    "objects": lambda frame: frame.astype({"city": object}),
    "strings": lambda frame: frame.astype({"city": "string", "age": "Float64", "smokes": "boolean"}),
    "categories": lambda frame: frame.astype({"city": "category"}),
    "categories in another order": lambda frame: frame.assign(
        city=pd.Categorical(frame["city"], categories=["unused", "Wien", "Bern", "Rome", "Oslo"])
    ),
    "arrow in pandas": lambda frame: frame.astype({"city": "string[pyarrow]", "age": "double[pyarrow]"}),
    "polars": lambda frame: in_polars(frame),
    "polars categories": lambda frame: in_polars(frame).with_columns(pl.col("city").cast(pl.Categorical)),
    "polars enums": lambda frame: in_polars(frame).with_columns(
        pl.col("city").cast(pl.Enum(["Rome", "Oslo", "Bern", "Wien"]))
    ),
    "arrow": lambda frame: pa.Table.from_pandas(frame.astype({"city": object})),
    "arrow dictionaries": lambda frame: pa.Table.from_pandas(frame.astype({"city": "category"})),
}


def arrays_of(thing: Any, name: str = "model_"):
    """Every array reachable from a model, with its name."""
    if isinstance(thing, np.ndarray):
        yield name, thing
    elif isinstance(thing, tuple | list):
        for index, item in enumerate(thing):
            yield from arrays_of(item, f"{name}[{index}]")
    elif hasattr(thing, "__dict__"):
        for key, item in vars(thing).items():
            yield from arrays_of(item, f"{name}.{key}")

"""Small fitted models of every kind, which tests of models, explanations and pictures share."""

from functools import cache
from string import ascii_uppercase
from types import SimpleNamespace

import numpy as np
import pandas as pd

from bayesian_reticulum import (
    DirichletCategorical,
    PaperReticulumClassifier,
    Reticulum,
    ReticulumClassifier,
    ReticulumRegressor,
    Schema,
)
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.tree import single_leaf, split_leaf
from class_families import ContinuationRatio, MixedDirichlet
from plugins import GammaPoisson, mixed_frame


def letters():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(26), 20)
    X = rng.uniform(size=(26, 2))[y] + 0.05 * rng.normal(size=(len(y), 2))
    return ReticulumClassifier(random_state=0, patience=1, max_splits=8), X, np.array([*ascii_uppercase])[y]


def long_names():
    """Fifteen splits, and names of forty letters."""
    rng = np.random.default_rng(0)
    names = [f"a_rather_long_name_of_the_feature_no_{j:02d}_" for j in range(6)]
    y = np.repeat(np.arange(16), 30)
    X = pd.DataFrame(rng.uniform(size=(16, 6))[y] + 0.08 * rng.normal(size=(len(y), 6)), columns=names)
    classes = np.array([f"a_class_that_has_a_name_of_forty_letters{k:02d}" for k in range(16)])
    return ReticulumClassifier(random_state=0, patience=1, max_splits=15), X, classes[y]


def wide():
    X = np.random.default_rng(0).normal(size=(300, 500))
    return ReticulumClassifier(random_state=0, patience=1), X, (X[:, 0] + 0.1 * X[:, 1] > 0).astype(int)


def one_feature():
    X = np.random.default_rng(0).normal(size=(150, 1))
    return ReticulumClassifier(random_state=0, patience=1), X, (np.abs(X[:, 0]) > 0.7).astype(int)


def mixed():
    frame, y = mixed_frame(200)
    return ReticulumClassifier(random_state=0, patience=1), frame, np.where(y, "ill", "well")


def bent(**options):
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    y = np.abs(X[:, 0]) + 0.3 * X[:, 1] + 0.05 * np.random.default_rng(1).normal(size=200)
    return ReticulumRegressor(random_state=0, patience=1, **options), X, y


def cross(**options):
    X, y, _ = make_cross(300, random_state=0)
    return ReticulumClassifier(random_state=0, patience=1, **options), X, y


def counts():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.random.default_rng(1).poisson(2 + 3 * (X[:, 0] > 0))
    return ReticulumRegressor(leaf=GammaPoisson(), random_state=0, patience=1), X, y


def grades(**options):
    """Four grades, named so that the alphabet has them in order, which rise with both features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    steps = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=200), [-1.0, 0.0, 1.0])
    return (
        ReticulumClassifier(random_state=0, patience=1, **options),
        X,
        np.array(["a bad", "b poor", "c fair", "d good"])[steps],
    )


def published():
    X, y, _ = make_cross(200, random_state=0)
    return PaperReticulumClassifier(random_state=0, max_attempts=4), X, y


MODELS = {
    "two classes": cross,
    "no split": lambda: cross(max_splits=0),
    "one class": lambda: (ReticulumClassifier(), cross()[1], np.full(300, "all")),
    "26 classes": letters,
    "long names": long_names,
    "500 features": wide,
    "one feature": one_feature,
    "categories and gaps": mixed,
    "linear": lambda: bent(leaf="linear"),
    "constant": lambda: bent(leaf="constant"),
    "counts": counts,
    "ordered classes": lambda: grades(leaf=ContinuationRatio(4)),
    "mixed prior": lambda: grades(leaf=MixedDirichlet(4)),
    "published": published,
}


@cache
def fitted(name):
    """An estimator of `MODELS`, its rows and their targets."""
    model, X, y = MODELS[name]()
    return model.fit(X, y), X, y


MIXED = {
    "classes": lambda frame, y: ReticulumClassifier(random_state=0, patience=2).fit(frame, np.where(y, "ill", "well")),
    "numbers": lambda frame, y: ReticulumRegressor(random_state=0, patience=2).fit(frame, y + 0.1 * frame["income"]),
    "constants": lambda frame, y: ReticulumRegressor(leaf="constant", random_state=0, patience=2).fit(
        frame, y + 0.1 * frame["income"]
    ),
    "one leaf": lambda frame, y: ReticulumClassifier(max_splits=0).fit(frame, y),
    "one class": lambda frame, y: ReticulumClassifier().fit(frame, np.ones(len(y))),
}


@cache
def fitted_to_mixed(name):
    """An estimator of `MIXED`, fitted to numbers, categories and gaps, and its rows."""
    frame, y = mixed_frame(300)
    frame["income"] = frame["income"].fillna(2500.0)
    return MIXED[name](frame, y), frame


def chain(n_splits, names):
    """An estimator whose tree is a chain: every split but the last has one leaf, and leaves hold random classes."""
    rng = np.random.default_rng(0)
    tree = single_leaf(len(names))
    for place in range(n_splits):
        tree = split_leaf(tree, place, rng.normal(size=len(names) + 1))
    zeros, ones = np.zeros(len(names)), np.ones(len(names))
    schema = Schema(tuple(names), zeros, ones, -3 * ones, 3 * ones)
    each = np.ones(n_splits)
    statistics = rng.uniform(0, 30, size=(n_splits + 1, 3))
    family = DirichletCategorical((0.5,) * 3)
    classes = ("first", "2nd", "third")
    model = Reticulum(tree, statistics, family, schema, classes, each, -1e4, 1e3 * each, each, each / 7)
    return SimpleNamespace(model_=model)

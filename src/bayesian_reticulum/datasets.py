"""Generated data whose true probabilities are known: the examples of the paper."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

# Means of the two Gaussians of each class: (class, component, feature).
_RIPLEY_MEANS = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
_RIPLEY_VARIANCE = 0.03


class Generated(NamedTuple):
    """Rows, their classes and the probability of class 1 that they were drawn with.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        Features.
    y : ndarray of shape (n_samples,)
        Classes, 0 or 1.
    probability : ndarray of shape (n_samples,)
        True P(y = 1 | x) of each row. Its log-loss is the floor for any model.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    probability: NDArray[np.float64]


def make_sphere(n_samples: int = 5000, *, random_state: Any = None) -> Generated:
    """Points around the unit circle; class 1 becomes likely as they cross it outwards.

    A point lies at radius 1 + 0.3 N and a uniform angle, with N standard normal, and belongs to class 1 with
    probability 1 / (1 + exp(-10 (|x| - 1))). The printed formula lacks the -1; the published data have it.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the random numbers; None draws other data each time.

    Returns
    -------
    Generated
        ``X`` of shape (n_samples, 2), ``y`` and the true ``probability``, each of shape (n_samples,).

    Examples
    --------
    >>> X, y, probability = make_sphere(1000, random_state=0)
    >>> X.shape, y.shape, probability.shape
    ((1000, 2), (1000,), (1000,))
    >>> outside = (X**2).sum(axis=1) > 1
    >>> bool((probability[outside] > 0.5).all())
    True
    """
    n_samples, rng = _checked(n_samples, random_state)
    radius = 1 + 0.3 * rng.standard_normal(n_samples)
    angle = 2 * np.pi * rng.random(n_samples)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return _with_classes(X, expit(10 * (np.abs(radius) - 1)), rng)


def make_cross(n_samples: int = 1000, *, random_state: Any = None) -> Generated:
    """A noisy chessboard of four fields, in which no single split gains anything.

    Points are uniform on [-2, 2] × [-2, 2]; class 1 has probability 0.9 in the first and third quadrant and 0.1 in
    the others.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the random numbers; None draws other data each time.

    Returns
    -------
    Generated
        ``X`` of shape (n_samples, 2), ``y`` and the true ``probability``, each of shape (n_samples,).

    Examples
    --------
    >>> X, y, probability = make_cross(1000, random_state=0)
    >>> sorted(set(probability.tolist()))
    [0.1, 0.9]
    """
    n_samples, rng = _checked(n_samples, random_state)
    X = rng.uniform(-2, 2, size=(n_samples, 2))
    same_sign = (X[:, 0] > 0) == (X[:, 1] > 0)
    return _with_classes(X, np.where(same_sign, 0.9, 0.1), rng)


def make_ripley(n_samples: int = 250, *, random_state: Any = None) -> Generated:
    """Ripley's two classes, each an equal mixture of two round Gaussians.

    Half of the rows belong to each class (of an odd number class 0 gets one more). The means are (-0.7, 0.3) and
    (0.3, 0.3) for class 0, (-0.3, 0.7) and (0.4, 0.7) for class 1; the variance is 0.03 each way. The true
    probability follows from Bayes' rule with equally likely classes.

    Parameters
    ----------
    n_samples : int, default=250
        Number of rows.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the random numbers; None draws other data each time.

    Returns
    -------
    Generated
        ``X`` of shape (n_samples, 2), ``y`` and the true ``probability``, each of shape (n_samples,).

    Examples
    --------
    >>> X, y, probability = make_ripley(250, random_state=0)
    >>> int(y.sum())
    125
    """
    n_samples, rng = _checked(n_samples, random_state)
    y = rng.permutation(np.arange(n_samples, dtype=np.int64) % 2)
    component = rng.integers(2, size=n_samples)
    X = _RIPLEY_MEANS[y, component] + np.sqrt(_RIPLEY_VARIANCE) * rng.standard_normal((n_samples, 2))
    squared_distance = ((X[:, None, None, :] - _RIPLEY_MEANS) ** 2).sum(axis=-1)
    # All Gaussians have the same variance and weight, so that these cancel in Bayes' rule. It is applied in log space,
    # as far out every density underflows.
    log_density = np.logaddexp.reduce(-squared_distance / (2 * _RIPLEY_VARIANCE), axis=-1)
    return Generated(X, y, np.asarray(expit(log_density[:, 1] - log_density[:, 0])))


def _with_classes(X: NDArray[np.float64], probability: Any, rng: np.random.Generator) -> Generated:
    y = (rng.random(len(X)) < probability).astype(np.int64)
    return Generated(X, y, np.asarray(probability))


def _checked(n_samples: Any, random_state: Any) -> tuple[int, np.random.Generator]:
    if not _is_integer(n_samples) or n_samples < 1:
        raise ValueError(f"n_samples must be an integer of at least 1; got {n_samples!r}.")
    if isinstance(random_state, np.random.Generator):
        return int(n_samples), random_state
    if random_state is not None and not (_is_integer(random_state) and random_state >= 0):
        raise ValueError(
            f"random_state must be None, a non-negative integer or a numpy.random.Generator; got {random_state!r}."
        )
    return int(n_samples), np.random.default_rng(random_state)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)

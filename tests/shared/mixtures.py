"""Random distributions of many kinds, for tests of what all of them keep."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from bayesian_reticulum.distributions import ClassDistribution, Mixture, StudentT


@dataclass(frozen=True)
class Toy:
    """Components with the members of the protocol alone."""

    size: np.ndarray
    is_discrete = False

    def __getitem__(self, rows):
        return self if self.size.shape[1] == 1 else type(self)(self.size[:, rows])


class Poisson(Toy):
    is_discrete = True
    mean = variance = property(lambda self: self.size)

    def logpdf(self, y):
        return special.xlogy(y, self.size) - self.size - special.gammaln(y + 1)

    def cdf(self, y):
        return special.pdtr(y, self.size)

    def draw(self, components, rows, rng):
        return rng.poisson(self.size[components, rows]).astype(float)


class Exponential(Toy):
    mean = property(lambda self: self.size)
    variance = property(lambda self: self.size**2)

    def logpdf(self, y):
        return np.where(y >= 0, -np.maximum(y, 0) / self.size - np.log(self.size), -np.inf)

    def cdf(self, y):
        return -np.expm1(-np.maximum(y, 0) / self.size)

    def draw(self, components, rows, rng):
        return rng.exponential(self.size[components, rows])


class Cauchy(Toy):
    """Neither mean nor variance exists."""

    mean = property(lambda self: np.full(self.size.shape, np.nan))
    variance = property(lambda self: np.full(self.size.shape, np.inf))

    def logpdf(self, y):
        return -2 * np.log(np.hypot(1, y / self.size)) - np.log(np.pi * self.size)

    def cdf(self, y):
        return np.arctan2(1, -y / self.size) / np.pi

    def draw(self, components, rows, rng):
        return self.size[components, rows] * rng.standard_cauchy(rows.shape)


def poissons(rng, n=4, n_components=3):
    return Mixture(random_weights(rng, n_components, n), Poisson(rng.uniform(0.1, 30, (n_components, n))))


def exponentials(rng, n=4, n_components=3):
    return Mixture(random_weights(rng, n_components, n), Exponential(10 ** rng.uniform(-2, 2, (n_components, n))))


def cauchys(rng, n=4, n_components=3):
    return Mixture(random_weights(rng, n_components, n), Cauchy(10 ** rng.uniform(-2, 2, (n_components, n))))


def students(rng, n=4, n_components=None, spread=2.0, scales=0.5, dof=None):
    n_components = rng.integers(1, 6) if n_components is None else n_components
    dof = 10 ** rng.uniform(np.log10(2.1), 6, (n_components, 1)) if dof is None else dof
    location = spread * rng.normal(size=(n_components, n))
    return Mixture(
        random_weights(rng, n_components, n),
        StudentT(dof, location, np.exp(scales * rng.normal(size=(n_components, n)))),
    )


def separated(rng, n=4):
    """Between its bells the cdf is flat."""
    return students(rng, n, n_components=4, spread=1e6)


def of_many_scales(rng, n=4):
    weights = random_weights(rng, 5, n)
    return Mixture(
        weights, StudentT(10 ** rng.uniform(0.33, 6, (5, 1)), rng.normal(size=(5, n)), 10 ** rng.uniform(-3, 3, (5, n)))
    )


def alike(rng, n=4):
    """All rows have the same components, of which some have no weight."""
    weights = random_weights(rng, 4, n)
    weights[rng.integers(4)] = 0.0
    return Mixture(
        weights / weights.sum(0), StudentT([[3.0], [4.0], [50.0], [2.5]], rng.normal(size=(4, 1)), [[1.0]] * 4)
    )


def random_weights(rng, n_components, n):
    return rng.dirichlet(np.full(n_components, 0.5), n).T.reshape(n_components, n)


def random_classes(rng, n=5, k=4, labels=None):
    return ClassDistribution(np.array(labels if labels is not None else range(k)), rng.dirichlet(np.full(k, 0.7), n))


STUDENTS = [students, separated, of_many_scales, alike]
CONTINUOUS = [*STUDENTS, exponentials, cauchys]

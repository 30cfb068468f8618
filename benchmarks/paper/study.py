"""Tuning with Optuna and repeats over seeds, kept in one SQLite file so that nothing is done twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import sklearn
import xgboost
from optuna.distributions import distribution_to_json
from optuna.trial import FrozenTrial, TrialState, create_trial

import bayesian_reticulum
from data import N_FOLDS, DataSet, Floats, Ints, Refusal
from techniques import OURS, PAPER, PUBLISHED, Settings, Technique, techniques
from workers import Judged, Progress, judge, workers

Folds = list[int | None]
# What is stored of one trial or seed: its settings, and losses and sizes in the folds.
Record = dict[str, Any]

TUNING_SEED = 42
FOLDS: Folds = list(range(N_FOLDS))
# These are repeated with other seeds.
REPEATED = (PAPER, PUBLISHED, OURS)
VERSIONS = {
    "bayesian-reticulum": bayesian_reticulum.__version__,
    "numpy": np.__version__,
    "optuna": optuna.__version__,
    "scikit-learn": sklearn.__version__,
    "xgboost": xgboost.__version__,
}


@dataclass(frozen=True)
class Fit:
    """A technique on a data set, with the best settings of its trials and random_state 42.

    Parameters
    ----------
    settings : dict
        What was tuned.
    losses : ndarray of shape (n_folds,)
        Log-loss on the rows of each fold, of models that have not seen them.
    model : estimator
        Fitted on all rows.
    n_nodes : int
        Size of `model`.
    test_loss : float or None
        Log-loss of `model` on the test rows.
    """

    settings: Settings
    losses: Floats
    model: Any
    n_nodes: int
    test_loss: float | None


@dataclass(frozen=True)
class Spread:
    """A reticulum with seeds 0, 1, ...: mean log-losses (seeds,), splits (seeds, folds), test log-losses (seeds,)."""

    losses: Floats
    splits: Ints
    test_losses: Floats | None


@dataclass(frozen=True)
class Results:
    """Everything that a study measured: data sets by name, fits and spreads by (data set, technique)."""

    data: dict[str, DataSet]
    fits: dict[tuple[str, str], Fit]
    spreads: dict[tuple[str, str], Spread]
    n_trials: int
    n_seeds: int
    is_generated: bool
    is_quick: bool


@dataclass(frozen=True)
class Entry:
    """One technique on one data set, what is to be done with it, and the study that remembers what was done."""

    data: DataSet
    technique: Technique
    study: optuna.Study
    n_trials: int
    n_seeds: int


def open_storage(path: Path) -> optuna.storages.RDBStorage:
    """The studies of a file, which is made if it is not there."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        # By a connection of our own, because a URL cannot hold every path.
        creator = {"creator": lambda: sqlite3.connect(path)}
        return optuna.storages.RDBStorage("sqlite://", engine_kwargs=creator)
    except Exception as error:
        raise Refusal(f"{path} cannot be used as a file of studies: {str(error).splitlines()[0]}") from error


def open_study(storage: Any, data: DataSet, technique: Technique, *, quick: bool) -> optuna.Study:
    """A study, new or from an earlier run, which must have been like this one."""
    space = {name: distribution_to_json(distribution) for name, distribution in technique.space.items()}
    search = json.dumps([space, technique.starts.get(data.name)])
    origin = {
        "quick": quick,
        "data": data.fingerprint(),
        "search space": search,
        "library source": _source_digest(),
        **VERSIONS,
    }
    name = f"{data.name}, {technique.name}"
    study = optuna.create_study(storage=storage, study_name=name, load_if_exists=True)
    stored = study.user_attrs.get("origin")
    if stored is None:
        study.set_user_attr("origin", origin)
    elif stored != origin:
        other = ", ".join(key for key in origin if stored.get(key) != origin[key])
        raise Refusal(f"--out holds studies of a run that differs in: {other}. Give another, or remove studies.db.")
    return study


def _source_digest() -> str:
    """Differs between states of the library that its version does not tell apart."""
    digest = hashlib.sha256()
    for path in sorted(Path(bayesian_reticulum.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def finished(study: optuna.Study) -> list[FrozenTrial]:
    """Trials in the order in which they were made."""
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def suggest(entry: Entry, trials: list[FrozenTrial]) -> Settings:
    """Settings for the next trial; they follow from the trials before it and from nothing else.

    A sampler that lived on would carry its random numbers from trial to trial, and an interrupted run could not take
    them up again. So each trial has its own, in a copy of the study that holds the finished trials alone.
    """
    start = entry.technique.starts.get(entry.data.name)
    if start is not None and not trials:
        return start
    digest = hashlib.sha256(f"{TUNING_SEED} {entry.study.study_name} {len(trials)}".encode()).digest()
    copy = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=int.from_bytes(digest[:4])))
    copy.add_trials(trials)
    return dict(copy.ask(entry.technique.space).params)


class Conductor:
    """Has entries worked on by a pool of processes. What is finished is stored, each time in one transaction."""

    def __init__(self, pool: Executor, n_jobs: int) -> None:
        self._pool = pool
        self._progress = Progress(n_jobs)
        # One task more than there are processes, so that none of them waits. More would only fill the pool's queue,
        # and a pool that is stopped with a full queue complains.
        self._free = asyncio.Semaphore(n_jobs + 1)

    async def complete_all(self, entries: list[Entry]) -> list[tuple[Fit, Spread | None]]:
        """Results of all entries, which are worked on at the same time."""
        for entry in entries:
            n_stored = min(len(finished(entry.study)), entry.n_trials)
            self._progress.plan(entry.study.study_name, entry.n_trials - n_stored + 1, n_stored)
            self._progress.plan(f"{entry.study.study_name}, seeds", entry.n_seeds)
        return await asyncio.gather(*map(self._complete, entries))

    async def _complete(self, entry: Entry) -> tuple[Fit, Spread | None]:
        best = await self._tune(entry)
        seeds = (self._repeat(entry, best["settings"], seed) for seed in range(entry.n_seeds))
        (judged,), *records = await asyncio.gather(self._judge(entry, best["settings"], TUNING_SEED, [None]), *seeds)
        self._progress.finish(entry.study.study_name, "fitted on all rows", [judged])
        fit = Fit(best["settings"], np.array(best["losses"]), judged.model, judged.n_nodes, judged.loss)
        if not records:
            return fit, None
        losses, splits, test = (np.array([each[key] for each in records]) for key in ("losses", "n_nodes", "test_loss"))
        return fit, Spread(losses.mean(axis=1), splits, None if entry.data.X_test is None else test)

    async def _tune(self, entry: Entry) -> Record:
        # One trial after the other, because each is suggested by all before it.
        while len(trials := finished(entry.study)) < entry.n_trials:
            settings = suggest(entry, trials)
            judged = await self._judge(entry, settings, TUNING_SEED, FOLDS)
            if len(finished(entry.study)) != len(trials):
                raise Refusal("another run is writing to the same --out.")
            record, space = _record(settings, judged), entry.technique.space
            params, value = {name: settings[name] for name in space}, float(np.mean(record["losses"]))
            entry.study.add_trial(create_trial(value=value, params=params, distributions=space, user_attrs=record))
            note = f"log-loss {value:.4f}, best {min([value, *(trial.value for trial in trials)]):.4f}"
            self._progress.finish(entry.study.study_name, note, judged)
        return min(trials[: entry.n_trials], key=lambda trial: (trial.value, trial.number)).user_attrs

    async def _repeat(self, entry: Entry, settings: Settings, seed: int) -> Record:
        title, key = f"{entry.study.study_name}, seeds", f"seed {seed}"
        stored = entry.study.user_attrs.get(key)
        if stored is not None and stored["settings"] == settings:
            self._progress.skip(title)
            return stored
        judged = await self._judge(entry, settings, seed, FOLDS if entry.data.X_test is None else [*FOLDS, None])
        record = _record(settings, judged)
        entry.study.set_user_attr(key, record)
        self._progress.finish(title, f"log-loss {np.mean(record['losses']):.4f} with seed {seed}", judged)
        return record

    async def _judge(self, entry: Entry, settings: Settings, seed: int, folds: Folds) -> list[Judged]:
        async def judged(fold: int | None) -> Judged:
            arguments = (entry.data.name, entry.technique.name, settings, seed, fold)
            async with self._free:
                return await asyncio.get_running_loop().run_in_executor(self._pool, judge, *arguments)

        return await asyncio.gather(*map(judged, folds))


def _record(settings: Settings, judged: list[Judged]) -> Record:
    # After the folds may come a fit on all rows, judged on the test rows.
    folds, rest = judged[: len(FOLDS)], judged[len(FOLDS) :]
    return {
        "settings": settings,
        "losses": [each.loss for each in folds],
        "n_nodes": [each.n_nodes for each in folds],
        "test_loss": rest[0].loss if rest else None,
    }


def conduct(
    out: Path, data: dict[str, DataSet], n_trials: int, n_seeds: int, n_jobs: int, *, is_generated: bool, is_quick: bool
) -> Results:
    """Everything that the tables and figures need; goes on where an earlier run with the same `out` ended."""
    storage = open_storage(out / "studies.db")
    entries = [
        Entry(
            each,
            technique,
            open_study(storage, each, technique, quick=is_quick),
            n_trials if technique.space else 1,
            n_seeds if technique.name in REPEATED else 0,
        )
        for technique in techniques(quick=is_quick).values()
        for each in data.values()
    ]
    with workers(data, n_jobs, quick=is_quick) as pool:
        pairs = asyncio.run(Conductor(pool, n_jobs).complete_all(entries))
    keys = [(entry.data.name, entry.technique.name) for entry in entries]
    fits = {key: fit for key, (fit, _) in zip(keys, pairs, strict=True)}
    spreads = {key: spread for key, (_, spread) in zip(keys, pairs, strict=True) if spread is not None}
    return Results(data, fits, spreads, n_trials, n_seeds, is_generated, is_quick)

"""estimators"""

from __future__ import annotations

from .classifier import ReticulumClassifier
from .paper import PaperReticulumClassifier
from .regressor import ReticulumRegressor

__all__ = ["PaperReticulumClassifier", "ReticulumClassifier", "ReticulumRegressor"]

"""The parts of the quality benchmark, `quality.py`.

`folds` reads tables and divides them, `peers` makes the other models, `scores` holds the measures, `problems` the data
sets with their limits, `runs` fits and judges, and `report` prints the tables.
"""

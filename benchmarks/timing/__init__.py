"""The parts of the speed benchmark, `speed.py`.

`turns` takes times, `memory` measures memory, `peers` knows the other models and `random_models` makes trees and rows.
What is measured: `passes` over rows, `predictions`, `fits` of tables, the `growth` of fit time, `covertype` and
`imports`. `results` holds what was measured, `report` prints it and `picture` draws it.
"""

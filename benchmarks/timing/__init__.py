"""The parts of the speed benchmark, `speed.py`.

`turns` takes times, `memory` measures memory, `peers` knows the other models and `random_models` makes trees and rows.
What is measured: `passes` over rows and the `pass_growth` of their time, `predictions`, `fits` of tables beside all
peers, of raw ones against `histograms`, the `growth` of fit time, `covertype` and `imports`. `generated` makes tables.
`results` holds what was measured, `report` prints it and `picture` draws it.
"""

"""The same data and noise for `hiddenphysics` and its neighbours: PySINDy (strong and weak form) and DeepXDE.

`python -m benchmarks.neighbours --folder FOLDER` prints the table of docs/comparison.md.
"""

"""Run every benchmark and print its table."""

from benchmarks import command_line, likelihood, memory

for part in (likelihood, memory, command_line):
    print(part.report(), flush=True)

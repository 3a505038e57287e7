"""The report of a fit: one HTML file that loads nothing; equation, numbers, verdict, pictures, and how to redo it."""

from __future__ import annotations

from hashlib import sha256
from html import escape
from importlib.metadata import version
from pathlib import Path

from hiddenphysics.studio.data_file import address_of
from hiddenphysics.studio.fit_run import Run
from hiddenphysics.studio.typesetting import mathml

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
math { font-size: 1.3em; margin: 1rem 0; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .3rem 1.2rem .3rem 0; border-bottom: 1px solid #8886; }
pre { overflow-x: auto; padding: .8rem; background: #8882; border-radius: 6px; }
img { max-width: 100%; background: white; border-radius: 6px; }
"""


def report(run: Run) -> str:
    """Return the page; the run has an answer."""
    answer = run.answer
    if answer is None:
        raise ValueError("a fit without an answer has no report")
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(value)}</td><td>{escape(interval)}</td></tr>"
        for name, (value, interval) in answer["numbers"].items()
    )
    pictures = "".join(
        f'<h2>{name.capitalize()}</h2><img alt="{name}" src="{address_of((run.folder / f"{name}.png").read_bytes())}">'
        for name in run.pictures
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(run.request.name)}: {escape(answer["equation"])}</title><style>{STYLE}</style></head><body>
<h1>Identified from {escape(run.request.name)}</h1>
{mathml(answer["latex"])}
<p><strong>{escape(answer["status"].replace("_", " "))}.</strong> {escape(answer["explanation"])}
{escape(answer["reason"])}</p>
<table><tr><th scope=col>parameter</th><th scope=col>estimate</th><th scope=col>95 % interval</th></tr>{rows}</table>
<p>Model {escape(answer["model"])}, evidence {answer["evidence"]}, standard deviation of the noise
{answer["noise_std"]:.4g}, {sum(answer["points"])} points at {len(answer["times"])} times,
{answer["seconds"]:.1f} s.</p>
{pictures}
<h2>The same again</h2>
<pre>{escape(run.request.python_lines())}</pre>
<pre>{escape(run.request.shell_command())}</pre>
<p>{escape(run.request.name)} has the SHA-256 checksum <code>{_checksum(Path(run.request.path))}</code>; written by
hiddenphysics {version("hiddenphysics")} with JAX {version("jax")} and NumPy {version("numpy")}.</p>
</body></html>
"""


def _checksum(path: Path) -> str:
    if not path.is_file():
        return "of no single file"
    total = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()

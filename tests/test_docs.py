"""The documentation tells the truth: its pages hang together, its code runs, its pictures can be drawn again.

What is done with a code block stands on the line before it (`benchmarks/documents.py`): all that is run there is run
here, too. All Python has to compile, all TOML to be options.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer
import yaml

import hiddenphysics as hp
from benchmarks import documents
from benchmarks.documents import Block, StaleError, compare
from hiddenphysics.cli import app
from hiddenphysics.cli.configuration import defaults
from hiddenphysics.result import Estimate
from hiddenphysics.result.fitted_experiments import FittedExperiments
from tests.scripts import script

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
GALLERY = sorted(path.stem for path in (DOCS / "gallery").glob("*.py"))


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    return documents.blocks((ROOT / page).read_text(encoding="utf-8"))


# ---- pages hang together --------------------


def leaves(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [leaf for part in (nav.values() if isinstance(nav, dict) else nav) for leaf in leaves(part)]


def test_the_menu_holds_every_page_once() -> None:
    menu = leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert sorted(menu) == PAGES


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as the site makes them."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", h.lower()).strip()) for h in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        path = (DOCS / page).parent / name if name else DOCS / page
        assert path.exists(), f"{page} links to {target}"
        if anchor:
            assert anchor in anchors(str(path.resolve().relative_to(DOCS))), f"{page} links to {target}"


def test_the_first_page_says_what_the_readme_says() -> None:
    """Its code and what it prints are run by the tests of the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = next(b for b in blocks("docs/index.md") if b.kind == "python")
    assert block.body in readme
    assert block.printed is not None
    assert block.printed in readme


# ---- lines that a diff can show --------------------


WIDTH = 120
"""No line of prose is longer. It is wrapped at 100 columns; an edit by hand may go a little beyond."""
WRITTEN = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(f"docs/{page}" for page in PAGES)]
HOLDS_INDENTED_PROSE = re.compile(r"[-*+] |\d+[.)] |!!!|\?\?\?")
"""List items and admonitions: what is indented below them is prose; below anything else it is code."""
MARKER = re.compile(r"[\s>]*(?:(?:[-*+]|\d+[.)]) +)?")
PIECE = re.compile(r"(?:(`+).+?\1|\S)+")
"""What cannot be broken: a word, the target of a link, a code span with all its blanks."""


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page with their numbers, without tables and code."""
    fence, holder = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"`{3,}|~{3,}", line.strip())
        if fence:
            fence = "" if line.strip() == fence else fence
        elif mark:
            fence = mark[0]
        elif line.startswith("    ") and not HOLDS_INDENTED_PROSE.match(holder):
            continue
        elif not (line.lstrip().startswith("|") and line.rstrip().endswith("|")):
            yield number, line
            holder = line if line[:1].strip() else holder
    assert not fence, "a code block is never closed, and would hide the rest of the page"


def long_lines(text: str) -> list[int]:
    """Return the numbers of the lines of prose that are too long and could be broken."""
    return [
        number
        for number, line in prose(text)
        if len(line) > WIDTH and len(list(PIECE.finditer(MARKER.sub("", line, count=1)))) > 1
    ]


@pytest.mark.parametrize("page", WRITTEN)
def test_prose_is_wrapped(page: str) -> None:
    assert long_lines((ROOT / page).read_text(encoding="utf-8")) == []


WORDS = "word " * 24 + "w"  # one column too many
NAME = "n" * 130


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (WORDS, 1),
        (f"# {WORDS}", 1),
        (f"> {WORDS}", 1),
        (f"- {WORDS}", 1),
        (f"- An item.\n  {WORDS}", 2),
        (f"1. An item.\n\n    {WORDS}", 3),
        (f"!!! note\n    Short.\n\n    {WORDS}", 4),
        (f"```text\n{WORDS}\n```\n{WORDS}", 4),
        (f"| a |\n|---|\n| b |\n\n{WORDS}", 5),
        (f"|ω| {WORDS}", 1),
        (f"See `{NAME}`", 1),
        (f"[a link of words]({NAME}.md)", 1),
    ],
)
def test_a_long_line_is_seen(text: str, number: int) -> None:
    assert long_lines(text) == [number]


@pytest.mark.parametrize(
    "text",
    [
        WORDS[:WIDTH],
        f"| {WORDS} |",
        f"```text\n{WORDS}\n```",
        f"- An item:\n\n  ```text\n  {WORDS}\n  ```",
        f"The system is\n\n    {WORDS}\n\n    {WORDS}",
        f"::: hiddenphysics.identify\n    options:\n      members: [{WORDS}]",
        f"`{WORDS}`.",
        f"- `{WORDS}`",
        f"  [link]({NAME}.md),",
    ],
)
def test_what_cannot_be_broken_may_be_long(text: str) -> None:
    assert long_lines(text) == []


# ---- the command line --------------------


def commands(group: Any, prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        found.append((prefix + name, command))
        found += commands(command, f"{prefix}{name} ") if hasattr(command, "commands") else []
    return found


def test_every_command_and_option_is_named() -> None:
    page = text_of("reference/cli.md")
    for name, command in commands(typer.main.get_command(app)):
        assert f"`{name}" in page, name
        for option in (opt for parameter in command.params for opt in parameter.opts if opt.startswith("--")):
            assert f"`{option}" in page, f"{name} {option}"


# ---- code on pages --------------------


KINDS = re.compile(r"not run: .+|run|run long|printed by \S+\.py")
"""What may stand before a block."""
SNIPPET = " { .python }"
"""A script that the site puts into the page when it is built."""


@pytest.mark.parametrize("page", documents.PAGES)
def test_every_block_says_what_is_done_with_it(page: str) -> None:
    """Nothing is shown that nobody compares, unless the page says why."""
    for block in blocks(page):
        assert block.kind in ("python", "console", "text", "toml", SNIPPET), f"{page}: {block.body:.80}"
        if block.kind in ("toml", SNIPPET):
            continue
        assert block.mark is not None, f"{page}: no mark before {block.body:.80}"
        assert KINDS.fullmatch(block.mark), f"{page}: {block.mark}"
        if block.script is not None:
            assert block.kind == "text"
            assert ((ROOT / page).parent / block.script).exists()


@pytest.mark.parametrize("page", documents.PAGES)
def test_python_compiles_and_options_are_options(page: str, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.kind == "python":
            compile(block.body, page, "exec")
        if block.kind == "toml":
            (tmp_path / "my.toml").write_text(block.body)
            assert defaults(tmp_path / "my.toml", typer.main.get_command(app).commands)  # type: ignore[attr-defined]


LONG = [p for p in documents.PAGES if any(b.is_run(long=True) and b.mark != "run" for b in blocks(p))]
RUN = [
    p
    for p in documents.PAGES
    if p not in ("docs/index.md", *LONG) and any(b.mark == "run" for b in blocks(p))
]
"""The first page of the site shows what the README shows."""


@pytest.mark.parametrize("page", RUN)
def test_code_runs_and_prints_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _, told, printed in documents.outputs(page, long=False):
        if told is not None:
            compare(printed, told)


COMPILED_AS_ELSEWHERE = (
    "docs/gallery/glacier_ice.md",
    "docs/gallery/hidden_pressure.md",
    "docs/tutorials/pressure.md",
)
"""Rounding decides there what a fit says of its deviations: without LLVM's optimiser, as the tests compile, they are a
tenth wider."""


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=pytest.mark.xdist_group(f"page {Path(p).stem}")) for p in LONG]
)
def test_what_takes_long_prints_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once these were left to `make documents`, and the ice had deviations that no version printed any more."""
    if page in COMPILED_AS_ELSEWHERE:
        environment = {
            **os.environ,
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
            "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        }
        words = [sys.executable, "-m", "benchmarks.documents", page]
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "nothing is stale" in done.stdout
        return
    monkeypatch.chdir(tmp_path)
    for _, told, printed in documents.outputs(page, long=True):
        if told is not None:
            compare(printed, told)


@pytest.mark.parametrize(
    ("printed", "told", "same"),
    [
        ("a 0.974(33) b", "a  0.974(33)\nb", True),
        ("0.974(33)", "0.975(32)", True),  # one in the last digit
        ("0.973541 ± 0.033", "0.974112 ± 0.034", True),  # nearly the same on another machine
        ("0.1037", "0.1042", False),
        ("{'draw': 3, 't': 3}", "{'draw': 4, 't': 3}", False),
        ("383.395", "385.395", False),
        ("9.3e-05", "9.5e-05", False),
        ("converged", "at_bound", False),
        ("1 2", "1 2 3", False),
        ("[0.90938, 1.0377]", "[0.90938, 1.1377]", False),
    ],
)
def test_what_counts_as_stale(printed: str, told: str, same: bool) -> None:
    if same:
        compare(printed, told)
    else:
        with pytest.raises(StaleError, match="The page shows"):
            compare(printed, told)


STALE = """# A page

<!-- run -->
```python
print(6 * 7)
```

```text
41
```

<!-- run long -->
```python
print("slow")
```

```text
slow
```

<!-- run -->
```console
$ hiddenphysics explain "u_t = b*u_xx"
```

<!-- printed by script.py -->
```text
old
```
"""


def test_the_command_finds_what_is_stale_and_renews_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(STALE)
    (tmp_path / "script.py").write_text(
        "import pathlib\nprint('new')\npathlib.Path('known.png').write_text('new')\npathlib.Path('other.png').touch()"
    )
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "known.png").write_text("old")
    assert documents.main(["page.md", "--quick"]) == 1
    said = capsys.readouterr().out
    assert "page.md: print(6 * 7): stale" in said
    assert "1 stale outputs" in said
    assert (tmp_path / "page.md").read_text() == STALE
    assert documents.main(["page.md", "--write"]) == 1
    assert "2 stale outputs" in capsys.readouterr().out
    assert (tmp_path / "page.md").read_text() == STALE.replace("41", "42").replace("old", "new")
    assert [p.read_text() for p in (tmp_path / "images").iterdir()] == ["new"]
    assert documents.main(["page.md"]) == 0
    said = capsys.readouterr().out
    assert 'print("slow"): the same' in said
    assert "nothing is stale" in said


def test_a_fit_that_ran_out_of_time_is_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = STALE.replace("6 * 7", "'The time limit of 600 s was reached.'")
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(page)
    assert documents.main(["page.md", "--quick", "--write"]) == 1
    assert "out of time; try again on a machine that is less busy" in capsys.readouterr().out
    assert (tmp_path / "page.md").read_text() == page


@pytest.mark.parametrize(
    ("line", "sentence"),
    [("rm -rf all", "is no command of ours"), ("hiddenphysics explain 'u_t = '", "ended with 3")],
)
def test_a_command_that_fails_is_told(line: str, sentence: str) -> None:
    with pytest.raises(StaleError, match=sentence):
        documents.run(Block("console", f"$ {line}\n", "run", None, (0, 0)), "page.md", {})


# ---- pictures --------------------


def test_every_picture_has_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(documents.pictures()) > 10
    assert [picture for picture in documents.pictures() if documents.maker(picture) is None] == []
    assert documents.maker("docs/images/nobody.png") is None
    documents.main(["--pictures"])
    assert "docs/gallery/burgers.py" in capsys.readouterr().out


def test_every_command_has_its_picture() -> None:
    """No line of the table is left over, and its scripts are there."""
    for pattern, command in documents.PICTURES.items():
        made = [
            p
            for p in documents.pictures()
            if documents.maker(p) and Path(p).match(pattern.replace("{name}", "*"))
        ]
        assert made, pattern
        for picture in made:
            scripts = re.findall(r"docs/\S+\.py", documents.maker(picture) or "")
            assert all((ROOT / script).exists() for script in scripts), command


def test_every_picture_is_shown_somewhere() -> None:
    shown = "".join((ROOT / page).read_text(encoding="utf-8") for page in documents.PAGES)
    assert [p for p in documents.pictures() if Path(p).name not in shown] == []


# ---- the gallery --------------------


SMALL = {
    "burgers": 30,
    "fractional_walk": 40,
    "glacier_ice": 2,
    "hidden_pressure": 16,
    "kdv_gap": 30,
    "schrodinger": 30,
    "sine_gordon": 40,
}
LENGTHS = {"fractional_walk": 0.05, "sine_gordon": 1.5}
"""Lengths at which the likelihood is compared; whole fits of the other scripts' equations are tested elsewhere."""


def likelier_than_others(module: ModuleType, snapshots: hp.Snapshots, length: float) -> None:
    """Check that the script's equation, data and truth go together, without the time of a whole fit."""
    task = hp.problem(module.EQUATION, snapshots, model="midpoint", kernel=hp.SquaredExponential())
    hyper = {name: length if ".length_" in name else 1.0 for name in task.names} | {"noise.variance": 1e-6}

    def nll(factor: float) -> float:
        return task.negative_log_likelihood(hyper | {p: factor * v for p, v in module.TRUTH.items()})

    assert nll(1.0) < min(nll(0.7), nll(1.3))


@pytest.mark.parametrize("name", SMALL)
def test_gallery(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every script runs from data to picture, on few points and with a stand-in for the fit."""
    module = script(DOCS / "gallery" / f"{name}.py")
    asked: list[hp.Snapshots] = []

    def identify(equation: str, snapshots: hp.Snapshots, **choices: Any) -> Any:
        assert equation == module.EQUATION
        asked.append(snapshots)
        return SimpleNamespace(
            snapshots=snapshots,
            status="converged",
            parameters={name: Estimate(value, 0.1 * value) for name, value in module.TRUTH.items()},
            identified=lambda: equation,
            predict=lambda field, x, y=None, *, t: (np.sin(x), np.full(len(x), 0.1)),
        )

    monkeypatch.setattr(hp, "identify", identify)
    module.main(tmp_path, SMALL[name])
    if name in LENGTHS:
        likelier_than_others(module, asked[0], LENGTHS[name])
    assert (tmp_path / f"{name}.png").stat().st_size > 5_000


def test_gallery_of_measured_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script reads every replicate of every file, compares its equations, and draws; fits are stood in for."""
    module = script(DOCS / "gallery" / "scratch_assay.py")
    x = np.linspace(25.0, 1875.0, 12)
    for start in (10, 18):
        rows = [
            f"{replicate},{t},{at:g},{0.01 * start + 0.001 * t + 1e-4 * at:g}"
            for replicate in (1, 2)
            for t in (0, 24, 48)
            for at in x
        ]
        (tmp_path / f"scratch_assay_{start}.csv").write_text(
            "\n".join(["replicate,t,x,u", *rows]), encoding="utf-8"
        )

    def fit_of(runs: hp.Experiments) -> Any:
        share = {"estimate": {"D": 500.0}, "std": {"D": 50.0}}
        each = [
            SimpleNamespace(snapshots=run, predict=lambda field, x, t: (np.sin(x), np.ones_like(x)))
            for run in runs
        ]
        parts = FittedExperiments(runs, tuple(each))
        shares = [SimpleNamespace(**share) for _ in runs]
        return SimpleNamespace(
            heterogeneity=SimpleNamespace(shares=shares),
            experiments=parts,
            parameters={"D": Estimate(500.0, 50.0)},
        )

    def compare(equations: list[str], runs: hp.Experiments, **choices: Any) -> Any:
        assert len(runs) == 4
        assert all(hp.Equation.parse(text, **choices).parameters == ("D", "r") for text in equations)
        return SimpleNamespace(
            equations=[SimpleNamespace(equation=text, result=fit_of(runs)) for text in equations]
        )

    monkeypatch.setattr(hp, "compare", compare)
    module.main(tmp_path, tmp_path)
    assert (tmp_path / "scratch_assay.png").stat().st_size > 5_000


def test_the_bound_state_of_the_gallery_solves_its_equation() -> None:
    """The other exact solutions of the gallery are the library's own, and tested there."""
    field = script(DOCS / "gallery" / "schrodinger.py").field
    x, t, step = np.linspace(-3.0, 3.0, 31), 0.35, 1e-4
    rate = (field(t + step, x) - field(t - step, x)) / (2 * step)
    bend = (field(t, x + step) - 2 * field(t, x) + field(t, x - step)) / step**2
    h = field(t, x)
    np.testing.assert_allclose(1j * rate + bend / 2 + np.abs(h) ** 2 * h, 0.0, atol=1e-5)
    np.testing.assert_allclose(field(0.0, x), 2 / np.cosh(x), rtol=1e-12)


@pytest.mark.parametrize("name", GALLERY)
def test_gallery_pages_show_script_and_picture(name: str) -> None:
    page = text_of(f"gallery/{name}.md")
    assert f'--8<-- "{name}.py"' in page
    assert f"images/{name}.png" in page
    assert f"images/{name}.png" in text_of("gallery/index.md")
    assert (DOCS / "gallery" / "images" / f"{name}.png").stat().st_size < 80_000

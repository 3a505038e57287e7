"""The studio in a Chromium of the machine's own: started, clicked through, looked at, and timed.

Every way begins with an empty folder of compiled code, so that nothing is quicker here than on a stranger's machine.
`demo` presses the button right after the file stands in the page, in another studio ten seconds later, and in a third
one right away, but with what the second has compiled: a studio that is opened for the second time. `own` does the same
with a file and an equation that the studio cannot have thought of. `ice` asks for offsets of the sensors and driven
edges; `recording` takes a file of 10⁵ values; `mishaps` does what goes wrong on purpose; `screens` photographs every
screen.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from hiddenphysics.compiled_code import CACHE_VARIABLE

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE = (1240, 800)
PATIENCE = 3_600_000.0
"""Milliseconds to wait for a fit."""


class Studio:
    """A studio that runs, and what it has said.

    Parameters
    ----------
    options
        What is typed behind ``hiddenphysics studio``.
    environment
        Variables beside those of this process.
    """

    def __init__(self, *options: str, environment: Mapping[str, str] | None = None) -> None:
        words = [sys.executable, "-m", "hiddenphysics", "studio", "--no-browser", *options]
        self.process = subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
        )
        self.said: list[str] = []
        self._told = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        if not self._told.wait(120):
            raise RuntimeError("the studio has not said where it is")
        address = re.search(r"http://127\.0\.0\.1:(\d+)/[\w-]{32}/", self.said[0])
        if address is None:
            raise RuntimeError(f"the studio has said {self.said}")
        self.address, self.port = address[0], address[1]

    def _listen(self) -> None:
        for line in self.process.stderr or ():
            self.said.append(line)
            self._told.set()

    def end(self) -> int:
        """Press Ctrl-C; return its exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code


@contextmanager
def started(*options: str, kept: Path | None = None) -> Iterator[Studio]:
    """Open a studio with a folder of compiled code, an empty one where none is given."""
    with tempfile.TemporaryDirectory(prefix="compiled-") as folder:
        studio = Studio(*options, environment={CACHE_VARIABLE: str(kept or folder)})
        try:
            yield studio
        finally:
            studio.end()
        if any("Traceback" in line for line in studio.said):
            raise RuntimeError("".join(studio.said))


@contextmanager
def chromium() -> Iterator[Browser]:
    """Open the browser."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def opened(browser: Browser, studio: Studio, size: tuple[int, int] = WIDE, **how: Any) -> Page:
    """Open the page of a studio in a tab."""
    page = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", **how
    ).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(studio.address)
    page.wait_for_selector("#equation-formula, #equation-sentence")
    return page


# ---- the ways --------------------


@dataclass(frozen=True)
class Way:
    """What is dropped, typed and chosen; of the demo there is no file."""

    equation: str = ""
    file: Path | None = None
    words: Mapping[str, str] | None = None
    choices: Mapping[str, str] | None = None


WAYS = {
    "demo": Way(),
    "own": Way("u_t + c*u_x - D*u_xx = 0"),
    "ice": Way(
        "u_t = D*u_xx",
        ROOT / "docs" / "gallery" / "glacier_ice.csv",
        {"times to use": " ".join(f"{day}" for day in range(20, 51))},
        {"sensors": "each off by a constant", "edges": "driven: something enters"},
    ),
    "recording": Way("u_t + a*u*u_x + b*u_xxx = 0", words={"time limit, seconds": "3000"}),
}


PRESSED = {"at once": (0, False), "ten seconds later": (10, True), "at once, the second time": (0, True)}
"""When the button is pressed: after so many seconds, and whether compiled code is kept; the last finds the second's."""


def way_of(name: str, folder: Path, recording: Path | None) -> Way:
    """Return a way; the long recording is a file of one's own, or KdV's data set with 1 % noise."""
    if name == "own":
        _write_own(folder / "dye.csv")
        return replace(WAYS[name], file=folder / "dye.csv")
    if name != "recording":
        return WAYS[name]
    if recording is None:
        recording = folder / "kdv.npz"
        _write_recording(recording)
    return replace(WAYS[name], file=recording)


def _write_own(path: Path) -> None:
    """Write dye in a channel, c = 0.8 and D = 0.3: three moments at 50 places of their own, 1 % noise."""
    import numpy as np

    rng = np.random.default_rng(0)
    lines = ["t,x,u"]
    for t in (0.0, 0.25, 0.5):
        x = np.sort(rng.uniform(-4.0, 6.0, 50))
        width = 1.0 + 4 * 0.3 * t
        u = np.exp(-((x - 0.8 * t) ** 2) / width) / np.sqrt(width) + 0.003 * rng.standard_normal(50)
        lines += [f"{t},{place:.5f},{value:.5f}" for place, value in zip(x, u, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_recording(path: Path) -> None:
    import numpy as np

    import hiddenphysics as hp

    data = hp.read(hp.datasets.load("kdv")).with_noise(0.01, seed=0)
    np.savez(path, t=data.times, x=data[0]["x"], u=np.stack([snapshot["u"] for snapshot in data]))


def fill(page: Page, way: Way) -> None:
    """Bring the file in, type the equation and the words, choose from the lists."""
    if way.file is None:
        page.click("#demo")
    else:
        page.set_input_files("input[type=file]", way.file)
    page.wait_for_selector("#data-name")
    if way.equation:
        page.fill("textarea", way.equation)
    for label, value in (way.words or {}).items():
        page.get_by_label(label).fill(value)
    for label, choice in (way.choices or {}).items():
        page.get_by_role("combobox", name=label).click()
        page.get_by_role("option", name=choice).click()
    page.wait_for_selector("#equation-formula")


def press(page: Page) -> tuple[float, float, float]:
    """Press the button; return the seconds until the first guess, the numbers and the last picture stand there."""
    began = time.monotonic()
    page.click("#begin")
    page.wait_for_selector("#so-far, table.numbers")
    guess = time.monotonic() - began
    page.wait_for_selector("table.numbers")
    numbers = time.monotonic() - began
    page.wait_for_selector("#state[data-state=finished]")
    return guess, numbers, time.monotonic() - began


def told(page: Page) -> str:
    """Return the verdict and the numbers that the page shows."""
    rows = page.locator("table.numbers").first.locator("tbody tr").all_inner_texts()
    verdict = page.locator(".verdict b").first.inner_text()
    failed = page.locator("[id^=picture-sentence], #fit-sentence").all_inner_texts()
    shown = page.locator("section.result img").count()
    numbers = "; ".join(re.sub(r"\s+", " ", row) for row in rows)
    return f"{verdict}: {numbers}; {shown} pictures{''.join(f'; {sentence}' for sentence in failed)}"


def report(folder: Path, parts: Sequence[str] = (), recording: Path | None = None) -> Iterator[str]:
    """Go the ways that are named, all by default; yield a line for each, and photograph its end."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = parts or ("demo", "own", "ice", "recording", "mishaps", "screens")
    with chromium() as browser:
        for name in asked:
            if name in ("screens", "mishaps"):
                module = import_module(f"benchmarks.desk.{name}")
                yield from getattr(module, name)(browser, folder)
                continue
            way = way_of(name, folder, recording)
            with tempfile.TemporaryDirectory(prefix="kept-") as kept:
                for when, (wait, keeps) in list(PRESSED.items())[: None if name in ("demo", "own") else 1]:
                    with started(kept=Path(kept) if keeps else None) as studio:
                        page = opened(browser, studio)
                        fill(page, way)
                        page.wait_for_timeout(1000 * wait)
                        guess, numbers, finished = press(page)
                        photograph(page, folder / f"{name}-{when.replace(' ', '-')}.png")
                        yield (
                            f"{name}, {when}: first guess after {guess:.1f} s, numbers after {numbers:.1f} s, "
                            f"pictures after {finished:.1f} s. "
                            f"{told(page)}"
                        )
                        page.context.close()


# ---- what it looks like --------------------


def photograph(page: Page, path: Path) -> None:
    """Take a picture of the whole page, with what has to be seen to be loaded."""
    for picture in page.locator("section.result img").all():
        picture.scroll_into_view_if_needed()
    page.evaluate("window.scrollTo(0, 0)")
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    page.screenshot(path=path, full_page=True)


def picture(path: Path) -> None:
    """Make the picture of the documentation: the demo, fitted."""
    with chromium() as browser, started() as studio:
        page = opened(browser, studio)
        fill(page, Way())
        press(page)
        photograph(page, path)

"""What goes wrong in the studio, done on purpose in Chromium: a sentence each, nothing lost, nothing let in."""

from __future__ import annotations

import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.desk.studio import Studio, Way, fill, opened, started
from hiddenphysics.studio.server import AWAY

SOON = 60_000.0
"""Milliseconds within which a sentence has to be there."""


def mishaps(browser: Browser, folder: Path) -> Iterator[str]:
    """Go through them in one studio; yield what the page says to each."""
    with started("--no-ahead") as studio:
        page = opened(browser, studio)
        fill(page, Way())
        for line in (_no_table(page, folder), _huge(page, folder), _typo(page)):
            yield line
        page.fill("textarea", "u_t + a*u*u_x - b*u_xx = 0")
        page.wait_for_selector("#equation-formula")
        for line in (_killed(page, studio), _stopped(page), _closed(browser, page, studio)):
            yield line
        yield from _strangers(studio)


def _sentence(page: Page, place: str, words: str) -> str:
    """Return a sentence of the page that has these words."""
    return (
        page.wait_for_selector(f"{place}:has-text('{words}')", timeout=SOON).inner_text().replace("\n", " ")
    )


def _no_table(page: Page, folder: Path) -> str:
    path = folder / "picture.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    page.set_input_files("input[type=file]", path)
    said = _sentence(page, "#data-sentence", "picture.csv")
    return f"no table: {said} [still there: {page.inner_text('#data-name')}]"


def _huge(page: Page, folder: Path) -> str:
    path = folder / "huge.csv"
    with path.open("wb") as file:
        file.truncate(500_000_000)
    page.set_input_files("input[type=file]", path)
    said = _sentence(page, "#data-sentence", "At most")
    path.unlink()
    return f"500 MB: {said} [still there: {page.inner_text('#data-name')}]"


def _typo(page: Page) -> str:
    page.fill("textarea", "u_t + a*u*(u_x - b*u_xx = 0")
    under = _sentence(page, "#equation-sentence", "never closed")
    page.click("#begin")
    return f"typo: {under} [button: {_sentence(page, '#run-sentence', 'never closed')}]"


def _begun(page: Page, stage: str) -> None:
    """Begin a fit, and wait for one of its stages."""
    page.click("#begin")
    page.wait_for_selector(f"ol.stages:has-text('{stage}')")


def _killed(page: Page, studio: Studio) -> str:
    _begun(page, "smoothing")
    for process in _fits(studio):
        os.kill(process, signal.SIGKILL)
    return f"killed: {_sentence(page, '#fit-sentence', 'signal 9')} [still there: {page.inner_text('#data-name')}]"


def _fits(studio: Studio) -> list[int]:
    """Return the processes that the studio has started for fits."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        words = status.read_text().rpartition(")")[2].split()
        if int(words[1]) == studio.process.pid and b"spawn_main" in (status.parent / "cmdline").read_bytes():
            found.append(int(status.parent.name))
    return found


def _stopped(page: Page) -> str:
    _begun(page, "round 1")
    began = time.monotonic()
    page.click("#stop")
    page.wait_for_selector("table.numbers")
    took = time.monotonic() - began
    page.wait_for_selector("#state[data-state=finished]")
    return f"stopped: {page.inner_text('.verdict')} [after {took:.1f} s: {page.inner_text('table.numbers tbody')!r}]"


def _closed(browser: Browser, page: Page, studio: Studio) -> str:
    _begun(page, "smoothing")
    page.context.close()
    time.sleep(2.0)
    again = opened(browser, studio)
    again.wait_for_selector("#state[data-state=finished]")
    numbers = again.inner_text("table.numbers tbody").replace("\n", " ").replace("\t", " ")
    again.wait_for_timeout(1000)
    waiting = len(_fits(studio))
    again.context.close()
    time.sleep(AWAY + 1.0)
    return (
        f"closed page: {''.join(studio.said[-1:]).strip()} [opened again, fit 3 has ended: {numbers}; processes that "
        f"wait for a fit: {waiting}, {AWAY + 1.0:g} s after the page was closed {len(_fits(studio))}]"
    )


def _strangers(studio: Studio) -> Iterator[str]:
    other = studio.address.replace(studio.address.split("/")[3], "x" * 32)
    for name, address, headers in (
        ("wrong token", other, {}),
        ("another origin", studio.address, {"Origin": "http://evil.example"}),
        ("another host", studio.address, {"Host": f"evil.example:{studio.port}"}),
    ):
        try:
            urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30)  # noqa: S310  # our own
            yield f"{name}: LET IN"
        except urllib.error.HTTPError as refusal:
            with refusal:
                yield f"{name}: {refusal.code}, {refusal.read().decode().strip()}"

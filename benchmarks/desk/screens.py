"""Every screen of the studio, light and dark, wide and narrow, and with the keyboard's focus on each thing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.desk.studio import WIDE, Studio, Way, fill, opened, photograph, started

NARROW = (390, 844)


def screens(browser: Browser, folder: Path) -> Iterator[str]:
    """Photograph every state of the page in every dress, and say where something stands out of the window."""
    dresses = [
        (f"{scheme}-{size[0]}", scheme, size) for scheme in ("light", "dark") for size in (WIDE, NARROW)
    ]
    with started("--no-ahead") as studio:
        states = (
            ("empty", lambda page: None),
            ("mistake", lambda page: _mistake(page)),
            ("ready", lambda page: _ready(page)),
            ("fitting", lambda page: _fitting(page)),
            ("result", lambda page: page.wait_for_selector("#state[data-state=finished]")),
            ("compared", lambda page: _second(page)),
        )
        actor = opened(browser, studio)
        for state, act in states:
            act(actor)
            for dress, scheme, size in dresses:
                page = opened(browser, studio, size, color_scheme=scheme)
                photograph(page, folder / f"{state}-{dress}.png")
                wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                yield f"{state}-{dress}.png{f': {wider} pixels too wide' if wider > 0 else ''}"
                page.context.close()
        for dress, scheme, size in dresses:
            page = opened(browser, studio, size, color_scheme=scheme)
            page.click("#forms .q-item")
            page.wait_for_timeout(500)
            photograph(page, folder / f"forms-{dress}.png")
            page.get_by_role("combobox", name="edges").click()
            page.wait_for_timeout(500)
            page.screenshot(path=folder / f"choice-{dress}.png")
            page.context.close()
        yield from _focus(browser, studio, folder)


def _mistake(page: Page) -> None:
    page.fill("textarea", "u_t + a*u*(u_x - b*u_xx = 0")
    page.wait_for_selector("#equation-sentence")


def _ready(page: Page) -> None:
    fill(page, Way("u_t + a*u*u_x - b*u_xx = 0"))


def _fitting(page: Page) -> None:
    page.click("#begin")
    page.wait_for_selector("#so-far")


def _second(page: Page) -> None:
    page.fill("textarea", "u_t + a*u*u_x = 0")
    page.wait_for_timeout(500)
    page.click("#begin")
    page.wait_for_selector("section.comparison")
    page.wait_for_selector("#state[data-state=finished]")


def _focus(browser: Browser, studio: Studio, folder: Path) -> Iterator[str]:
    """Press the tabulator until it has gone round; say what has the focus, and photograph each."""
    for scheme in ("light", "dark"):
        page = opened(browser, studio, WIDE, color_scheme=scheme)
        seen: list[str] = []
        for number in range(60):
            page.keyboard.press("Tab")
            what = page.evaluate(
                """() => { const at = document.activeElement; if (!at || at === document.body) return "";
                const style = getComputedStyle(at), box = at.closest(".q-field") ? "field" : style.outlineStyle;
                return [at.tagName, at.id, at.getAttribute("aria-label") || at.innerText || "", box].join("|") }"""
            )
            if not what:
                break
            seen.append(what.replace("\n", " "))
            page.screenshot(path=folder / f"focus-{scheme}-{number:02d}.png")
        yield f"focus, {scheme}: {len(seen)} places\n" + "\n".join(f"    {what:.110}" for what in seen)
        page.context.close()

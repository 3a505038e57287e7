"""Make the picture of the studio's page: python docs/studio_picture.py [FILE]."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "images" / "studio.png"
WIDTH, HEIGHT = 1240, 800
PATIENCE = 300_000
"""Milliseconds to wait for a fit that compiles."""


def main(path: Path) -> None:
    """Fit the demo's points in the studio, and take the picture."""
    words = [sys.executable, "-m", "hiddenphysics", "studio", "--no-browser"]
    studio = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)  # noqa: S603  # this interpreter, this package
    try:
        assert studio.stderr is not None  # noqa: S101  # it is a pipe
        address = re.search(r"http://\S+", studio.stderr.readline())
        if address is None:
            sys.exit("the studio has not said where it is")
        with sync_playwright() as started:
            browser = started.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=["--no-sandbox", "--disable-background-networking"],
            )
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(PATIENCE)
            page.goto(address[0])
            page.click("#demo")
            page.wait_for_selector("#data-name")
            page.click("#begin")
            page.wait_for_selector("#state[data-state=finished]")
            page.locator("section.result img").nth(1).scroll_into_view_if_needed()
            page.evaluate("window.scrollTo(0, 0)")
            page.mouse.move(0, 0)
            page.wait_for_timeout(1000)
            page.screenshot(path=path, full_page=True)
            browser.close()
    finally:
        studio.send_signal(signal.SIGINT)
        studio.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)

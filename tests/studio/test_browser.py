"""The whole way in a real Chromium: a file, an equation, a fit, the numbers, the downloads; and who is kept out."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

import hiddenphysics as hp
from hiddenphysics.demo import burgers_recording, two_snapshots

playwright = pytest.importorskip("playwright.sync_api")
from benchmarks.desk.studio import CHROMIUM, FLAGS, Studio  # noqa: E402

PATIENCE = 180_000
"""Milliseconds to wait for what compiles on a busy machine."""

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium"),
    pytest.mark.xdist_group("studio"),
]


@pytest.fixture(scope="module")
def studio():
    running = Studio("--no-ahead")  # so that a test finds a fit in its middle
    yield running
    assert running.end() == 0
    assert "the studio has ended" in running.said[-1]
    assert not any("Traceback" in line for line in running.said), running.said


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium, studio):
    """Open the page; what it asks of other hosts, and errors of its scripts, fail the test."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(studio.address)
    page.wait_for_selector("#equation-formula, #equation-sentence")
    yield page
    context.close()
    assert {url for url in asked if not url.startswith((studio.address, "data:", "blob:"))} == set()
    assert errors == []


def text(page, selector):
    return page.wait_for_selector(selector).inner_text()


def test_the_whole_way(studio, tab, tmp_path):
    tab.click("#demo")
    assert "burgers.csv" in text(tab, "#data-name")
    assert "2 snapshots of u in x" in text(tab, "section.data")
    tab.fill("textarea", "u_t + a*u*(u_x - b*u_xx = 0")
    assert "this ( is never closed" in text(tab, "#equation-sentence")
    tab.fill("textarea", "u_t + a*u*u_x - b*u_xx = 0")
    tab.wait_for_selector("#equation-formula math msub")
    assert text(tab, "#sought") == "Sought: a, b"

    tab.focus("#begin")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#state[data-state=fitting]")
    second = tab.context.new_page()
    second.goto(studio.address)
    assert "Fitting" in text(second, "#state")
    second.close()  # a page that is closed takes nothing with it
    tab.reload()
    tab.wait_for_selector("table.numbers", timeout=PATIENCE)
    tab.wait_for_selector("#state[data-state=finished]", timeout=PATIENCE)
    second = tab.context.new_page()
    second.goto(studio.address)
    assert text(second, "table.numbers") == text(tab, "table.numbers")
    second.close()
    assert "Converged" in text(tab, ".verdict").title()
    assert tab.locator("section.result img").count() == 2
    assert tab.evaluate("document.querySelector('section.result img').naturalWidth") > 500

    got = {}
    for name in ("result", "report", "python", "shell"):
        with tab.expect_download() as waiting:
            tab.click(f"#get-{name}")
        got[name] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(got[name])
    assert {path.name for path in got.values()} == {
        "burgers.nc",
        "burgers.html",
        "burgers_fit.py",
        "burgers_fit.sh",
    }
    fit = hp.load(got["result"])
    assert 0.9 < fit.parameters["a"].estimate < 1.1
    assert "u_t + 0.97" in got["report"].read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!data:)', got["report"].read_text(encoding="utf-8"))

    # The same file, the shell's own way: the same numbers to the last digit.
    data = two_snapshots(burgers_recording(), noise=0.01, seed=0)
    data.to_table().to_csv(tmp_path / "burgers.csv", index=False)
    words = [sys.executable, "-m", *shlex.split(got["shell"].read_text()), "--json", "-q"]
    again = json.loads(subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert again.pop("files") == []
    assert {**again, "seconds": 0} == {**fit.summary(), "seconds": 0}


def test_the_first_answer_is_there_soon_after_the_button(chromium):
    """The fit has begun while the page was read: what is left to wait for after the button is measured."""
    running = Studio()
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(running.address)
    page.click("#demo")
    page.wait_for_selector("#data-name")
    page.wait_for_function("!document.querySelector('.clock').innerText.includes('Working ahead')")
    pressed = time.monotonic()
    page.click("#begin")
    page.wait_for_selector("table.numbers")
    took = time.monotonic() - pressed
    page.close()
    assert running.end() == 0
    assert took < 10.0


def test_what_cannot_be_read_is_a_sentence_and_what_was_there_stays(tab, tmp_path):
    table = tmp_path / "plane.csv"
    table.write_text("t,x,u,v\n" + "".join(f"{t},{x},{x + t},{x * t}\n" for t in (0, 1) for x in range(5)))
    tab.set_input_files("input[type=file]", table)
    tab.wait_for_selector("#data-name:has-text('plane.csv')")
    assert (
        tab.locator(".equation .choices .q-select").count() == 1
    )  # two columns, and one field: which is it?
    picture = tmp_path / "picture.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    tab.set_input_files("input[type=file]", picture)
    assert "picture.csv" in text(tab, "#data-sentence")
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(500_000_000)
    tab.set_input_files("input[type=file]", huge)
    tab.wait_for_selector("#data-sentence:has-text('At most 100 MB are taken')")
    assert "plane.csv" in text(tab, "#data-name")


def test_columns_are_matched_by_hand(tab, tmp_path):
    table = tmp_path / "ice.csv"
    rows = "".join(f"{t},{x},{x + t}\n" for t in (0, 1) for x in range(5))
    table.write_text("when,depth (m),heat\n" + rows)
    tab.set_input_files("input[type=file]", table)
    tab.wait_for_selector("#data-sentence:has-text('ice.csv')")
    tab.fill("input[aria-label='columns by hand']", "t = when, x = depth (m), u = heat")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#data-name:has-text('ice.csv')")
    assert "coordinate, the column depth (m)" in text(tab, "ul.roles")
    assert tab.locator("#data-sentence").count() == 0


def test_forms_are_reached_by_the_keyboard(tab):
    tab.focus("#forms .q-item")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("button.form")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.querySelector('textarea').value == 'u_t + a*u_x - b*u_xx = 0'")


def test_narrow_and_dark(tab):
    tab.emulate_media(color_scheme="dark")
    tab.set_viewport_size({"width": 360, "height": 800})
    wider = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not tab.evaluate(wider)
    shade = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(shade) == "rgb(18, 22, 28)"
    tab.emulate_media(color_scheme="light")
    assert tab.evaluate(shade) == "rgb(246, 247, 249)"


def refusal(address, **headers):
    request = urllib.request.Request(address, headers=headers)  # noqa: S310  # our own
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=30)  # noqa: S310
    with caught.value as answer:
        return answer.code, answer.read().decode()


def test_nobody_else_is_let_in(studio, chromium, tmp_path):
    base = f"http://127.0.0.1:{studio.port}"
    for path in ("/", "/wrong/", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        code, sentence = refusal(base + path)
        assert code == 403
        assert "does not bear the token" in sentence
    code, sentence = refusal(studio.address, Host=f"evil.example:{studio.port}")
    assert (code, "was asked as evil.example" in sentence) == (403, True)
    code, sentence = refusal(studio.address, Origin="http://evil.example")
    assert (code, "A page of http://evil.example has asked" in sentence) == (403, True)

    # A page of another origin that has somehow learned the address: its browser may not talk to the studio.
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    handler.log_message = lambda *words: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = chromium.new_page()
        page.goto(f"http://127.0.0.1:{other.server_port}/")
        socket_address = (
            studio.address.replace("http", "ws") + "_nicegui_ws/socket.io/?EIO=4&transport=websocket"
        )
        opened = """address => new Promise(done => {
            const socket = new WebSocket(address);
            socket.onopen = () => done("open"); socket.onerror = () => done("refused")
        })"""
        assert page.evaluate(opened, socket_address) == "refused"
        assert page.evaluate("a => fetch(a).then(() => 'read', () => 'refused')", studio.address) == "refused"
        page.goto(studio.address)
        assert page.evaluate(opened, socket_address) == "open"
        page.close()
        other.shutdown()


def test_it_listens_on_the_loopback_address_alone(studio):
    with open("/proc/net/tcp") as lines:  # noqa: PTH123
        places = {line.split()[1] for line in lines if line.split()[3] == "0A"}
    assert [p for p in places if p.endswith(f":{int(studio.port):04X}")] == [
        f"0100007F:{int(studio.port):04X}"
    ]
    with socket.create_connection(("127.0.0.1", int(studio.port)), timeout=10):
        pass

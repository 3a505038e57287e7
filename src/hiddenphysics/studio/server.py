"""`serve`: the studio on the loopback address, at a port and under a token of its own."""

from __future__ import annotations

import secrets
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.studio.data_file import LARGEST
from hiddenphysics.studio.guard import NAMES, Guard
from hiddenphysics.studio.session import LONGEST_AHEAD, Session

ENVELOPE = 1_000_000
"""Bytes that a request may have beside the file it brings."""
AWAY = 5.0
"""Seconds without an open page, more than a reload takes, after which what nobody has asked for is ended."""


def serve(
    file: Path | None, *, port: int, browser: bool, say: Callable[[str], None], ahead: bool = True
) -> None:
    """Run the studio until it is interrupted.

    Parameters
    ----------
    file
        What to read at once.
    port
        Where to listen; 0 for a port that is free.
    browser
        Whether to open the page.
    say
        Takes each line for the terminal.
    ahead
        Whether a fit may begin before it is asked for.
    """
    if find_spec("nicegui") is None:
        raise MissingExtraError('The studio needs NiceGUI. Type: pip install "hiddenphysics[studio]"')
    with (
        _listening(port) as listener,
        tempfile.TemporaryDirectory(prefix="hiddenphysics-studio-") as folder,
        Session(Path(folder), ahead=ahead) as session,
    ):
        token, port = secrets.token_urlsafe(24), listener.getsockname()[1]
        address = f"http://{NAMES[0]}:{port}/{token}/"
        if file is not None:
            session.read(file, str(file))
            if session.data is None:
                raise DataError(session.data_sentence)
        early = session.work_ahead_on_demo if file is None else partial(session.work_ahead, settled=0.0)
        threading.Thread(target=early, daemon=True).start()
        # Only now: these take a second or two, in which the first fit has begun beside them.
        import uvicorn
        from fastapi import FastAPI
        from nicegui import app as pages
        from nicegui import ui

        from hiddenphysics.studio.page import add_page

        add_page(session)
        application = FastAPI(openapi_url=None)
        # A page that comes back within a minute finds its elements as it left them.
        ui.run_with(
            application,
            mount_path=f"/{token}",
            dark=None,
            tailwind=False,
            reconnect_timeout=60.0,
            show_welcome_message=False,
        )
        open_pages: set[str] = set()

        def rest(*, after: float) -> None:
            def look() -> None:
                if not open_pages:
                    session.rest()
                if open_pages:  # one was opened in that moment
                    session.see()

            later = threading.Timer(after, look)
            later.daemon = True
            later.start()

        def opened(client: object) -> None:
            open_pages.add(getattr(client, "id", ""))
            session.see()

        def closed(client: object) -> None:
            open_pages.discard(getattr(client, "id", ""))
            if not open_pages:
                rest(after=AWAY)
                say(
                    f"no page is open; the studio goes on, and a fit with it. Open {address} again, or press Ctrl-C"
                )

        def announce() -> None:
            say(f"studio: {address}")
            say(
                "It listens on this machine alone. Ctrl-C ends it; results that were not downloaded end with it."
            )
            rest(after=LONGEST_AHEAD)
            if browser:
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        pages.on_startup(announce)
        pages.on_connect(opened)
        pages.on_disconnect(closed)
        guard = Guard(application, token=token, port=port, largest=LARGEST + ENVELOPE)
        settings = uvicorn.Config(
            guard, log_level="warning", access_log=False, timeout_graceful_shutdown=1, server_header=False
        )
        try:
            uvicorn.Server(settings).run(sockets=[listener])
        except KeyboardInterrupt:
            say("the studio has ended")


def _listening(port: int) -> socket.socket:
    """Return a socket on the loopback address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((NAMES[0], port))
        # Already now: a browser that is quicker than the server waits in its queue, instead of being refused.
        listener.listen()
    except OSError as problem:
        listener.close()
        raise DataError(
            f"--port {port} cannot be listened on ({problem.strerror}). Type another, or leave it out for a free one."
        ) from problem
    return listener

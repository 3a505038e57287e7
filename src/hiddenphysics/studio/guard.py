"""`Guard`: who may ask the studio anything. It stands before every request, of pages and of sockets alike.

A page in the same browser, of whatever origin, can send requests to this machine; other users of the machine can, too.
So a request has to name this machine as its host (or a name of somebody else's could be pointed here), must not come
from another origin, and has to bear the token, which is made anew at every start and stands in the address.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = ("127.0.0.1", "localhost")
"""What the loopback address may be called."""

OPEN_AGAIN = "Open the address that `hiddenphysics studio` has printed in its terminal."

HEADERS = {
    # Scripts, styles and pictures of our own server alone; Vue compiles its templates, which counts as evaluation.
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # the address bears the token
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""What every answer tells the browser to keep to."""


class Guard:
    """An ASGI application that lets through to another what may pass, and refuses the rest with a sentence.

    Parameters
    ----------
    application
        What is guarded; all of it lies under the path ``/token/``.
    token
        What has to stand first in the path of every request.
    port
        The port that is listened on.
    largest
        Bytes that the body of a request may have.
    """

    def __init__(self, application: Application, *, token: str, port: int, largest: int) -> None:
        self._application = application
        self._token = token.encode()
        self._hosts = frozenset(f"{name}:{port}" for name in NAMES)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        elif scope["type"] == "http":
            await self._pass_limited(scope, receive, send)
        else:
            await self._application(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the sentence of a refusal; None for what may pass."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if host not in self._hosts:
            return 403, f"The studio answers as {NAMES[0]} alone, and was asked as {host:.100}. {OPEN_AGAIN}"
        if origin is not None and origin not in self._origins:
            return 403, f"A page of {origin:.100} has asked the studio, which answers to its own page alone."
        foreign = headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin")
        if foreign and headers.get(b"sec-fetch-mode") != "navigate":
            return 403, "A page of another origin has asked the studio, which answers to its own page alone."
        token = scope["path"].split("/")[1] if scope["path"].startswith("/") else ""
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self._token):
            return 403, f"The address does not bear the token of this studio. {OPEN_AGAIN}"
        length = headers.get(b"content-length", "0")
        if not length.isdecimal() or int(length) > self._largest:
            return 413, self._too_large
        return None

    @property
    def _too_large(self) -> str:
        return too_large(self._largest)

    async def _pass_limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request, and count what it sends: a length need not be told, and need not be true."""
        taken, begun = 0, False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._largest:
                raise ValueError(self._too_large)
            return message

        async def dressed(message: Message) -> None:
            nonlocal begun
            if taken > self._largest:
                return  # whatever is said about it: the sentence is ours
            if message["type"] == "http.response.start":
                begun = True
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *ours]}
            await send(message)

        try:
            await self._application(scope, counted, dressed)
        except Exception:
            if taken <= self._largest:
                raise
        if taken > self._largest and not begun:
            await _refuse(scope, receive, send, 413, self._too_large)


def too_large(largest: int) -> str:
    """Return the sentence for a file that is too large to be dropped."""
    return (
        f"At most {largest // 1_000_000} MB are taken from the browser, and this is larger. Read it where it lies: "
        "end the studio and type hiddenphysics studio FILE."
    )


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    """Answer with a sentence; a socket is closed before it opens, with the sentence where the server can send one."""
    kind = "http.response"
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": sentence[:120]})
            return
        kind = "websocket.http.response"
    headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close", **HEADERS}
    told = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": f"{kind}.start", "status": status, "headers": told})
    await send({"type": f"{kind}.body", "body": f"{sentence}\n".encode()})

"""Who is let in: asked as a server asks, without one."""

import asyncio

import pytest

from hiddenphysics.studio.guard import HEADERS, Guard

TOKEN, PORT = "a-token-of-some-length", 8123
HOST = (b"host", b"127.0.0.1:8123")


async def application(scope, receive, send):
    """Read everything, then answer with its length; a socket is accepted."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    total, more = 0, True
    while more:
        message = await receive()
        total += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(total).encode()})


def ask(path=f"/{TOKEN}/", headers=(HOST,), body=(b"",), kind="http", extensions=()):
    """Return status, text and headers of the answer."""
    told = []
    pieces = [
        {"type": "http.request", "body": piece, "more_body": k < len(body) - 1}
        for k, piece in enumerate(body)
    ]

    async def receive():
        return pieces.pop(0) if kind == "http" else {"type": "websocket.connect"}

    async def send(message):
        told.append(message)

    guard = Guard(application, token=TOKEN, port=PORT, largest=1000)
    scope = {
        "type": kind,
        "path": path,
        "headers": list(headers),
        "extensions": {name: {} for name in extensions},
    }
    asyncio.run(guard(scope, receive, send))
    if kind == "websocket" and len(told) == 1:
        return told[0]["type"], told[0].get("reason", ""), {}
    start, end = told
    return start["status"], end["body"].decode(), dict(start["headers"])


def test_a_request_with_host_and_token_passes_and_is_told_what_to_keep_to():
    status, text, headers = ask(body=(b"abc", b"de"))
    assert (status, text) == (200, "5")
    for name, value in HEADERS.items():
        assert headers[name.encode()] == value.encode()
    assert b"http" not in headers[b"Content-Security-Policy"]  # no other host is named there


@pytest.mark.parametrize("path", ["/", "", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", f"//{TOKEN}/", "/ä/"])
def test_another_token_is_refused(path):
    status, text, _ = ask(path)
    assert status == 403
    assert "does not bear the token" in text
    assert TOKEN not in text


@pytest.mark.parametrize(
    "host", [b"evil.example:8123", b"127.0.0.1:8124", b"127.0.0.1", b"", b"192.168.0.7:8123"]
)
def test_another_host_is_refused(host):
    status, text, _ = ask(headers=((b"host", host),))
    assert status == 403
    assert "answers as 127.0.0.1 alone" in text


def test_another_origin_is_refused_and_our_own_is_not():
    for origin in (b"http://evil.example", b"null", b"https://127.0.0.1:8123", b"http://127.0.0.1:9999"):
        status, text, _ = ask(headers=(HOST, (b"origin", origin)))
        assert status == 403
        assert "answers to its own page alone" in text
    assert ask(headers=(HOST, (b"origin", b"http://127.0.0.1:8123")))[0] == 200
    assert ask(headers=((b"host", b"localhost:8123"), (b"origin", b"http://localhost:8123")))[0] == 200


def test_a_picture_of_another_page_is_refused_and_a_link_is_followed():
    foreign = (b"sec-fetch-site", b"cross-site")
    assert ask(headers=(HOST, foreign, (b"sec-fetch-mode", b"no-cors")))[0] == 403
    assert ask(headers=(HOST, foreign, (b"sec-fetch-mode", b"navigate")))[0] == 200


def test_what_is_too_large_is_refused_by_its_length_and_where_that_lies_by_counting():
    for headers, body in (
        ((HOST, (b"content-length", b"1001")), (b"",)),
        ((HOST, (b"content-length", b"many")), (b"",)),
        ((HOST, (b"content-length", b"3")), (b"x" * 600, b"x" * 600)),
        ((HOST,), (b"x" * 600, b"x" * 600)),
    ):
        status, text, _ = ask(headers=headers, body=body)
        assert status == 413
        assert "hiddenphysics studio FILE" in text
    assert ask(headers=(HOST, (b"content-length", b"1000")), body=(b"x" * 1000,))[1] == "1000"


def test_sockets_are_guarded_alike():
    assert ask(kind="websocket")[0] == "websocket.accept"
    closed, reason, _ = ask("/wrong/", kind="websocket")
    assert closed == "websocket.close"
    assert "does not bear the token" in reason
    headers = (HOST, (b"origin", b"http://evil.example"))
    status, text, _ = ask(kind="websocket", headers=headers, extensions=("websocket.http.response",))
    assert status == 403
    assert "evil.example" in text

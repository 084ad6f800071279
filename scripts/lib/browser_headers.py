"""The headers that Chromium and Firefox send, for clients of tests, and the decoding of what comes back. Bare requests
take another way through a server. `testkit::browser` has the same for tests in Rust."""

import http.client
import itertools
import urllib.request
import zlib
from collections.abc import Iterable, Iterator

BOTH = {"accept-encoding": "gzip, deflate, br, zstd"}
CHROMIUM = BOTH | {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
                  "Safari/537.36",
    "accept-language": "en-US,en;q=0.9",
    "sec-ch-ua": '"Chromium";v="140", "Not=A?Brand";v="24"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
}
FIREFOX = BOTH | {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    "accept-language": "en-US,en;q=0.5",
    "priority": "u=0, i",
}
# Of a person who follows a link, and of a script of a page of the same site.
NAVIGATION = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "upgrade-insecure-requests": "1",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "sec-fetch-site": "none",
    "sec-fetch-user": "?1",
}
SCRIPT = {"accept": "*/*", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin"}

turns = itertools.count()

# A part of a body.
Piece = bytes | bytearray


def headers(path: str) -> dict[str, str]:
    """Returns the headers of the next request, by turns of each browser."""
    purpose = SCRIPT if "/api/" in path else NAVIGATION
    return (FIREFOX if next(turns) % 2 else CHROMIUM) | purpose


def decoded(encoding: str | None, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yields the pieces of a body behind the header Content-Encoding, decoded as they arrive."""
    if not encoding:
        yield from pieces
        return
    if encoding != "gzip":
        raise ValueError(f"the server does not know the encoding {encoding}")
    gzip = zlib.decompressobj(wbits=31)
    for piece in pieces:
        if plain := gzip.decompress(piece):
            yield plain
    if not gzip.eof:
        raise ConnectionError("a compressed body breaks off")


def get(url: str, timeout_s: float) -> bytes:
    """Returns the body of an answer of status 200."""
    request = urllib.request.Request(url, headers=headers(url))
    with urllib.request.urlopen(request, timeout=timeout_s) as answer:
        return body(answer)


def body(answer: http.client.HTTPResponse) -> bytes:
    """Returns the body of an answer of the standard library's client."""
    return b"".join(decoded(answer.headers["content-encoding"], [answer.read()]))

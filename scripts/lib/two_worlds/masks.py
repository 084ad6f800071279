"""Removes from an answer what differs between two runs of one server: ids, cursors, generations, times and ports.

Ids, cursors and generations keep their lengths. Of events only the last of each kind is kept: how many there are
depends on time.
"""

import json
import re
from collections.abc import Callable, Iterable

from .worlds import Reply

ID = re.compile(rb"(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])")
CURSOR = re.compile(rb'(?:(?<="next":")|(?<="link":")|(?<="id":")|(?<=cursor=))[A-Za-z0-9_-]{40,}')
TIMES = (
    (re.compile(rb'"timings":\{[^}]*\}'), b'"timings":{}'),
    (re.compile(rb'"(\w*_ms|milliseconds|age_s|indexed|updated|fetched|backend_ms)":(?:[\d.]+|null)'), rb'"\1":0'),
    # Of zoekt, in nanoseconds, and of Sourcegraph.
    (re.compile(rb'"(Duration|Wait|MatchTree\w+|durationMs|elapsedMilliseconds)":\d+'), rb'"\1":0'),
    (re.compile(rb'"(IndexTime|LatestCommitDate|(?:created|updated|pushed)_at)":"[^"]*"'), rb'"\1":""'),
    (re.compile(rb"(?<=127\.0\.0\.1:)\d+"), b"0"),
    (re.compile(rb"<time>[^<]*</time>"), b"<time></time>"),
    (re.compile(rb"\b\d+ (?:second|minute|hour)s? ago\b"), b"0 seconds ago"),
    (re.compile(rb"(?<![\w.])\d+(?:\.\d+)? (?:\xc2\xb5s|ms|s)(?!\w)"), b"0 s"),
)
# Of links with the host, as other products have them.
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")
TAG = re.compile(r'(?<=W/")[0-9a-f]+')
DROPPED = ("date", "content-length")
NUMBER = re.compile(r"(?<=dur=)[\d.]+")


# Status, headers and body.
Masked = tuple[int, list[tuple[str, str]], bytes]


def masked(reply: Reply, generations: Iterable[str], kind: str) -> Masked:
    """Returns what is compared of an answer."""
    # A page that was requested again shows a finished search, whose header has fewer times.
    dropped = DROPPED + ("server-timing",) * (reply.header("content-type") or "").startswith("text/html")
    headers = sorted((name, header(name, value)) for name, value in reply.headers
                     if name not in dropped or (name == "content-length" and kind == "raw"))
    body = reply.body
    if reply.header("content-type") == "text/event-stream":
        body = last_events(body)
    for generation in generations:
        body = body.replace(generation.encode(), b"g" * len(generation))
    body = ID.sub(same_length(b"i"), body)
    body = CURSOR.sub(same_length(b"c"), body)
    for pattern, instead in TIMES:
        body = pattern.sub(instead, body)
    return reply.status, headers, body


def header(name: str, value: str) -> str:
    if name in ("x-request-id", "x-trawl-search"):
        return "i" * len(value)
    if name == "etag":
        return TAG.sub(lambda found: "t" * len(found[0]), value)
    return NUMBER.sub("0", value) if name == "server-timing" else PORT.sub("0", value)


def same_length(letter: bytes) -> Callable[[re.Match[bytes]], bytes]:
    return lambda found: letter * len(found[0])


def last_events(body: bytes) -> bytes:
    """Returns the last event of each kind, in their order, without progress and boxes so far: they depend on time.

    So does how Sourcegraph's matches are grouped: they are listed by place.
    """
    events: dict[bytes, bytes] = {}
    places: list[bytes] = []
    for event in body.split(b"\n\n"):
        kind = event.split(b"\n", 1)[0]
        if event.startswith(b"event: matches\ndata: ["):
            places += matched(event.split(b"\n", 1)[1].removeprefix(b"data: "))
        elif kind.startswith(b"event: ") and kind not in (b"event: progress", b"event: boxes"):
            events.pop(kind, None)
            events[kind] = event
    return b"\n\n".join([*events.values(), *sorted(places)])


def matched(data: bytes) -> list[bytes]:
    """Returns the places of a list of matches."""
    places = []
    for item in json.loads(data):
        chunks = item.pop("chunkMatches", [])
        lines = item.pop("lineMatches", []) + [found for chunk in chunks for found in chunk["ranges"]]
        places += [json.dumps([item, line], sort_keys=True).encode() for line in lines or [None]]
    return places


def difference(one: Masked, other: Masked) -> str | None:
    """Describes the first difference of two masked answers, or returns None."""
    if one[0] != other[0]:
        return f"status: {one[0]} and {other[0]}"
    if one[1] != other[1]:
        only = [[it for it in one[1] if it not in other[1]], [it for it in other[1] if it not in one[1]]]
        return f"headers: {only[0]} and {only[1]}"
    left, right = one[2], other[2]
    if left == right:
        return None
    at = next((at for at, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), min(len(left), len(right)))
    shown = [side[max(at - 60, 0):at + 100].decode(errors="replace") for side in (left, right)]
    return f"bodies of {len(left)} and {len(right)} bytes at {at}: …{shown[0]}… and …{shown[1]}…"

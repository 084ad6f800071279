"""Boxes of the best files so far, in the events of a page whose search runs.

Which of them are sent, and when, depends on time. So they are not compared with each other: every line that one world
shows in a box must be among all matches that the other world has for the query.
"""

import html
import json
import re
import urllib.parse
from collections.abc import Iterable, Sequence

from ..tools import Failure
from .requests import Request
from .worlds import Reply, World

# Package, path and lines.
Box = tuple[str, str, list[int]]

BOX = re.compile(r'<article class="result" data-box="([^"]*)">(.*?)</article>', re.DOTALL)
HIT = re.compile(r'<div class="line hit"[^>]*><a class="number"[^>]*>(\d+)</a>')
# What selects some of the matches, or says how they are shown.
VIEW = ("copies", "explain", "group", "limit", "page", "per_page", "total", "want")


def shown(reply: Reply) -> list[Box]:
    """Returns the package, the path and the lines of every box that was sent; no lines if the name is the match."""
    boxes: list[Box] = []
    for event in reply.body.split(b"\n\n"):
        name, _, data = event.partition(b"\ndata: ")
        if name == b"event: boxes":
            boxes += [box(*found) for found in BOX.findall(json.loads(data)["html"])]
    return boxes


def box(address: str, body: str) -> Box:
    wanted = urllib.parse.parse_qs(urllib.parse.urlsplit(html.unescape(address)).query)
    return wanted["package"][0], wanted["path"][0], [int(number) for number in HIT.findall(body)]


def strays(request: Request, replies: Iterable[Reply], both: Sequence[World]) -> tuple[int, str | None]:
    """Returns how many boxes the replies to a page's events have, and what one shows that the other world has not.

    If there are any, both worlds are asked for all matches, so that both still have received the same requests.
    """
    if not request.path.startswith("/search/events?"):
        return 0, None
    sent = [shown(reply) for reply in replies]
    if not any(sent):
        return 0, None
    pairs = urllib.parse.parse_qsl(urllib.parse.urlsplit(request.path).query)
    pairs = [(name, value) for name, value in pairs if name not in VIEW] + [("format", "jsonl")]
    address = "/api/v2/export?" + urllib.parse.urlencode(pairs)
    exports = [answer(world, address) for world in both]
    stray = (unknown(boxes, export) for boxes, export in zip(sent, reversed(exports)))
    return sum(map(len, sent)), next(filter(None, stray), None)


def answer(world: World, address: str) -> bytes:
    reply = world.member.ask(address)
    if reply.status != 200:
        raise Failure(f"status {reply.status} for {address}: {reply.body.decode(errors='replace')}")
    return reply.body


def unknown(boxes: list[Box], export: bytes) -> str | None:
    """Describes the first box with a file or a line that an export has not."""
    found = [json.loads(line) for line in export.splitlines()]
    files = {(match["package"], match["path"]) for match in found}
    # A match may span several lines.
    lines = {(match["package"], match["path"], match["line"] + further)
             for match in found for further in range(match.get("lines", 1))}
    for package, path, numbers in boxes:
        beyond = [number for number in numbers if (package, path, number) not in lines]
        if beyond or (package, path) not in files:
            return f"a box of {package}/{path} has lines {beyond} that the other world does not have"
    return None

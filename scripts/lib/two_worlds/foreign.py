"""Fetches ids, cursors, pages and tags of a caller who sees more, as callers who see less."""

import random
import typing
import urllib.parse

from .. import servers
from . import corpora
from .worlds import Caller, Memory, Reply

# Requests for what one search of the other caller made.
EACH = 250
PARTS = ("", "?page={page}&per_page=3", "/facets", "/packages", "/events", "/export?format=jsonl", "/copies?position=0")


class Fetched(typing.NamedTuple):
    """Requests of a kind, the bytes that must not have come, and an example."""
    requests: int = 0
    leaked_bytes: int = 0
    example: str | None = None


def fetch(server: servers.Server, count: int, seed: int) -> dict[str, Fetched]:
    """Sends `count` requests. Returns by kind how many there were, and what must not have come."""
    rng = random.Random(seed)
    table: dict[str, Fetched] = {}
    markers = [word.encode() for word in corpora.PRIVATE_WORDS + tuple(corpora.private_names())]
    with Caller(server.address, "admin") as admin, Caller(server.address, "member") as member, \
            Caller(server.address, None) as stranger:
        memory = Memory()
        words: list[str] = []
        for number in range(count):
            if number % EACH == 0:
                words = [rng.choice(corpora.PRIVATE_WORDS)]
                path = f"/api/v2/search?q={words[0]}&per_page=2"
                reply = admin.ask(path)
                memory.learn(path, reply)
                if reply.status != 200 or words[0].encode() not in reply.body:
                    raise AssertionError(f"status {reply.status} for an administrator")
            caller = rng.choice((member, stranger))
            kind = rng.choice(("id", "id", "cursor", "tag", "page"))
            reply = ask(caller, kind, memory, words[0], rng)
            # An answer may repeat the query, and nothing else that is private.
            body = reply.body.replace(words[0].encode(), b"")
            leaked = [marker for marker in markers if marker in body]
            is_given = (kind in ("id", "cursor") and reply.status < 400) or reply.status == 304
            sent, leaked_bytes, example = table.get(kind, Fetched())
            if leaked or is_given:
                leaked_bytes += max(len(reply.body), 1)
                example = example or f"status {reply.status}, {leaked[:3]}: {reply.body[:200]!r}"
            table[kind] = Fetched(sent + 1, leaked_bytes, example)
    return table


def ask(caller: Caller, kind: str, memory: Memory, word: str, rng: random.Random) -> Reply:
    known = memory.values
    if kind == "id":
        part = rng.choice(PARTS).replace("{page}", str(rng.randint(0, 5)))
        return caller.ask(f"/api/v2/search/{known['id']}{part}")
    if kind == "cursor":
        return caller.ask(f"/api/v2/search?cursor={known['cursor']}")
    if kind == "tag":
        return caller.ask(known["tagged"], headers=[("if-none-match", known["tag"])])
    query = urllib.parse.quote(f"{word} package:vault")
    return caller.ask(rng.choice((f"/search?q={query}", f"/api/v2/search?q={query}&page=1",
                                  f"/search?q={word}&run={known['id']}",
                                  f"/api/v2/export?q={query}&generation={known['generation']}")))

"""Fetches ids, cursors, pages and tags of a caller who sees more, as callers who see less."""

import random
import urllib.parse

from . import corpora
from .worlds import Caller, Memory

# Requests for what one search of the other caller made.
EACH = 250
PARTS = ("", "?page={page}&per_page=3", "/facets", "/packages", "/events", "/export?format=jsonl", "/copies?position=0")


def fetch(server, count, seed):
    """Sends `count` requests. Returns by kind how many there were, the bytes that must not have come, and an example."""
    rng = random.Random(seed)
    table = {}
    markers = [word.encode() for word in corpora.PRIVATE_WORDS + tuple(corpora.private_names())]
    with Caller(server.address, "admin") as admin, Caller(server.address, "member") as member, \
            Caller(server.address, None) as stranger:
        memory, words = Memory(), []
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
            row = table.setdefault(kind, [0, 0, None])
            row[0] += 1
            if leaked or is_given:
                row[1] += max(len(reply.body), 1)
                row[2] = row[2] or f"status {reply.status}, {leaked[:3]}: {reply.body[:200]!r}"
    return table


def ask(caller, kind, memory, word, rng):
    known = memory.values
    if kind == "id":
        part = rng.choice(PARTS).replace("{page}", str(rng.randint(0, 5)))
        return caller.ask(f"/api/v2/search/{known['id']}{part}")
    if kind == "cursor":
        return caller.ask(f"/api/v2/search?cursor={known['cursor']}")
    if kind == "tag":
        return caller.ask(known["tagged"], headers=[("if-none-match", known["tag"])])
    query = urllib.parse.quote(f"{word} package:vault")
    return caller.ask(rng.choice((f"/search?q={query}", f"/api/v2/search?q={query}&page=1", f"/search?q={word}&run={known['id']}",
                                  f"/api/v2/export?q={query}&generation={known['generation']}")))

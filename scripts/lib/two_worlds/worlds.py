"""A server over the corpora of one world, and callers of it."""

import contextlib
import json
import os
import re
import time
import typing
from collections.abc import Iterable, Iterator

from .. import browser_headers, servers, tools
from ..connection import Address, Connection
from . import service
from .corpora import Corpora
from .requests import Request

PUBLIC_GLOB = "pub-*"
# Only the page of a running search has this. It depends on time, so the page is requested until the search has ended.
RUNNING = re.compile(rb'<div class="summary running">|data-next-href="/search/facets')
ASK_AGAIN_AFTER_S, ASKED_AGAIN_MAX = 0.1, 100


class Reply(typing.NamedTuple):
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)


class Caller(Connection):
    """A connection of one caller, who sends a cookie."""

    def __init__(self, address: Address, user: str | None) -> None:
        super().__init__(address)
        self.user = user

    def ask(self, path: str, method: str = "GET", headers: Iterable[tuple[str, str]] = (),
            body: str | None = None) -> Reply:
        """Returns an answer of any status."""
        lines = [f"{method} {path} HTTP/1.1", "Host: %s:%d" % self.address]
        lines += [f"Cookie: user={self.user}"] if self.user else []
        lines += [f"{name}: {value}" for name, value in (browser_headers.headers(path) | dict(headers)).items()]
        lines += [f"Content-Length: {len(body.encode())}"] if body is not None else []
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n" + (body or "")).encode())
        head = bytes(self.until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split()[1])
        parted = (line.partition(": ") for line in head[1:] if ": " in line)
        found = tuple((name, value) for name, _, value in parted)
        if method == "HEAD" or status in (204, 304):
            return Reply(status, found, b"")
        lowered = "".join(f"\r\n{name}: {value}" for name, value in found).lower() + "\r\n"
        return Reply(status, found, b"".join(map(bytes, self.body(lowered.encode()))))


class Memory:
    """What the answer to the last search of a caller had, for later requests."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.values = dict.fromkeys(("id", "cursor", "generation", "tag", "tagged"), "none") | {"tagged": "/"}

    def learn(self, path: str, reply: Reply) -> None:
        if reply.status != 200:
            return
        if tag := reply.header("etag"):
            self.values |= {"tag": tag, "tagged": path}
        if reply.header("content-type") == "application/json" and b'"interpreted_as"' in reply.body:
            answer = json.loads(reply.body)
            self.values |= {name: answer[name] for name in ("id", "generation") if answer.get(name)}
            if isinstance(answer.get("next"), str):
                self.values["cursor"] = answer["next"]

    def fill(self, text: str) -> str:
        """Replaces the placeholders of this memory in a text."""
        for name, value in self.values.items():
            text = text.replace("{" + self.prefix + name + "}", value)
        return text


class World:
    """A server, the caller whose answers are compared, and another caller whose ids that one tries."""

    def __init__(self, server: servers.Server, foreigner: str | None) -> None:
        self.server = server
        self.member = Caller(server.address, "member")
        self.foreigner = Caller(server.address, foreigner)
        self.own, self.foreign = Memory(), Memory("foreign_")

    def ask(self, request: Request) -> Reply:
        """Sends a request as the member, and learns from the answer."""
        path, body = self.filled(request.path), request.body and self.filled(request.body)
        headers = [(name, self.filled(value)) for name, value in request.headers]
        for _ in range(ASKED_AGAIN_MAX):
            reply = self.member.ask(path, request.method, headers, body)
            if not RUNNING.search(reply.body):
                break
            time.sleep(ASK_AGAIN_AFTER_S)
        if request.method == "GET" and not headers:
            self.own.learn(path, reply)
        return reply

    def ask_as_foreigner(self, path: str) -> Reply:
        reply = self.foreigner.ask(path)
        self.foreign.learn(path, reply)
        return reply

    def filled(self, text: str) -> str:
        return self.foreign.fill(self.own.fill(text))

    def generations(self) -> set[str]:
        return {self.own.values["generation"], self.foreign.values["generation"]} - {"none"}


@contextlib.contextmanager
def serving(name: str, corpora: Corpora, has_private: bool, authorization: service.Service | service.Absent | None,
            flags: Iterable[object] = ()) -> Iterator[servers.Server]:
    """Starts the server of a world. `authorization` is the running service, or None."""
    index, repositories = corpora.build(name, has_private)
    spool = os.path.join(corpora.work, f"{name}-spool")
    rights = ["--auth-url", authorization.url, "--public", PUBLIC_GLOB] if authorization else []
    with servers.serve(tools.trawl(), index, spool, "--repos", repositories, *rights, *flags) as server:
        yield server


def check_rights(server: servers.Server) -> None:
    """Fails unless an administrator finds private text that the member does not find."""
    found = {}
    for user in ("admin", "member", None):
        with Caller(server.address, user) as caller:
            answer = json.loads(caller.ask("/api/v2/search?q=quokka+-checked").body)
            found[user] = answer.get("found", answer)
    if not found["admin"] or found["member"] or found[None]:
        raise tools.Failure(f"matches of a private word, by caller: {found}")

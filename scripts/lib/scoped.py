"""An authorization service whose callers say in their cookie what they see, and such callers.

For scripts that need many different scopes: nothing has to be agreed before.
"""

import contextlib
import http.cookies
import json
import typing
from collections.abc import Iterable

from .connection import Address, Connection
from .two_worlds import service

COOKIE = "sees"


class Caller(Connection):
    """A connection of a caller who sees the packages with these names, and what is public."""

    def __init__(self, address: Address, names: Iterable[str], timeout_s: float = 120) -> None:
        super().__init__(address, timeout_s, cookie=f"{COOKIE}={'|'.join(sorted(names))}")

    def search(self, **parameters: object) -> typing.Any:
        return self.json("/api/v2/search", **parameters)

    def page(self, search_id: str, **parameters: object) -> typing.Any:
        return self.json(f"/api/v2/search/{search_id}", **parameters)


class Handler(service.Handler):
    def caller(self) -> set[str]:
        found = http.cookies.SimpleCookie(self.headers.get("cookie", "")).get(COOKIE)
        return set(found.value.split("|")) if found else set()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        caller = self.caller()
        self.reply(200, json.dumps({"visible": [name for name in asked["repos"] if name in caller]}).encode())


def running() -> contextlib.AbstractContextManager[service.Service]:
    """A service that decides about many names at once (`--auth-batch`)."""
    return service.running(handler=Handler)

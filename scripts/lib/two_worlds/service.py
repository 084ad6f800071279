"""An authorization service: who may see which package.

Callers are told apart by the cookie `user`: `member` sees what a team may see, `admin` everything, others nothing
that is not public. `GET ?repo=NAME` is answered with 204, 403 or, for half of the denied names, 404; `POST` with a
list of names is answered with the visible ones.
"""

import contextlib
import http.server
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator


class Service(http.server.ThreadingHTTPServer):
    """A service that answers after a while, and counts what it was asked."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, delay_s: float = 0.0, handler: type[http.server.BaseHTTPRequestHandler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.delay_s, self.asked = delay_s, 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/allow"


class Absent:
    """A service that is down: nothing listens at its address."""
    url = "http://127.0.0.1:1/allow"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def do_GET(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        name = query.get("repo", [""])[0]
        time.sleep(self.server.delay_s)
        self.server.asked += 1
        if sees(self.caller(), name):
            self.reply(204)
        else:
            self.reply(404 if len(name) % 2 else 403)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(self.server.delay_s)
        self.server.asked += 1
        visible = [name for name in asked["repos"] if sees(self.caller(), name)]
        self.reply(200, json.dumps({"visible": visible}).encode())

    def caller(self) -> object:
        found = re.search(r"\buser=(\w+)", self.headers.get("cookie", ""))
        return found and found[1]

    def reply(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        if body:
            self.send_header("content-type", "application/json")
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def sees(caller: object, name: str) -> bool:
    if caller == "admin":
        return True
    return caller == "member" and name.startswith("team-")


@contextlib.contextmanager
def running(delay_s: float = 0.0, handler: type[http.server.BaseHTTPRequestHandler] | None = None) -> Iterator[Service]:
    service = Service(delay_s, handler)
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()

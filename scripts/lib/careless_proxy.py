"""A proxy before an object storage that drops conditions of requests, as a storage does that does not know them."""

import contextlib
import http.client
import http.server
import threading
import urllib.parse
from collections.abc import Iterator


@contextlib.contextmanager
def before(url: str, *dropped: str) -> Iterator[str]:
    """Starts a proxy before the storage at `url`, without these headers of requests. Returns its URL."""
    storage = urllib.parse.urlsplit(url).netloc

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            kept = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
            asked = http.client.HTTPConnection(storage, timeout=60)
            asked.request(self.command, self.path, body, kept)
            answer = asked.getresponse()
            text = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                    self.send_header(name, value)
            length = answer.getheader("content-length", "0") if self.command == "HEAD" else str(len(text))
            self.send_header("content-length", length)
            self.end_headers()
            self.wfile.write(text)
            asked.close()

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = forward

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()

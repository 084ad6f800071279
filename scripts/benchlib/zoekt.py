"""zoekt's server, when it is installed."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time

from .servers import connected, running


def quoted(mode, query):
    """A query in the syntax of RE2."""
    if mode == "regexp":
        return query
    return "".join("\\" + letter if letter in r"\.+*?()|[]{}^$" else letter for letter in query)


@contextlib.contextmanager
def zoekt_server(corpus, work):
    """The server of zoekt over the corpus, or None without zoekt."""
    path = os.environ["PATH"] + os.pathsep + os.path.expanduser("~/go/bin")
    indexer, webserver = (shutil.which(name, path=path)
                          for name in ("zoekt-index", "zoekt-webserver"))
    if not (indexer and webserver):
        print("without zoekt: zoekt-index and zoekt-webserver are not there")
        yield None
        return
    index = os.path.join(work, "zoekt")
    packages = sorted(entry.path for entry in os.scandir(corpus) if entry.is_dir())
    subprocess.run([indexer, "-index", index, "-disable_ctags", "-file_limit", str(1 << 30),
                    "-max_trigram_count", str(1 << 30), *packages],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    with running([webserver, "-index", index, "-rpc", "-listen", "%s:%d" % address]):
        yield Zoekt(connected(address))


class Zoekt:
    def __init__(self, connection):
        self.connection = connection

    def all(self, mode, text):
        """Seconds, and how many lines."""
        escaped = quoted(mode, text).replace("\\", "\\\\").replace('"', '\\"')
        most = 1 << 30
        body = json.dumps({"Q": f'case:yes content:"{escaped}"', "Opts": {
            "ShardMaxMatchCount": most, "TotalMaxMatchCount": most, "ShardRepoMaxMatchCount": most,
            "MaxDocDisplayCount": most, "MaxWallTime": 600 * 10**9}}).encode()
        started = time.perf_counter()
        answer = self.connection.post("/api/search", body)
        elapsed = time.perf_counter() - started
        files = json.loads(b"".join(answer))["Result"]["Files"] or []
        return elapsed, sum(len(file["LineMatches"]) for file in files)

"""`bench git --only search`: searches whose results carry commits, at a constant rate of arrival.

Two hundred small repositories are indexed. A request is sent when it is due, whether or not others have been
answered, and its time counts from then: a server that cannot keep up shows in the times. Every query is another
one, so that none is answered from the results of one before.

The rows "before" are the same searches by a client that asks another server for the commit of every result, one
after the other; that server runs `git log -1` for each.
"""

import itertools
import json
import os
import queue
import statistics
import threading
import time
import typing

from .. import servers, tools
from ..connection import Connection
from ..table import Goals, Wrong
from . import git_source as git

REPOSITORIES = 200
FILES = 10

# Every word is on this many lines of each repository.
LINES = 6
WORDS = 40

RATES = (1, 5, 50)
PAGES = (10, 1000)
SECONDS = 20

# For the results of all queries: removing older ones is not measured. So small an index has less by default.
SPOOL_BYTES = ("--spool-bytes", "4G")

# The client that resolves every result gives up a request after so long, and is measured for a shorter time.
BEFORE_TIMEOUT = 10
BEFORE_SECONDS = 10

# Requests that may wait for answers at once. If all do, times still count from when a request was due.
CLIENTS = 64


def measure(table: Goals, trawl: str, *_: object) -> None:
    with tools.workspace() as work:
        root, index = os.path.join(work, "repos"), os.path.join(work, "index")
        heads = make(root)
        tools.run([trawl, "index", "--index", index, "--git-dir-each", root])
        flags = ("--repos", root, *SPOOL_BYTES)
        spawning = [tools.testkit("--examples") / "examples/git_spawner", root]
        with servers.serve(trawl, index, os.path.join(work, "spool"), *flags) as server:
            search = Search(table, server, heads)
            for page in PAGES:
                with table.rows(f"{page:,} results with commits"):
                    search.measure(page)
            with servers.started(spawning) as spawner:
                for page in PAGES:
                    with table.rows(f"{page:,} results, before"):
                        search.measure_before(page, spawner)


def make(root: str) -> dict[str, str]:
    """Makes repositories of one commit, and returns its id by the name of the repository."""
    heads = {}
    for number in range(REPOSITORIES):
        name = f"r{number:03}"
        repository = os.path.join(root, f"{name}.git")
        os.makedirs(repository)
        git.run(repository, "init", "-q", "--bare", "--template=", "-b", "main")
        stream = [f"commit refs/heads/main\ncommitter a <a@b> {1_700_000_000 + number} +0000\ndata 3\none\n"]
        for file in range(FILES):
            text = "".join(f"int counter_{at % WORDS:02}_of_{name}_{at};\n"
                           for at in range(file, WORDS * LINES, FILES))
            stream.append(f"M 644 inline src/f{file}.c\ndata {len(text)}\n{text}\n")
        git.import_commits(repository, "".join(stream).encode())
        heads[name] = git.run(repository, "rev-parse", "main").decode().strip()
    return heads


class Search:
    """A server of all repositories, and clients that search at a rate."""

    def __init__(self, table: Goals, server: servers.Server, heads: dict[str, str]) -> None:
        self.table, self.server, self.heads = table, server, heads
        self.numbers = itertools.count()
        self.look_ups_before: float | None = None

    def query(self) -> str:
        """Returns a query that nobody has asked before; all have as many results."""
        number = next(self.numbers)
        return f"counter_{number % WORDS:02}_|absent_{number}_"

    def measure(self, page: int) -> None:
        self.check(page)
        what = f"{page:,} results with commits of {REPOSITORIES} repositories"
        before = self.look_ups()
        slowest: dict[int, float] = {}
        for rate in RATES:
            times, failed = self.load(rate, page)
            cuts = statistics.quantiles(times, n=20, method="inclusive")
            slowest[rate] = cuts[18]
            goal = 2 * slowest[RATES[0]] if rate == RATES[-1] else None
            self.table.row(f"{what}, {rate}/s: p50", 1e3 * cuts[9], "{:.1f} ms")
            self.table.row(f"{what}, {rate}/s: p95", 1e3 * cuts[18], "{:.1f} ms", at_most=goal and 1e3 * goal)
            self.table.row(f"{what}, {rate}/s: failures of {len(times):,}", len(failed), "{}", at_most=0,
                           note=failed[0] if failed else "")
        look_ups, requests = (after - earlier for after, earlier in zip(self.look_ups(), before))
        self.look_ups_of_page(what, look_ups / requests)

    def measure_before(self, page: int, spawner: servers.Server) -> None:
        what = f"before: {page:,} results, git log -1 for each"
        for rate in RATES:
            times, failed = self.load(rate, page, BEFORE_SECONDS, spawner)
            cuts = statistics.quantiles(times, n=20, method="inclusive")
            self.table.row(f"{what}, {rate}/s: p50", 1e3 * cuts[9], "{:,.1f} ms")
            self.table.row(f"{what}, {rate}/s: p95", 1e3 * cuts[18], "{:,.1f} ms")
            self.table.row(f"{what}, {rate}/s: failures of {len(times):,}", len(failed), "{}")

    def look_ups_of_page(self, what: str, a_query: float) -> None:
        """Prints the look-ups of a query: they must not depend on the number of results."""
        self.table.row(f"{what}: look-ups a query", a_query, "{:.3f}", at_most=self.look_ups_before)
        self.look_ups_before = a_query

    def look_ups(self) -> list[float]:
        """Returns the look-ups of all searches until now, and how many there were."""
        return [self.server.metric(f"trawl_frontend_query_lookups_{part}") for part in ("sum", "count")]

    def load(self, rate: int, page: int, seconds: int = SECONDS,
             spawner: servers.Server | None = None) -> tuple[list[float], list[str]]:
        """Sends requests at a rate. Returns the seconds from when each was due to its answer, and failures."""
        due: queue.SimpleQueue[tuple[float, str] | None] = queue.SimpleQueue()
        times: list[float] = []
        failed: list[str] = []
        arguments = (page, spawner, due, times, failed)
        clients = [threading.Thread(target=self.client, args=arguments) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        began = time.perf_counter()
        for number in range(rate * seconds):
            at = began + number / rate
            time.sleep(max(0, at - time.perf_counter()))
            due.put((at, self.query()))
        for _ in clients:
            due.put(None)
        for client in clients:
            client.join()
        return times, failed

    def client(self, page: int, spawner: servers.Server | None, due: queue.SimpleQueue[tuple[float, str] | None],
               times: list[float], failed: list[str]) -> None:
        while (request := due.get()) is not None:
            at, query = request
            try:
                problem = self.problem(query, page, spawner, at + BEFORE_TIMEOUT)
            except (OSError, tools.Failure) as error:
                problem = f"{query}: {error}"
            times.append(time.perf_counter() - at)
            failed += [problem] if problem else []

    def problem(self, query: str, page: int, spawner: servers.Server | None, until: float) -> str | None:
        """Sends a request over a connection of its own. Returns what is wrong with the answer, or None."""
        with Connection(self.server.address) as connection:
            body = connection.get("/api/v2/search", q=query, mode="regexp", per_page=page)
        if body.count(b'"commit":"') != page or b'"complete":true' not in body:
            return f"{query}: {body[:200]!r}"
        if spawner:
            return self.resolve(query, json.loads(body)["matches"], spawner, until)
        return None

    def resolve(self, query: str, matches: typing.Any, spawner: servers.Server, until: float) -> str | None:
        """Asks for the commit of every result. Returns what is wrong with an answer, or None."""
        with Connection(spawner.address) as connection:
            for match in matches:
                if time.perf_counter() > until:
                    return f"{query}: not answered within {BEFORE_TIMEOUT} s"
                commit = json.loads(connection.get("/api/v2/commit", repo=match["package"]))["id"]
                if commit != match["commit"]:
                    return f"{query}: {commit} is not {match['commit']}"
        return None

    def check(self, page: int) -> None:
        """Every result must carry the commit of its repository."""
        answer = self.server.search(q=self.query(), mode="regexp", per_page=page)
        if not answer["complete"] or answer["total"] != LINES * REPOSITORIES:
            raise Wrong(f"{answer['total']} of {LINES * REPOSITORIES} lines, missing: {answer['missing']}")
        carried = [(match["package"], match.get("commit")) for match in answer["matches"]]
        expected = [(package, self.heads[package]) for package, _ in carried]
        if len(carried) != page or carried != expected:
            raise Wrong(f"{carried[:3]} of {len(carried)} results are not {expected[:3]} of {page}")

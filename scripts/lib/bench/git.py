"""`bench git`: how fast commits are looked up, against a server that runs `git log -1` for each.

Both servers answer the same requests over bare clones of the same repositories, in turn, at 8 connections; their
answers must be equal. The forms of a revision are measured one by one, over one repository and over 200. Then each
of many commits is requested once from a server that has just started: every answer is read from a repository.
"""

import json
import os
import random
import statistics
import urllib.parse

from .. import servers, tools
from ..connection import Connection
from ..table import Goals, Wrong

CONNECTIONS = 8
SECONDS = 2
REPOSITORIES = 200
COLD_REQUESTS = 10_000

FORMS = {
    "default branch": lambda name, ids: "",
    "full id": lambda name, ids: ids[len(ids) // 2],
    "branch": lambda name, ids: "measured",
    "HEAD~25": lambda name, ids: "HEAD~25",
}


def main(sources, runs=3):
    tools.need("git", "cargo")
    trawl, programs = tools.trawl(), commit_bench()
    table = Goals()
    with tools.workspace() as work:
        root, ids = clones(sources or [tools.ROOT], os.path.join(work, "repos"))
        index = empty_index(trawl, work)
        serve = lambda: servers.serve(trawl, index, os.path.join(work, "spool"), "--repos", root)
        with serve() as server, servers.started([programs / "git_spawner", root]) as spawner:
            bench = Bench(table, programs, work, {"trawl": server, "spawning": spawner}, runs)
            for count in (1, len(ids)):
                names = list(ids)[:count]
                for form, revision in FORMS.items():
                    what = f"{form}, {count} {'repository' if count == 1 else 'repositories'}"
                    with table.rows(what):
                        bench.compare(what, [address(name, revision(name, ids[name])) for name in names])
        with serve() as server:
            bench = Bench(table, programs, work, {"trawl": server}, runs)
            bench.cold(ids)
    return table.finish()


def commit_bench():
    """Builds the server to compare with and the client, and returns their directory."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "commit_bench", "--bins"]
    tools.run(command, cwd=tools.ROOT, stderr=None)
    return tools.RELEASE


def clones(sources, root):
    """Makes bare clones of the repositories, 200 in all. Returns their directory, and their commits by name."""
    os.mkdir(root)
    ids = {}
    for number in range(REPOSITORIES):
        source, name = sources[number % len(sources)], f"r{number:03}"
        clone = os.path.join(root, f"{name}.git")
        tools.run(["git", "clone", "-q", "--bare", "--local", source, clone])
        tools.run(["git", "-C", clone, "branch", "-f", "measured", "HEAD"])
        listed = tools.run(["git", "-C", clone, "rev-list", "HEAD"], text=True).stdout.split()
        if len(listed) < 26:
            raise tools.Failure(f"{source} has {len(listed)} commits; HEAD~25 needs 26")
        ids[name] = listed
    return root, ids


def empty_index(trawl, work):
    """Builds an index of one small file, since a server needs one."""
    source, index = os.path.join(work, "source"), os.path.join(work, "index")
    os.mkdir(source)
    with open(os.path.join(source, "a.c"), "w") as file:
        file.write("int a;\n")
    return tools.build_index(trawl, index, [source])


def address(name, revision):
    query = {"repo": name, "rev": revision} if revision else {"repo": name}
    return "/api/v2/commit?" + urllib.parse.urlencode(query)


class Bench:
    """Servers, by name, that answer the same requests."""

    def __init__(self, table, programs, work, started, runs):
        self.table, self.load, self.runs = table, programs / "http_load", runs
        self.started, self.file = started, os.path.join(work, "paths")

    def compare(self, what, paths):
        self.check(paths)
        rates, times = self.measure(paths)
        rate = {name: statistics.median(each) for name, each in rates.items()}
        self.table.row(f"{what}: trawl", rate["trawl"], "{:,.0f}/s")
        self.table.row(f"{what}: git log -1", rate["spawning"], "{:,.0f}/s")
        self.table.row(f"{what}: times as many", rate["trawl"] / rate["spawning"], "{:.1f}", at_least=20)
        self.table.row(f"{what}: p99 of trawl", statistics.median(times["trawl"]), "{:,.2f} ms")

    def cold(self, ids):
        """Requests commits once each, in any order."""
        chosen = random.Random(1)
        pairs = [(name, commit) for name, commits in ids.items() for commit in commits]
        pairs = chosen.sample(pairs, min(COLD_REQUESTS, len(pairs)))
        what = f"{len(pairs):,} commits of {len(ids)} repositories, each once"
        with self.table.rows(what):
            rate, p99 = self.request("trawl", [address(*pair) for pair in pairs], 0)
            self.table.row(f"{what}: trawl", rate, "{:,.0f}/s")
            self.table.row(f"{what}: p99", p99, "{:,.2f} ms")

    def measure(self, paths):
        """Returns requests a second and p99 in milliseconds of each server, run by run."""
        rates = {name: [] for name in self.started}
        times = {name: [] for name in self.started}
        for turn in range(self.runs):
            order = list(self.started)
            for name in order if turn % 2 == 0 else reversed(order):
                rate, p99 = self.request(name, paths, SECONDS)
                rates[name].append(rate)
                times[name].append(p99)
        return rates, times

    def request(self, name, paths, seconds):
        with open(self.file, "w") as file:
            file.writelines(f"{path}\n" for path in paths)
        command = [self.load, self.started[name], CONNECTIONS, seconds, self.file]
        words = tools.run(command, text=True).stdout.split()
        requests, elapsed, _, p99, failed = (float(word) for word in words)
        if failed:
            raise Wrong(f"{failed:.0f} of {requests:.0f} requests failed")
        return requests / elapsed, p99 / 1e3

    def check(self, paths):
        """Compares the answers of all servers."""
        for path in paths:
            answers = []
            for server in self.started.values():
                with Connection(server.address) as connection:
                    answers.append(json.loads(connection.get(path)))
            if any(answer != answers[0] for answer in answers):
                raise Wrong(f"{path}: {answers[0]} is not {answers[1]}")

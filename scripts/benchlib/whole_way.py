"""The figures for the whole way: an index of a corpus, `trawl serve`, and HTTP.

A query is made to be another one, with the same plan and the same matches, by groups around its
pattern: no answer comes from the spool.
"""

import os
import random
import re
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.parse

from .servers import TRAWL, Connection, drain, examples, real_backend, serve
from .table import Wrong
from .zoekt import zoekt_server

QUERIES = ["arse", "return"]

# What a page has.
CONTEXT = 2

# Words for small answers: more than are asked for in ten seconds, so that none is asked for twice.
WORDS = 200_000
LINES_MAX = 10
STARTED = "trawl_frontend_queries_started_total"
LOAD = ["-t", "2", "-c", "8", "-d", "10s", "--latency"]

# Each thread takes every second word, and begins anew after the last.
WRK_SCRIPT = """
local threads = 0
function setup(thread) thread:set("id", threads); threads = threads + 1 end
function init(args)
  words, at = {}, id
  for word in io.lines(args[1]) do words[#words + 1] = word end
end
function request()
  at = (at + 2) % #words
  return wrk.format("GET", "/api/v2/search?q=" .. words[at + 1])
end
"""


def measure(table, corpus, work, runs):
    index = os.path.join(work, "index")
    subprocess.run([TRAWL, "index", "--each", "--no-ignore", "--out", index, corpus], check=True,
                   stderr=subprocess.DEVNULL)
    examples()
    with (zoekt_server(corpus, work) as zoekt, real_backend(index) as backend,
          tempfile.TemporaryDirectory(dir=work) as spool, serve(index, spool) as server):
        for query in QUERIES:
            with table.rows(query):
                last_match(table, query, backend, server, runs)
                first_match(table, query, server, runs)
                peers(table, query, corpus, zoekt, runs)
    small_answers(table, corpus, index, work)


def disguised(query, depth):
    return "(?:" * depth + query + ")" * depth


def last_match(table, query, backend, server, runs):
    alone, streamed, answered, counts = [], [], [], set()
    for depth in range(runs + 1):
        pattern = disguised(query, depth)
        _, all_ms, _, matches = drain(backend, "regexp", pattern, CONTEXT)
        started = time.perf_counter()
        answer = server.search(q=pattern, mode="regexp", context=CONTEXT)
        wall_ms = 1e3 * (time.perf_counter() - started)
        if not answer["complete"]:
            raise Wrong(f"incomplete: {answer['missing']}")
        counts |= {matches, answer["total"]}
        if depth > 0:
            alone.append(all_ms)
            streamed.append(answer["timings"]["stream_ms"])
            answered.append(wall_ms)
    if len(counts) != 1:
        raise Wrong(f"counts differ: {counts}")
    alone, streamed, answered = map(statistics.median, (alone, streamed, answered))
    table.row(f"{query}: the backend alone, to END", "",
              f"{alone:.1f} ms, {counts.pop():,.0f} lines")
    table.row(f"{query}: last match through serve", "<= 1.5 x",
              f"{streamed / alone:.2f} x ({streamed:.1f} ms)", streamed <= 1.5 * alone)
    table.row(f"{query}: whole answer with its first page", "",
              f"{answered / alone:.2f} x ({answered:.1f} ms)")


def first_match(table, query, server, runs):
    """From the request to the first match in the stream of events."""
    times, how = [], ""
    for turn in range(runs + 1):
        # Other patterns than those that were searched for whole.
        pattern = disguised(query, 20 + turn)
        elapsed, how = first_event(server.address, pattern)
        if turn > 0:
            times.append(1e3 * elapsed)
    median = statistics.median(times)
    table.row(f"{query}: first match as an event ({how})", "<= 20 ms", f"{median:.1f} ms",
              median <= 20)


def first_event(address, pattern):
    """Seconds to the first event with matches, in one request, or in two where need be."""
    parameters = urllib.parse.urlencode({"q": pattern, "mode": "regexp"})
    started = time.perf_counter()
    if until_matches(address, f"/api/v2/events?{parameters}"):
        return time.perf_counter() - started, "one request"
    started = time.perf_counter()
    head = Connection(address).get("/api/v2/search", q=pattern, mode="regexp", wait="false")
    search = re.search(rb'"id":"(\w+)"', head)[1].decode()
    if not until_matches(address, f"/api/v2/search/{search}/events"):
        raise Wrong("no event with matches")
    return time.perf_counter() - started, "two requests"


def until_matches(address, path):
    """Whether there was an event with a match; false when there are no events."""
    with socket.create_connection(address, timeout=10) as stream:
        stream.sendall(f"GET {path} HTTP/1.1\r\nHost: trawl\r\n\r\n".encode())
        received = b""
        while not re.search(rb"event: ?matches\r?\n.*\"text\"", received):
            piece = stream.recv(1 << 20)
            received += piece
            if not piece or not received.startswith(b"HTTP/1.1 200") or b"event: done" in received:
                return False
        return True


def peers(table, query, corpus, zoekt, runs):
    command = ["rg", "--no-config", "-a", "--crlf", "--no-ignore", "--hidden", "-n", "-g", "!.git",
               "-F", "-e", query, corpus]
    times = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - started)
    table.row(f"{query}: ripgrep, the whole process", "",
              f"{1e3 * statistics.median(times[1:]):.0f} ms")
    if zoekt:
        times = [zoekt.all("literal", query)[0] for _ in range(runs + 1)]
        table.row(f"{query}: zoekt, all matches", "",
                  f"{1e3 * statistics.median(times[1:]):.0f} ms")


def rare_words(corpus):
    """Identifiers that occur at most ten times in a corpus, in an order that says nothing."""
    find = ["rg", "--no-config", "--no-ignore", "--hidden", "-g", "!.git", "-oNI",
            r"\b[A-Za-z_][A-Za-z0-9_]{7,30}\b", corpus]
    count = f"{{n[$0]++}} END {{for (word in n) if (n[word] <= {LINES_MAX}) print word}}"
    found = subprocess.Popen(find, stdout=subprocess.PIPE)
    done = subprocess.run(["awk", count], stdin=found.stdout, check=True, stdout=subprocess.PIPE,
                          text=True, env=dict(os.environ, LC_ALL="C"))
    found.stdout.close()
    found.wait()
    words = sorted(done.stdout.split())
    random.Random(1).shuffle(words)
    return words[:WORDS]


def small_answers(table, corpus, index, work):
    what = "distinct rare identifiers, 8 connections"
    words = rare_words(corpus)
    path = os.path.join(work, "words")
    with open(path, "w") as file:
        file.write("\n".join(words) + "\n")
    with (tempfile.TemporaryDirectory(dir=work) as spool, serve(index, spool) as server,
          table.rows(what)):
        for word in words[-10:]:
            check_small(server, corpus, word)
        cpu_s, before = server.cpu_s(), server.metric(STARTED)
        rate, p50, p99 = load(server, path, work)
        cpu_s, started = server.cpu_s() - cpu_s, server.metric(STARTED) - before
        table.row(what, ">= 6,400/s", f"{rate:,.0f}/s", rate >= 6400)
        table.row(what, "p99 < 8.2 ms", f"p50 {p50:.2f} ms, p99 {p99:.2f} ms", p99 < 8.2)
        table.row(f"{what}: processors, each", "", f"{1e6 * cpu_s / started:.0f} us")
        if started < min(9 * rate, len(words)):
            raise Wrong(f"only {started:,.0f} of them were searched")


def check_small(server, corpus, word):
    """Whether a small answer has as many lines as ripgrep finds in files that are not binary."""
    command = ["rg", "--no-config", "--crlf", "--no-ignore", "--hidden", "-g", "!.git", "-NI",
               "-F", "-e", word, corpus]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    expected = sum(b"binary file matches" not in line for line in done.stdout.splitlines())
    answer = server.search(q=word)
    if not answer["complete"] or answer["total"] != expected:
        raise Wrong(f"{word}: {answer['total']} lines, ripgrep finds {expected}")


def load(server, words, work):
    """Requests a second, and milliseconds at p50 and p99."""
    script = os.path.join(work, "words.lua")
    with open(script, "w") as file:
        file.write(WRK_SCRIPT)
    command = ["wrk", *LOAD, "-s", script, "http://%s:%d" % server.address, "--", words]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    if bad := re.search(r"Non-2xx.*|Socket errors.*", out):
        raise Wrong(bad[0])
    return float(re.search(r"Requests/sec: +(\S+)", out)[1]), *(
        milliseconds(re.search(rf" {percent}% +(\S+)", out)[1]) for percent in (50, 99))


def milliseconds(text):
    number, unit = re.match(r"([\d.]+)(\w+)", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]

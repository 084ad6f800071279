"""Makes up requests to the interfaces of other products."""

import json
import random
import urllib.parse

from .requests import WORDS, Request, maybe, package, path, target

JSON = (("content-type", "application/json"),)
FILE = """query F($repo: String!, $path: String!) { repository(name: $repo) { name url commit(rev: "HEAD") {
oid file(path: $path) { path content } tree(path: "") { entries { name path isDirectory } } } } }"""
SEARCH = """query S($query: String!) { search(query: $query, version: V3) { results { matchCount limitHit results {
__typename ... on FileMatch { repository { name } file { path } lineMatches { preview lineNumber } } } } } }"""
REPOSITORIES = "query R($query: String) { repositories(first: 50, query: $query) { nodes { name } } }"


def zoekt(rng: random.Random) -> Request:
    word, name = rng.choice(WORDS), package(rng)
    filters = rng.choice(("", "", f" r:{name}", f" -r:{name}", " f:src/", f" (f:{name} or case:yes)", " branch:main",
                          " type:repo", " type:file", " lang:c"))
    query = rng.choice(("", "", "sym:", "content:", "f:")) + word + filters
    options = {"ChunkMatches": rng.random() < 0.5, "NumContextLines": rng.choice((0, 1, 3)),
               "MaxDocDisplayCount": rng.choice((0, 1, 50)), "MaxMatchDisplayCount": rng.choice((0, 2)),
               "Whole": rng.random() < 0.2}
    posted = {"/api/search": {"Q": query, "Opts": options}, "/api/list": {"Q": rng.choice(("", f"r:{name}", query))}}
    if rng.random() < 0.7:
        address, body = rng.choice(list(posted.items()))
        return Request("zoekt", address, "POST", JSON, json.dumps(body))
    return Request("zoekt", rng.choice((
        target("/search", q=query, num="20", format="json"),
        target("/print", r=name, f=path(rng), format=maybe(rng, 0.7, "raw")))))


def sourcegraph(rng: random.Random) -> Request:
    word, name = rng.choice(WORDS), package(rng)
    query = word + rng.choice(("", "", f" repo:{name}", f" -repo:^{name}$", " file:src/", " type:symbol",
                               " select:repo", " rev:main", f" repo:{name}@dev", " count:all", " case:yes"))
    if rng.random() < 0.5:
        address = target("/.api/search/stream", q=query, v="V3", cm=maybe(rng, 0.7, "t"),
                         display=maybe(rng, 0.5, "3"), t=maybe(rng, 0.3, rng.choice(("literal", "regexp"))))
        return Request("sourcegraph", address)
    asked, variables = rng.choice(((SEARCH, {"query": query}), (FILE, {"repo": name, "path": path(rng)}),
                                   (REPOSITORIES, {"query": rng.choice(("", name[:4], "vault"))})))
    return Request("sourcegraph", "/.api/graphql", "POST", JSON, json.dumps({"query": asked, "variables": variables}))


def github(rng: random.Random) -> Request:
    word, name = rng.choice(WORDS), package(rng)
    quoted, where = urllib.parse.quote(f"{rng.choice(('pkg', 'nobody'))}/{name}"), urllib.parse.quote(path(rng))
    query = word + rng.choice(("", "", f" repo:pkg/{name}", f" NOT repo:{name}", " path:src/*.c", " language:c",
                               f" OR {rng.choice(WORDS)}", " in:file", " filename:a.c"))
    headers = (("accept", "application/vnd.github.text-match+json"),)
    return Request("github", rng.choice((
        target("/api/v3/search/code", q=query, per_page=maybe(rng, 0.5, "2"), page=maybe(rng, 0.2, "2")),
        f"/api/v3/repos/{quoted}/contents/{where}", f"/api/v3/repos/{quoted}", f"/api/v3/repos/{quoted}/commits",
        f"/api/v3/repos/{quoted}/git/trees/HEAD?recursive=1")), headers=headers)


KINDS = {zoekt: 12, sourcegraph: 12, github: 12}

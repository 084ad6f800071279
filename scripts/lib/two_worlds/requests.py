"""Makes up requests of every kind, from a seed.

A request may use values that an earlier answer of the same world had: `{id}`, `{cursor}`, `{generation}` and `{tag}` of
the last search, and the same of another caller's search, `{foreign_id}` and so on.
"""

import json
import random
import typing
import urllib.parse
from collections.abc import Callable, Iterator

from . import corpora

Value = typing.TypeVar("Value")

WORDS = corpora.PUBLIC_WORDS + corpora.PRIVATE_WORDS
NEAR = ("aaa-vaul", "pub-alpa", "vault", "secret-ep", "pub.alph", "pubhist", "vaultrepo", "nothing-near", "zzz",
        "pab-bet")
PLACES = ("sym:", "sym:=", "uses:", "in:code ", "in:comment ", "in:string ", "kind:variable sym:=")
REVISIONS = ("main", "main", "main", "dev", "dev", "v1.0", "v1.0", "HEAD", "HEAD", "HEAD~1", "mian", "v9", "0123456789",
             "a..b", "refs/heads/main")


class Request(typing.NamedTuple):
    """A request. Its path, headers and body may have placeholders in braces."""
    kind: str
    path: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None


Make = Callable[[random.Random], Request]


def requests(rng: random.Random, count: int, others: dict[Make, int]) -> Iterator[Request]:
    """Yields requests of all kinds, and of `others` by weight, searches first so that later ones have something to
    refer to."""
    kinds = [kind for kind, weight in (KINDS | others).items() for _ in range(weight)]
    yield search(rng)
    for _ in range(count - 1):
        yield rng.choice(kinds)(rng)


def target(path: str, /, **parameters: object) -> str:
    pairs = [(name, value) for name, values in parameters.items()
             for value in (values if isinstance(values, list) else [values]) if value is not None]
    return path + ("?" + urllib.parse.urlencode(pairs, safe="{}") if pairs else "")


def maybe(rng: random.Random, chance: float, value: Value) -> Value | None:
    return value if rng.random() < chance else None


def query(rng: random.Random) -> str:
    """Returns the text of a query."""
    words = rng.choices(WORDS, k=rng.choice((1, 1, 1, 2, 3)))
    made = rng.choice((
        " ".join(words), " ".join(words), f"({' or '.join(words)})", f"{words[0]} -{words[-1]}",
        f"/{words[0][:3]}\\w*{words[0][-1]}/", f"/{words[0]}.*\\n.*{words[-1]}/", f"type:path {words[0]}",
        f'"{words[0]};"', f"{rng.choice(PLACES)}{words[0]}", f"{rng.choice(PLACES)}{words[0]} {words[-1]}",
        f"kind:function {words[0]}", f"type:symbol {words[0]}"))
    if rng.random() < 0.5:
        name = package(rng)
        made += " " + rng.choice((
            f"package:{name}", f"-package:{name}", "package:^pub", "package:vault", "path:src/", "path:^src/",
            "kind:source", "-kind:tests", "lang:c", "lang:klingon", "rev:*", "rev:main", "branch:dev", "rev:v1.0",
            "path:-only", f"path:{name}-only.c"))
    return made


def parameters(rng: random.Random) -> dict[str, object]:
    """Returns the parameters of a search."""
    limit = maybe(rng, 0.2, rng.choice(("1", "5", "1000")))
    return {
        "q": query(rng),
        "mode": maybe(rng, 0.1, rng.choice(("literal", "regexp", "wrong"))),
        "case": maybe(rng, 0.2, rng.choice(("yes", "no"))),
        "package": maybe(rng, 0.1, [rng.choice(("^pub", "-^aaa", "=aaa-vault", "*vault*", "=pub-beta"))]),
        "context": maybe(rng, 0.2, rng.choice(("0", "1", "4"))),
        "want": maybe(rng, 0.2, rng.choice(("documents", "count"))),
        "limit": limit,
        "total": limit and maybe(rng, 0.5, "estimate"),
    }


def view(rng: random.Random) -> dict[str, object]:
    return {
        "per_page": maybe(rng, 0.5, rng.choice(("1", "3", "50", "1000"))),
        "page": maybe(rng, 0.2, rng.choice(("0", "1", "7"))),
        "group": maybe(rng, 0.2, rng.choice(("package", "document"))),
        "copies": maybe(rng, 0.3, "folded"),
        "explain": maybe(rng, 0.4, "true"),
    }


def package(rng: random.Random) -> str:
    """Returns a name of a package: with or without a version, visible or not, known or not."""
    name = rng.choice((corpora.names() + corpora.PUBLIC + corpora.TEAM) * 3 + NEAR)
    if name in corpora.REPOSITORIES:
        return name
    return name + rng.choice(("", "_1.0", "_1.0", "_1.0", "_1.0", "_2.0-1", "_9"))


def path(rng: random.Random) -> str:
    name = rng.choice(corpora.PRIVATE + corpora.PUBLIC)
    return rng.choice(corpora.PATHS * 3 + ("skipped.bin", "image.png", "link.c", "none.c", "src", "src/",
                                           f"{name}-only.c"))


def search(rng: random.Random) -> Request:
    wanted = parameters(rng) | view(rng)
    if wanted["group"]:
        wanted["copies"] = None
    return Request("search", target("/api/v2/search", **wanted))


def search_page(rng: random.Random) -> Request:
    wanted = parameters(rng) | {name: value for name, value in view(rng).items() if name in ("page", "group")}
    return Request("page", target(rng.choice(("/search", "/search", "/search/events", "/search/facets")), **wanted))


def completion(rng: random.Random) -> Request:
    typed = rng.choice(("package:", "package:=", "path:", "lang:", "p"))
    rest = rng.choice(("", "aaa", "pub", "vault", "src", "only")) if typed != "p" else ""
    return Request("completion", target("/api/v2/complete", q=f"x {typed}{rest}"))


def posted(rng: random.Random) -> Request:
    body = {name: value for name, value in parameters(rng).items() if value is not None}
    return Request("posted search", "/api/v2/search", "POST", (("content-type", "application/json"),), json.dumps(body))


def part_of_search(rng: random.Random) -> Request:
    kind = rng.choice(("facets", "packages", "explain", "export", "events", "copies"))
    wanted = parameters(rng)
    extra = {"export": {"format": rng.choice(("jsonl", "csv", "paths", "text"))},
             "copies": {"position": rng.choice("012")}}
    return Request(kind, target(f"/api/v2/{kind}", **wanted, **extra.get(kind, {})))


def by_id(rng: random.Random) -> Request:
    """Asks for a search by id: an own one, one of another caller, or one that never was."""
    known = rng.choice(("{id}", "{id}", "{foreign_id}", "{foreign_id}", "0" * 32, "nonsense"))
    rest = rng.choice(("", "?page=1&per_page=1", "/facets", "/packages", "/events", "/export?format=text",
                       "/copies?position=0"))
    method = rng.choice(("GET", "GET", "GET", "DELETE")) if known != "{id}" and rest == "" else "GET"
    return Request("by id", f"/api/v2/search/{known}{rest}", method)


def by_cursor(rng: random.Random) -> Request:
    cursor = rng.choice(("{cursor}", "{cursor}", "{foreign_cursor}", "{foreign_cursor}", "nonsense"))
    return Request("by cursor", target("/api/v2/search", cursor=cursor, per_page=maybe(rng, 0.5, "2")))


def of_generation(rng: random.Random) -> Request:
    known = rng.choice(("{generation}", "{foreign_generation}", "0123456789abcdef"))
    return Request("of a generation", target("/api/v2/search", q=rng.choice(WORDS), generation=known))


def conditional(rng: random.Random) -> Request:
    tag = rng.choice(("{tag}", "{foreign_tag}", "{foreign_tag}", '"0123456789abcdef"', "*"))
    return Request("conditional", rng.choice(("{tagged}", "{foreign_tagged}")), headers=(("if-none-match", tag),))


def file(rng: random.Random) -> Request:
    name = package(rng)
    revision = maybe(rng, 0.7 if name in corpora.REPOSITORIES else 0.1, rng.choice(REVISIONS))
    wanted = {"package": name, "path": path(rng), "rev": revision}
    address = rng.choice(("/api/v2/file", "/api/v2/symbols", "/api/v2/definitions", "/api/v2/references", "/show"))
    if address in ("/api/v2/definitions", "/api/v2/references"):
        wanted |= {"name": rng.choice(WORDS)}
    if address == "/show":
        wanted |= {"line": maybe(rng, 0.3, "2"), "q": maybe(rng, 0.3, query(rng)), "blame": maybe(rng, 0.3, "yes")}
    return Request("file", target(address, **wanted))


def directory(rng: random.Random) -> Request:
    quote = urllib.parse.quote
    address = rng.choice((f"/p/{quote(package(rng))}/",
                          f"/p/{quote(package(rng))}/{rng.choice(('src/', 'deep/', 'none/', 'a.c'))}",
                          f"/packages?prefix={quote(package(rng)[:4])}", "/skipped",
                          f"/skipped?package={quote(package(rng))}"))
    return Request("directory", address)


def raw(rng: random.Random) -> Request:
    quote = urllib.parse.quote
    package_name = package(rng)
    name, where = quote(package_name, safe=""), quote(path(rng))
    if rng.random() < (0.3 if package_name in corpora.REPOSITORIES else 0.8):
        address = f"/raw/p/{name}/{where}"
    else:
        address = f"/raw/g/{name}/{quote(rng.choice(REVISIONS), safe='')}/{where}"
    value = rng.choice(("bytes=0-3", "bytes=0-1,4-5", "bytes=9999999-", "bytes=5-1"))
    headers = (("range", value),) if rng.random() < 0.3 else ()
    return Request("raw", address, rng.choice(("GET", "GET", "GET", "HEAD")), headers)


def listing(rng: random.Random) -> Request:
    name, prefix = package(rng), rng.choice(("", "a", "pub", "z", "secret", "vault"))
    after = rng.choice(("", "pub-alpha_1.0", "aaa", "secret-eps_1.0"))
    return Request("list", rng.choice((
        target("/api/v2/index/packages", prefix=prefix, after=maybe(rng, 0.3, after),
               count=maybe(rng, 0.3, rng.choice(("1", "3")))),
        target("/api/v2/tree", package=name, path=maybe(rng, 0.6, rng.choice(("src", "deep", "none", "")))),
        target("/api/v2/skipped", package=maybe(rng, 0.7, name), count=maybe(rng, 0.3, "2")),
        target("/api/v2/skipped", package=name, path=path(rng)),
        "/api/v2/skipped", "/api/v2/status", "/api/v2/limits", "/readyz", "/")))


def commits(rng: random.Random) -> Request:
    names = tuple(corpora.REPOSITORIES) * 5 + NEAR + ("pub-hist.git", "../vault-repo", "")
    repo, rev = rng.choice(names), rng.choice(REVISIONS)
    if rng.random() < 0.2:
        pairs = [{"repo": rng.choice(names), "rev": rng.choice(REVISIONS)} for _ in range(rng.randint(1, 6))]
        body = json.dumps({"revisions": pairs})
        return Request("commits", "/api/v2/commits", "POST", (("content-type", "application/json"),), body)
    return Request("commits", rng.choice((
        target("/api/v2/commit", repo=repo, rev=rev),
        target("/api/v2/log", repo=repo, rev=maybe(rng, 0.7, rev), path=maybe(rng, 0.4, path(rng)),
               count=maybe(rng, 0.3, "1")),
        target("/api/v2/blame", repo=repo, rev=maybe(rng, 0.7, rev), path=path(rng)),
        target("/api/v2/changes", repo=repo, rev=maybe(rng, 0.7, rev), count=maybe(rng, 0.3, "1")),
        target("/commit", repo=repo, rev=maybe(rng, 0.7, rev)),
        target("/log", repo=repo, rev=maybe(rng, 0.7, rev), path=maybe(rng, 0.5, path(rng))),
        target("/api/v2/refs", repo=repo, count=maybe(rng, 0.3, "1")))))


def error(rng: random.Random) -> Request:
    return Request("error", rng.choice((
        "/api/v2/search", "/api/v2/search?q=(", "/api/v2/search?q=x&qq=1", "/api/v2/nothing", "/nothing",
        "/show?package=x",
        "/api/v2/search?q=%2F%5B%2F", "/problems/not-found", "/api/v2/file?package=aaa-vault", "/raw/p/aaa-vault_1.0",
        "/raw/g/vault-repo/main", "/api/v2/search?q=x&timeout=never", "/api/v2/commit", "/api/v2/search?cursor=",
        target("/api/v2/search", q=f"{rng.choice(WORDS)} package:{rng.choice(NEAR)}", page="99"))))


def debian(rng: random.Random) -> Request:
    word, name = rng.choice(WORDS), package(rng)
    return Request("debian", rng.choice((
        target("/api/v1/search", query=word), target("/api/v1/search", query=f"{word} package:{name}"),
        target("/api/v1/searchperpackage", query=word))))


KINDS = {search: 14, search_page: 8, completion: 3, posted: 4, part_of_search: 18, by_id: 8, by_cursor: 5,
         of_generation: 2, conditional: 5, file: 10, raw: 10, listing: 12, directory: 8, commits: 10, error: 4,
         debian: 3}

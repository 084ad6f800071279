//! Typical requests of users and programs.

use super::names::{encode, join};

/// An input per paragraph, a request per line: method, route, and parts, separated by ` & `.
const REQUESTS: &str = r#"
GET /api/v2/search & q=needle -import path:*.c & context=2 & explain=true

GET /api/v2/search & q=(main|needle).*\n & mode=regexp & case=no & lang=c & lang=python & package==alpha

GET /api/v2/search & q=needle(1) & mode=literal & word=yes & want=documents & limit=3 & timeout=500ms

POST /api/v2/search & q=needle & path=-^src/ & per_page=3

POST /api/v2/search & body={"q": "x or needle", "wait": false, "lang": ["C", "-go"]}

HEAD /api/v2/search & ?=q=needle+%22x%22&page=0

GET /api/v2/explain & q=(needle or /a.*b/) lang:c word:no

GET /api/v2/facets & q=needle path:^src/ & kind=-tests & accept-encoding=gzip

GET /api/v2/packages & q=needle & format=text

GET /api/v2/events & q=needle & limit=5

GET /api/v2/export & q=needle & format=paths & null=true

GET /api/v2/export & q=needle & format=csv

GET /search & q=<script>alert(1)</script> & mode=literal

GET /search & q="<script>alert(" needle & group=package

GET /search/facets & q=needle & lang=c

GET /api/v2/complete & q=needle package:al & at=17

GET /search & q=needle & group=document & page=1 & per_page=2 & per_document=3

GET /search/events & q=needle & group=none

GET /search & q=needle & package==delta_4 & path==many.c & from=9

GET /show & package=delta_4 & path=many.c & line=150 & first=20

GET /show & package=alpha_1.0-1 & path=web/<script>alert(2)<.html

GET /show & package=delta_4 & path=many.c & line=150-20 & q=needle & mode=literal

GET /show & package=delta & path=many.c & hash=0000000000000000000000000000000000000000000000000000000000000000

GET /show & package=delta_4 & path=many.c & blame=yes

GET /packages & prefix=al

GET /skipped

GET /skipped & package=alpha_1.0-1

GET /p/{} & {}=alpha_1.0-1/

GET /p/{} & {}=alpha_1.0-1/web/

GET /

GET /status

GET /help

GET /api

GET /problems/{} & {}=bad-query

GET /assets/{}/{} & {}=0 & {}=main.js

GET /metrics

GET /api/v2/search & q=needle & per_page=7
GET /api/v2/search & cursor=NEXT & per_page=7

GET /api/v2/search & q=needle & per_page=7
GET /api/v2/search & q=main & generation=GENERATION

GET /api/v2/search & q=needle & per_page=7
GET /api/v2/search/{} & {}=ID & group=package & per_package=2

GET /api/v2/search & q=needle & per_page=7
GET /api/v2/search/{}/facets & {}=ID

GET /api/v2/search & q=needle & per_page=7
GET /api/v2/search/{}/packages & {}=ID

GET /api/v2/search & q=needle & per_page=7 & copies=folded
GET /api/v2/search/{}/copies & {}=ID & position=0 & per_page=2

GET /api/v2/copies & q=needle & position=1

GET /api/v2/search & q=needle & per_page=7
GET /api/v2/search/{}/export & format=text

GET /api/v2/search & q=needle & per_page=7
GET /api/v2/search/{}/events

GET /api/v2/search & q=needle & per_page=7
GET /search & q=needle & run=ID

GET /api/v2/search & q=needle & per_page=7
DELETE /api/v2/search/{}

GET /api/v2/file & package=alpha_1.0-1 & path=src/main.c & offset=4 & count=9
GET /api/v2/outline & package=alpha_1.0-1 & path=src/main.c

GET /api/v2/definitions & package=alpha_1.0-1 & path=src/main.c & line=1 & column=5
GET /api/v2/references & package=alpha_1.0-1 & path=src/main.c & name=main & limit=2

GET /raw/p/{} & {}=alpha_1.0-1/src/main.c

GET /raw/p/{} & {}=delta_4/many.c & range=bytes=1-2,9-,-3 & if-range=x

HEAD /raw/p/{} & {}=beta_3/README & if-match=* & range=bytes=0-0

GET /api/v2/index/packages & prefix=a & count=1
GET /api/v2/index/packages & prefix=a & after=NEXT

GET /api/v2/tree & package=alpha & path=src

GET /api/v2/skipped & package=alpha_1.0-1 & path=x.bin

GET /api/v2/skipped & package=alpha_1.0 & path=src/mian.c

GET /api/v2/skipped & count=2

GET /api/v2/status

GET /api/v1/search & query=needle package:alpha -path:x & match_mode=regexp & origin=http://a.example

GET /api/v1/searchperpackage & query=needle package:alpha -path:x & match_mode=literal

OPTIONS /api/v1/search & x-dcs-apikey=key

POST /api/search & body={"Q": "needle f:src", "Opts": {"ChunkMatches": true, "NumContextLines": 2, "Whole": true}}

POST /api/search & body={"q": "needle type:file", "opts": {"MaxMatchDisplayCount": 2, "ShardRepoMaxMatchCount": 1}}

POST /api/list & body={"Q": "r:alpha or needle", "Opts": {"Field": 2}}

GET /print & r=alpha_1.0-1 & f=src/main.c & format=raw

GET /search & q=needle r:a & num=7 & ctx=1 & format=json

GET /search & q=needle path:a & literal=1 & perpkg=1

GET /show & file=alpha_1.0-1/src/main.c & line=2

GET /results/{}/{} & {}=needle & {}=page_1

GET /perpackage-results/{}/2/{} & {}=i3.*x & {}=page_0

GET /openapi.json

GET /api/v3/search/code & q=needle repo:pkg/alpha NOT path:*.h & per_page=2 & page=2

GET /repos/{}/{}/contents/{} & {}=pkg & {}=alpha & {}=src/main.c & ref=HEAD & accept=application/vnd.github.raw

GET /repos/{}/{}/git/trees/{} & {}=pkg & {}=delta & {}=HEAD & recursive=1

GET /repos/{}/{}/git/ref/{} & {}=pkg & {}=delta & {}=heads/main

GET /{}/{}/blob/main/{} & {}=pkg & {}=delta & {}=many.c

POST /api/graphql & body={"query": "{viewer{login}}"}

GET /.api/search/stream & q=needle repo:alpha OR /a.*b/ & t=regexp & cm=true & cl=2 & display=1

GET /.api/search/stream & q=type:symbol main & v=V2

POST /.api/graphql & body={"query": "{search(query: \"needle\"){results{matchCount results{... on FileMatch{lineMatches{preview}}}}}}"}

POST /.api/graphql & body={"query": "{repository(name: \"alpha\"){commit(rev: \"HEAD\"){blob(path: \"src/main.c\"){content lsif{definitions(line: 0, character: 4){nodes{url}}}}}}}"}
"#;

/// The last request succeeds.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let inputs = REQUESTS.trim().split("\n\n");
    let input = |input: &str| join(&input.lines().map(request).collect::<Vec<_>>());
    inputs.map(input).collect()
}

fn request(line: &str) -> Vec<u8> {
    let mut words = line.split(" & ");
    let target = words.next().and_then(|first| first.split_once(' '));
    let (method, route) = target.expect("a method and a route");
    let parts = words.map(|part| part.split_once('=').expect("a name and a value"));
    encode(method, route, parts)
}

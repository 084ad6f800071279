//! Messages to `/mcp`: each gets an answer or an error, in time and within its budget.

use super::site;
use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;

/// 20,000 tokens of 4 bytes.
const TEXT_BYTES_MAX: usize = 80_000;

pub(crate) fn agents(data: &[u8]) {
    let request = Request::post("/mcp")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header(header::CONTENT_TYPE, "application/json");
    let body = Body::from(data.to_vec());
    let answer = site().ask(request.body(body).expect("a request"));
    answer.check_status();
    if answer.kind() == "application/json" && answer.is_plain() {
        let text = &answer.json()["result"]["content"][0]["text"];
        assert!(text.as_str().unwrap_or_default().len() <= TEXT_BYTES_MAX);
    }
}

pub(crate) fn agent_seeds() -> Vec<Vec<u8>> {
    let call = |(name, arguments)| {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    };
    let calls = [
        (
            "search",
            json!({"query": "needle path:src or filename:x -t c", "max_tokens": 100}),
        ),
        ("search", json!({"query": "main\\(|alert", "regexp": true})),
        (
            "search_many",
            json!({"queries": ["needle", "\"alert\"", "nothing"]}),
        ),
        (
            "read",
            json!({"file": "alpha_1.0-1/src/main.c:2", "ranges": [[1, 1], [2, 9]]}),
        ),
        ("read", json!({"file": "alpha/src/mian.c", "rev": "v1"})),
        (
            "files",
            json!({"glob": "**/*.c", "package": "alpha", "page": null}),
        ),
        ("repositories", json!({"prefix": "a"})),
        (
            "history",
            json!({"repository": "alpha", "show": "blame", "lines": [1, 2]}),
        ),
        ("explain", json!({"query": "(a or /b.*c/) lang:c"})),
    ];
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    });
    let others = [
        json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    ];
    let all = calls.into_iter().map(call).chain(others);
    all.map(|message| message.to_string().into_bytes())
        .collect()
}

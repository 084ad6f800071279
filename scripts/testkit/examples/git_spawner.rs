//! Runs `git log -1` for `/api/v2/commit`: the baseline of `scripts/bench/bench git`. Never expose
//! it.

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use schema::message::{self, Signature};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use web::model::Commit;

/// Fields separated by NUL.
const FORMAT: &str =
    "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%s%x00%b%x00%D";

#[derive(serde::Deserialize)]
struct Wanted {
    repo: String,
    #[serde(default)]
    rev: String,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let root = std::env::args_os().nth(1);
    let root: PathBuf = root.expect("usage: git_spawner DIRECTORY").into();
    let app = Router::new()
        .route("/api/v2/commit", get(commit))
        .with_state(Arc::new(root));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("commits on http://{}", listener.local_addr()?);
    axum::serve(listener, app).await
}

async fn commit(
    State(root): State<Arc<PathBuf>>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Commit>, StatusCode> {
    let read = move || {
        let found = read(&root, &wanted)?;
        Some(Json(Commit::new(&wanted.repo, &wanted.rev, &found)))
    };
    let found = tokio::task::spawn_blocking(read).await;
    found.ok().flatten().ok_or(StatusCode::NOT_FOUND)
}

fn read(root: &Path, wanted: &Wanted) -> Option<message::Commit> {
    let rev = if wanted.rev.is_empty() {
        "HEAD"
    } else {
        &wanted.rev
    };
    let output = Command::new("git")
        .arg("-C")
        .arg(root.join(format!("{}.git", wanted.repo)))
        .args([
            "log",
            "-1",
            "--date=raw",
            "--decorate=full",
            FORMAT,
            rev,
            "--",
        ])
        .output()
        .ok()?;
    let text = output.status.success().then_some(output.stdout)?;
    let fields: Vec<&[u8]> = text.strip_suffix(b"\n")?.split(|byte| *byte == 0).collect();
    let [
        id,
        tree,
        parents,
        an,
        ae,
        ad,
        cn,
        ce,
        cd,
        subject,
        body,
        names,
    ] = fields[..]
    else {
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let names = text(names);
    let tags = names
        .split(", ")
        .filter_map(|name| name.strip_prefix("tag: refs/tags/"));
    let mut tags: Vec<Vec<u8>> = tags.map(|name| name.as_bytes().to_vec()).collect();
    tags.sort();
    Some(message::Commit {
        id: text(id),
        tree: text(tree),
        parents: text(parents)
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        author: signature(an, ae, ad)?,
        committer: signature(cn, ce, cd)?,
        subject: subject.to_vec(),
        body: body.trim_ascii_end().to_vec(),
        tags,
        shortened: false,
    })
}

/// Parses `1700000000 +0130`.
fn signature(name: &[u8], email: &[u8], date: &[u8]) -> Option<Signature> {
    let (seconds, zone) = str::from_utf8(date).ok()?.split_once(' ')?;
    let zone: i32 = zone.parse().ok()?;
    Some(Signature {
        name: name.to_vec(),
        email: email.to_vec(),
        seconds: seconds.parse().ok()?,
        offset_minutes: zone / 100 * 60 + zone % 100,
    })
}

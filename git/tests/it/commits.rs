//! Commits by every form of revision, as in git.

use crate::support::{Root, Worktree};
use git::{LookupError, Repositories};

fn id(repositories: &Repositories, rev: &str) -> String {
    match repositories.commit("r", rev) {
        Ok(commit) => commit.id,
        Err(error) => format!("{error:?}"),
    }
}

/// A merge, an annotated and a plain tag, and a branch with a slash.
fn sample(root: &Root) -> Worktree {
    let worktree = root.init("r");
    worktree.commits(30);
    worktree.git(["tag", "light"]);
    worktree.git(["tag", "-a", "v1.0", "-m", "one"]);
    worktree.git(["checkout", "-q", "-b", "topic/a", "HEAD~5"]);
    worktree.commit("other", "x\n", "a topic\n\nwith a body");
    worktree.git(["checkout", "-q", "main"]);
    worktree.commit("file", "last\n", "on main");
    worktree.git(["merge", "-q", "--no-ff", "-m", "merge it", "topic/a"]);
    worktree
}

#[test]
fn every_form_of_revision_is_what_git_rev_parse_says() {
    let root = Root::new();
    let worktree = sample(&root);
    let repositories = root.repositories();
    let full = worktree.git(["rev-parse", "HEAD~3"]);
    let forms = [
        "HEAD",
        "@",
        "main",
        "heads/main",
        "refs/heads/main",
        "topic/a",
        "light",
        "v1.0",
        "tags/v1.0",
        "v1.0^{}",
        "v1.0^{commit}",
        "v1.0^0",
        "HEAD~25",
        "HEAD^",
        "HEAD^2",
        "HEAD^2~2",
        "HEAD~0",
        "@~1",
        "HEAD^^",
        "HEAD^1^1",
        ":/topic",
        ":/change 2",
        "HEAD^{/change}",
        "HEAD^2^{/change 1}",
        "HEAD^{/}",
        "HEAD^{/!-merge}",
        "v1.0-0-g",
        "main~~",
        "HEAD^{object}",
    ];
    let described = format!("v1.0-7-g{}", &full[..9]);
    let more = [
        full.as_str(),
        &full[..7],
        &full[..4],
        &full.to_uppercase(),
        &described,
    ];
    for packed in [false, true] {
        for form in forms.iter().chain(&more) {
            let as_commit = if form.starts_with(":/") {
                (*form).to_owned()
            } else {
                format!("{form}^{{commit}}")
            };
            let (expected, error) = worktree.try_git(["rev-parse", "-q", "--verify", &as_commit]);
            let found = id(&repositories, form);
            if error.is_none() {
                assert_eq!(found, expected, "{form}, packed: {packed}");
            } else {
                assert!(found.contains("Unknown"), "{form}: {found}");
            }
        }
        worktree.git(["gc", "-q", "--prune=now"]);
    }
    assert_eq!(id(&repositories, ""), worktree.git(["rev-parse", "HEAD"]));
}

#[test]
fn a_commit_has_what_git_log_prints() {
    let root = Root::new();
    let worktree = sample(&root);
    let commit = root.repositories().commit("r", "topic/a").unwrap();
    assert_eq!(commit.subject, b"a topic");
    assert_eq!(commit.body, b"with a body");
    assert_eq!(commit.author.name, b"Ada");
    assert_eq!(commit.author.offset_minutes, 60);
    assert_eq!(commit.committer.email, b"bob@example.org");
    assert_eq!(commit.tree, worktree.git(["rev-parse", "topic/a^{tree}"]));
    assert_eq!(commit.parents, [worktree.git(["rev-parse", "topic/a^"])]);
    assert!(commit.tags.is_empty());
    let tagged = root.repositories().commit("r", "light").unwrap();
    assert_eq!(tagged.tags, [b"light".to_vec(), b"v1.0".to_vec()]);
}

#[test]
fn what_is_not_one_commit_is_refused_with_the_reason() {
    let root = Root::new();
    sample(&root);
    let repositories = root.repositories();
    let check = |rev: &str, part: &str| match repositories.commit("r", rev) {
        Err(LookupError::Refused { reason }) => assert!(reason.contains(part), "{rev}: {reason}"),
        other => panic!("{rev}: {other:?}"),
    };
    check("main@{upstream}", "reflog");
    check("@{-1}", "reflog");
    check("HEAD@{0}", "reflog");
    check("main..topic/a", "range");
    check("^main", "several commits");
    check("HEAD:file", "a file");
    check("HEAD^{tree}", "not a commit");
    check(":/(", "regular expression");
}

#[test]
fn an_unknown_name_suggests_names_that_resemble_it() {
    let root = Root::new();
    sample(&root);
    let repositories = root.repositories();
    let candidates = |repo: &str, rev: &str| match repositories.commit(repo, rev) {
        Err(
            LookupError::UnknownRevision { candidates }
            | LookupError::UnknownRepository { candidates },
        ) => candidates,
        other => panic!("{rev}: {other:?}"),
    };
    assert_eq!(candidates("r", "mian"), ["main"]);
    assert_eq!(candidates("r", "v1.1~3"), ["v1.0"]);
    assert_eq!(candidates("r", "main~100000000"), ["main"]);
    assert_eq!(candidates("R", ""), ["r"]);
    assert_eq!(candidates("r", &"0".repeat(40)), Vec::<String>::new());
}

//! A backend dies during its answer, which then names it and has the other matches.

use crate::WAIT_MAX;
use crate::home::{Home, Server};
use crate::http;
use crate::process::Finished;
use crate::proxy::Proxy;
use schema::frame::Kind;
use std::collections::HashSet;
use web::model::Page;

/// Lines of the killed backend. 10 MB exceed two socket buffers, so the first BATCH arrives before
/// END is sent.
const LINES: usize = 7000;
const LINE_BYTES: usize = 1500;

/// Exceeds a page.
const LINES_OF_THE_OTHER: usize = 1500;

pub(crate) struct Stage {
    pub(crate) home: Home,
    /// Output of `trawl search`.
    stays: Vec<String>,
    dies: Vec<String>,
    pub(crate) proxy: Proxy,
    pub(crate) frontend: Server,
    staying: Server,
}

#[test]
fn dead_backend_is_reported_missing_and_used_again_after_restart() {
    let (stage, dying) = Stage::new();
    let cut = stage.proxy.cut_after_first_batch(move || drop(dying));
    let (answer, found) = http::search_all(&stage.frontend.address, "wanted");
    let cut = cut.recv_timeout(WAIT_MAX).expect("the answer is cut");
    assert!(cut.forwarded.contains(&Kind::Batch));
    assert!(!cut.forwarded.contains(&Kind::End));
    assert!(
        !cut.held_back.contains(&Kind::End),
        "it had sent its whole answer"
    );
    stage.check_cut_short(&answer, &found);
    stage.check_without();
    let back = stage.home.start("backend --index dies.index");
    stage.proxy.forward_to(&back.address);
    stage.check_complete();
}

impl Stage {
    pub(crate) fn new() -> (Stage, Server) {
        let home = Home::new();
        let stays = index(&home, "stays", LINES_OF_THE_OTHER, 80);
        let dies = index(&home, "dies", LINES, LINE_BYTES);
        let staying = home.start("backend --index stays.index");
        let dying = home.start("backend --index dies.index");
        let proxy = Proxy::start(&dying.address);
        let frontend = start_frontend(&home, &staying, &proxy);
        let stage = Stage {
            home,
            stays,
            dies,
            proxy,
            frontend,
            staying,
        };
        (stage, dying)
    }

    /// Keeps the spool.
    pub(crate) fn restart_frontend(&mut self) {
        self.frontend = start_frontend(&self.home, &self.staying, &self.proxy);
    }

    fn search(&self) -> Finished {
        self.home
            .run(&format!("search --server {} wanted", self.frontend.address))
    }

    pub(crate) fn check_cut_short(&self, answer: &Page<'_>, found: &[String]) {
        assert!(!answer.complete);
        let missing = &answer.missing;
        assert_eq!(missing.len(), 1, "{missing:?}");
        assert_eq!(missing[0].backend, self.proxy.address);
        assert!(!missing[0].reason.is_empty());
        let (of_dying, of_staying): (Vec<_>, Vec<_>) =
            found.iter().partition(|line| line.starts_with("dies/"));
        assert!(of_staying.iter().copied().eq(&self.stays));
        let all: HashSet<_> = self.dies.iter().collect();
        assert!(
            !of_dying.is_empty() && of_dying.len() < LINES,
            "{}",
            of_dying.len()
        );
        assert!(of_dying.iter().all(|line| all.contains(line)));
    }

    fn check_without(&self) {
        let without = self.search();
        let missed = format!("incomplete: {}: ", self.proxy.address);
        without.check("search", 3, &[&missed]);
        assert!(without.text().lines().eq(&self.stays));
    }

    pub(crate) fn check_complete(&self) {
        let complete = self.search();
        assert_eq!((complete.code, &*complete.stderr), (Some(0), ""));
        let mut found: Vec<_> = complete.text().lines().collect();
        let mut both: Vec<_> = self.stays.iter().chain(&self.dies).collect();
        found.sort_unstable();
        both.sort_unstable();
        assert!(found == both, "{} of {} matches", found.len(), both.len());
        let (answer, lines) = http::search_all(&self.frontend.address, "wanted");
        assert_eq!((answer.complete, lines.len()), (true, both.len()));
    }
}

fn start_frontend(home: &Home, staying: &Server, proxy: &Proxy) -> Server {
    home.start(&format!(
        "frontend --backend {} --backend {} --spool spool",
        staying.address, proxy.address
    ))
}

/// Every line matches. Returns the output of a search.
fn index(home: &Home, package: &str, lines: usize, line_bytes: usize) -> Vec<String> {
    for file in 0..lines / 100 {
        let text: String = (0..100)
            .map(|line| format!("wanted {file}.{line} {}\n", "x ".repeat(line_bytes / 2)))
            .collect();
        home.write(&format!("{package}/{file}.c"), text);
    }
    home.ok(&format!("index --index {package}.index {package}"));
    let search = home.run(&format!("search --index {package}.index wanted"));
    let found: Vec<_> = search.text().lines().map(str::to_owned).collect();
    assert_eq!(found.len(), lines, "{}", search.stderr);
    found
}

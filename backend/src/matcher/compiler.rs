//! Compiles regular expressions of a search: single flight, until stopped.
//!
//! Matchers are cached in bounded memory; copies share all but their caches. A pattern takes up to
//! 0.15 s without interruption; admission bounds concurrent compilations ([`crate::server`]).

use super::compile_cost;
use super::pattern::{Recipe, SizeLimits};
use grep_regex::RegexMatcher;
use index::plan::BadPattern;
use moka::sync::Cache;
use schema::message::Pattern;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Some hundred matchers with Unicode classes, or some ten thousand without.
const KEPT_BYTES_MAX: u64 = 16 << 20;

const MATCHER_BYTES: u64 = 1 << 10;

const KEPT_IDLE_MAX: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, Default)]
pub struct Compiler {
    pub(crate) limits: SizeLimits,
    kept: Option<KeptMatchers>,
    stop: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
pub struct KeptMatchers(Cache<(Recipe, SizeLimits), (RegexMatcher, u32)>);

impl Default for KeptMatchers {
    fn default() -> KeptMatchers {
        let cache = Cache::builder()
            .max_capacity(KEPT_BYTES_MAX)
            .weigher(|_, (_, bytes)| *bytes)
            .time_to_idle(KEPT_IDLE_MAX);
        KeptMatchers(cache.build())
    }
}

impl Compiler {
    pub(crate) fn new(kept: &KeptMatchers, stop: Arc<AtomicBool>) -> Compiler {
        Compiler {
            kept: Some(kept.clone()),
            stop,
            ..Compiler::default()
        }
    }

    pub(crate) fn for_one_of(&self, patterns: usize) -> Compiler {
        Compiler {
            limits: SizeLimits::for_one_of(patterns),
            ..self.clone()
        }
    }

    /// For a joined matcher of compiled patterns, small enough together. Cannot be stopped.
    pub(crate) fn for_all(&self) -> Compiler {
        Compiler {
            limits: SizeLimits::FOR_ALL,
            kept: self.kept.clone(),
            stop: Arc::default(),
        }
    }

    pub(crate) fn check_stop(&self) -> Result<(), BadPattern> {
        if self.stop.load(Relaxed) {
            return Err(BadPattern::new("the search was stopped"));
        }
        Ok(())
    }

    /// Without patterns, every line matches.
    pub(crate) fn line(&self, patterns: &[&Pattern]) -> Result<RegexMatcher, BadPattern> {
        self.compile(&Recipe::new(patterns, false), patterns)
    }

    pub(crate) fn compile(
        &self,
        recipe: &Recipe,
        patterns: &[&Pattern],
    ) -> Result<RegexMatcher, BadPattern> {
        // Not while others wait for this matcher: their searches are not stopped.
        self.check_stop()?;
        let build = || recipe.build(patterns, self.limits);
        let Some(KeptMatchers(kept)) = &self.kept else {
            return build();
        };
        let key = (recipe.clone(), self.limits);
        let is_new = Cell::new(false);
        let built = kept.try_get_with(key, || {
            is_new.set(true);
            let matcher = build()?;
            let bytes = MATCHER_BYTES + compile_cost::memory_bytes(&recipe.hir());
            Ok((matcher, u32::try_from(bytes).unwrap_or(u32::MAX)))
        });
        if is_new.get() {
            // Evicts matchers past the bound now, not some dozens of insertions later.
            kept.run_pending_tasks();
        }
        built
            .map(|(matcher, _)| matcher)
            .map_err(|bad: Arc<BadPattern>| (*bad).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher;
    use schema::message::Syntax;
    use std::thread;

    fn pattern(text: &str) -> Pattern {
        Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ..Pattern::default()
        }
    }

    #[test]
    fn equal_patterns_are_compiled_once_and_kept_within_a_bound() {
        let kept = KeptMatchers::default();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let compiler = Compiler::new(&kept, Arc::default());
                    let matcher = compiler.line(&[&pattern(r"\w+x")]).unwrap();
                    assert!(matcher.is_match(b" ax").unwrap());
                });
            }
        });
        kept.0.run_pending_tasks();
        assert_eq!(kept.0.entry_count(), 1);
        let compiler = Compiler::new(&kept, Arc::default());
        for number in 0..60 {
            compiler
                .line(&[&pattern(&format!(r"\w{{20}}{number}"))])
                .unwrap();
        }
        let bytes = kept.0.weighted_size();
        assert!(
            bytes > KEPT_BYTES_MAX / 2 && bytes <= KEPT_BYTES_MAX,
            "{bytes}"
        );
    }

    #[test]
    fn a_stopped_search_compiles_nothing_more() {
        let stop = Arc::<AtomicBool>::default();
        let compiler = Compiler::new(&KeptMatchers::default(), Arc::clone(&stop));
        let matches = |text| compiler.line(&[&pattern(text)]).map(drop);
        assert_eq!(matches("a(b|c)"), Ok(()));
        stop.store(true, Relaxed);
        assert!(matches("a(b|d)").is_err());
        let refused = compiler.for_all().line(&[&pattern("(")]);
        assert!(!refused.unwrap_err().reason.contains("stopped"));
    }

    #[test]
    fn kept_matchers_differ_by_everything_that_changes_them() {
        let compiler = Compiler::new(&KeptMatchers::default(), Arc::default());
        let plain = pattern("ab|c");
        let word = Pattern {
            word: true,
            ..plain.clone()
        };
        let folded = Pattern {
            ignore_case: true,
            ..plain.clone()
        };
        for _ in 0..2 {
            for (pattern, text, expected) in [
                (&plain, "xabx", true),
                (&word, "xabx", false),
                (&folded, "xABx", true),
                (&plain, "xABx", false),
            ] {
                let matcher = compiler.line(&[pattern]).unwrap();
                assert_eq!(matcher.is_match(text.as_bytes()).unwrap(), expected);
            }
        }
    }
}

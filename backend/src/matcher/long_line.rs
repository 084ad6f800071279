//! Matches one long text step by step, with bounded steps and a stop flag.
//!
//! A call of ripgrep's matcher cannot be stopped and may take seconds. This one simulates the same
//! program by a lazy DFA from the first literal, charged for each state. If that costs too much, or
//! Unicode word boundaries meet bytes that are not ASCII, it simulates the NFA.
//!
//! **Invariant:** the steps depend only on pattern and text, never on time or earlier searches.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::hybrid::regex::{self, Regex};
use regex_automata::nfa::thompson::{self, NFA, State, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind, Span};
use regex_syntax::hir::Hir;
use std::ops::Range;

/// Steps for one line or whole text: about 1.5 s on one core. A DFA needs one for 8 bytes.
/// Documents of undecided lines are reported as skipped. Unit tests are slow, so they have fewer.
pub const LINE_STEPS_MAX: u64 = if cfg!(test) { 1 << 23 } else { 1 << 27 };

/// Share of the DFA's states. The NFA has the rest.
const DFA_STEPS_SHARE: u64 = 8;

/// Steps between two checks of the stop flag: 1 to 3 ms.
const STOP_STEPS: u64 = 1 << 18;

const DFA_BYTES_A_STEP: usize = 8;

/// Bytes searched for literals at a time. Unit tests have short texts.
const PREFIX_BYTES: usize = if cfg!(test) { 5 } else { 1 << 20 };

const PREFIX_BYTES_A_STEP: usize = 64;

/// Bytes of cached DFA states; with more, all are forgotten.
const DFA_BYTES_MAX: usize = 2 << 20;

/// Work budget of a text, with its stop flag.
pub struct Effort<'a> {
    stop: &'a dyn Fn() -> bool,
    /// Remaining steps of the text.
    pub(crate) left: u64,
    unchecked: u64,
    is_stopped: bool,
    /// A text needed too many steps.
    pub has_given_up: bool,
}

/// Undecided text: too many steps, or stopped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GivenUp;

/// Leftmost match, if any; for an earliest search, any range that proves one.
pub(crate) type Answer = Result<Option<Range<usize>>, GivenUp>;

impl<'a> Effort<'a> {
    /// `stop` ends the search.
    pub fn new(stop: &'a dyn Fn() -> bool) -> Effort<'a> {
        Effort {
            stop,
            left: LINE_STEPS_MAX,
            unchecked: STOP_STEPS,
            is_stopped: false,
            has_given_up: false,
        }
    }

    pub(crate) fn is_stopped(&mut self) -> bool {
        self.is_stopped = self.is_stopped || (self.stop)();
        self.is_stopped
    }

    /// Notes an undecided text, which counts as one without a match.
    pub(crate) fn decide<T: Default>(&mut self, found: Result<T, GivenUp>) -> T {
        self.has_given_up |= found.is_err() && !self.is_stopped;
        found.unwrap_or_default()
    }

    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), GivenUp> {
        self.left = self.left.checked_sub(steps).ok_or(GivenUp)?;
        self.unchecked = self.unchecked.saturating_sub(steps);
        if self.unchecked == 0 {
            self.unchecked = STOP_STEPS;
            if self.is_stopped() {
                return Err(GivenUp);
            }
        }
        Ok(())
    }
}

/// Compiled pattern. Immutable, so threads share it.
pub(crate) struct Program {
    nfa: NFA,
    /// Finds literals that begin a match; `None` if too many or none.
    prefixes: Option<Prefilter>,
    /// `None` if the pattern is too large for [`DFA_BYTES_MAX`].
    dfas: Option<Regex>,
}

pub(crate) struct Buffers {
    dfas: Option<regex::Cache>,
    budget: DfaBudget,
    current: Threads,
    next: Threads,
    stack: Vec<StateID>,
}

/// Steps for new states.
#[derive(Default)]
struct DfaBudget {
    left: u64,
    /// Bytes of the largest state built, for states of unknown size.
    state_bytes: u64,
}

enum NoAnswer {
    Unable,
    GivenUp,
}

impl From<GivenUp> for NoAnswer {
    fn from(GivenUp: GivenUp) -> Self {
        NoAnswer::GivenUp
    }
}

impl Program {
    /// `hir` was accepted by ripgrep's matcher, which bounds its size.
    pub(crate) fn new(hir: &Hir) -> Program {
        let config = NFA::config()
            .utf8(false)
            .which_captures(WhichCaptures::None);
        let compile = |config: thompson::Config| {
            let mut compiler = NFA::compiler();
            compiler.configure(config).build_from_hir(hir).ok()
        };
        let nfa = compile(config.clone()).expect("it was compiled before");
        let dfas = compile(config.reverse(true));
        let dfas = dfas.and_then(|reverse| build_dfas(nfa.clone(), reverse));
        let prefixes = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir);
        Program {
            nfa,
            prefixes: prefixes.filter(Prefilter::is_fast),
            dfas,
        }
    }

    pub(crate) fn buffers(&self) -> Buffers {
        let states = self.nfa.states().len();
        Buffers {
            dfas: self.dfas.as_ref().map(Regex::create_cache),
            budget: DfaBudget::default(),
            current: Threads::new(states),
            next: Threads::new(states),
            stack: Vec::new(),
        }
    }

    pub(crate) fn first_prefix(
        &self,
        text: &[u8],
        mut at: usize,
        effort: &mut Effort<'_>,
    ) -> Result<Option<usize>, GivenUp> {
        let Some(prefixes) = &self.prefixes else {
            return Ok(Some(at));
        };
        loop {
            // A literal that begins before `next` ends before `end`.
            let next = at + PREFIX_BYTES;
            let end = text.len().min(next + prefixes.max_needle_len());
            let found = prefixes.find(text, Span { start: at, end });
            let place = found.map_or(end, |found| found.start).min(next);
            effort.spend(1 + ((place - at) / PREFIX_BYTES_A_STEP) as u64)?;
            match found {
                Some(found) if found.start < next => return Ok(Some(found.start)),
                None if end == text.len() => return Ok(None),
                _ => at = next,
            }
        }
    }

    /// `buffers` begin anew for each text.
    pub(crate) fn find(
        &self,
        buffers: &mut Buffers,
        input: &Input<'_>,
        effort: &mut Effort<'_>,
    ) -> Answer {
        if let (Some(dfas), Some(cache)) = (&self.dfas, &mut buffers.dfas) {
            match find_by_dfa(dfas, (cache, &mut buffers.budget), input, effort) {
                Ok(found) => return Ok(found),
                Err(NoAnswer::GivenUp) => return Err(GivenUp),
                // It would fail in the rest of the text, too.
                Err(NoAnswer::Unable) => buffers.budget.left = 0,
            }
        }
        self.simulate(buffers, input, effort)
    }

    /// Threads are in order of precedence; the first that matches ends those behind it.
    fn simulate(
        &self,
        buffers: &mut Buffers,
        input: &Input<'_>,
        effort: &mut Effort<'_>,
    ) -> Answer {
        let text = input.haystack();
        let Buffers {
            current,
            next,
            stack,
            ..
        } = buffers;
        current.clear();
        let mut found = None;
        for position in input.start()..=text.len() {
            if found.is_none() {
                let thread = (self.nfa.start_anchored(), position);
                self.follow(thread, text, position, current, stack, effort)?;
            } else if current.list.is_empty() {
                break;
            }
            effort.spend(1 + current.list.len() as u64)?;
            next.clear();
            for index in 0..current.list.len() {
                let (state, start) = current.list[index];
                let target = match self.nfa.state(state) {
                    State::ByteRange { trans } => text
                        .get(position)
                        .and_then(|&byte| trans.matches_byte(byte).then_some(trans.next)),
                    State::Sparse(sparse) => sparse.matches(text, position),
                    State::Dense(dense) => dense.matches(text, position),
                    State::Match { .. } => {
                        found = Some(start..position);
                        if input.get_earliest() {
                            return Ok(found);
                        }
                        break;
                    }
                    _ => None,
                };
                if let Some(target) = target {
                    self.follow((target, start), text, position + 1, next, stack, effort)?;
                }
            }
            std::mem::swap(current, next);
        }
        Ok(found)
    }

    fn follow(
        &self,
        (state, start): (StateID, usize),
        text: &[u8],
        position: usize,
        threads: &mut Threads,
        stack: &mut Vec<StateID>,
        effort: &mut Effort<'_>,
    ) -> Result<(), GivenUp> {
        stack.clear();
        stack.push(state);
        let mut steps = 0;
        while let Some(state) = stack.pop() {
            steps += 1;
            if !threads.insert(state, start) {
                continue;
            }
            match self.nfa.state(state) {
                State::Look { look, next }
                    if self.nfa.look_matcher().matches(*look, text, position) =>
                {
                    stack.push(*next);
                }
                State::Union { alternates } => stack.extend(alternates.iter().rev()),
                State::BinaryUnion { alt1, alt2 } => stack.extend([*alt2, *alt1]),
                State::Capture { next, .. } => stack.push(*next),
                _ => {}
            }
        }
        effort.spend(steps)
    }
}

impl Buffers {
    /// Resets buffers, so each text costs the same as alone.
    pub(crate) fn begin(&mut self, program: &Program) {
        if let (Some(dfas), Some(cache)) = (&program.dfas, &mut self.dfas) {
            cache.reset(dfas);
            self.budget = DfaBudget {
                left: LINE_STEPS_MAX / DFA_STEPS_SHARE,
                state_bytes: 0,
            };
        }
    }
}

fn build_dfas(forward: NFA, reverse: NFA) -> Option<Regex> {
    let build = |nfa, kind| {
        let config = DFA::config()
            .match_kind(kind)
            .unicode_word_boundary(true)
            .cache_capacity(DFA_BYTES_MAX);
        DFA::builder().configure(config).build_from_nfa(nfa).ok()
    };
    let forward = build(forward, MatchKind::LeftmostFirst)?;
    let reverse = build(reverse, MatchKind::All)?;
    Some(Regex::builder().build_from_dfas(forward, reverse))
}

fn find_by_dfa(
    dfas: &Regex,
    (cache, budget): (&mut regex::Cache, &mut DfaBudget),
    input: &Input<'_>,
    effort: &mut Effort<'_>,
) -> Result<Option<Range<usize>>, NoAnswer> {
    let (forward, reverse) = cache.as_parts_mut();
    let mut walk = Walk {
        dfa: dfas.forward(),
        cache: forward,
        budget,
        effort,
    };
    let Some(end) = walk.forward(input)? else {
        return Ok(None);
    };
    if input.get_earliest() {
        return Ok(Some(end..end));
    }
    (walk.dfa, walk.cache) = (dfas.reverse(), reverse);
    let start = walk.reverse(input.haystack(), input.start(), end)?;
    Ok(Some(start..end))
}

struct Walk<'w, 'e> {
    dfa: &'w DFA,
    cache: &'w mut dfa::Cache,
    budget: &'w mut DfaBudget,
    effort: &'w mut Effort<'e>,
}

impl Walk<'_, '_> {
    /// End of the leftmost match; for an earliest search, of the first to end.
    fn forward(&mut self, input: &Input<'_>) -> Result<Option<usize>, NoAnswer> {
        self.charge(0)?;
        let text = input.haystack();
        let started = self.dfa.start_state_forward(self.cache, input);
        let state = started.map_err(|_| NoAnswer::Unable)?;
        let bytes = text.iter().enumerate().skip(input.start());
        let (state, end) = self.walk(state, bytes, input.get_earliest())?;
        let Some(state) = state else { return Ok(end) };
        let last = self.dfa.next_eoi_state(self.cache, state);
        let is_match = last.map_err(|_| NoAnswer::Unable)?.is_match();
        Ok(if is_match { Some(text.len()) } else { end })
    }

    /// Start of the longest match from `at` to `end`.
    fn reverse(&mut self, text: &[u8], at: usize, end: usize) -> Result<usize, NoAnswer> {
        self.charge(0)?;
        let input = Input::new(text).range(at..end).anchored(Anchored::Yes);
        let started = self.dfa.start_state_reverse(self.cache, &input);
        let state = started.map_err(|_| NoAnswer::Unable)?;
        let bytes = text[..end].iter().enumerate().skip(at).rev();
        let (state, last_match) = self.walk(state, bytes, false)?;
        let start = last_match.map_or(end, |index| index + 1);
        let Some(state) = state else {
            return Ok(start);
        };
        let last = match at.checked_sub(1) {
            Some(before) => self.dfa.next_state(self.cache, state, text[before]),
            None => self.dfa.next_eoi_state(self.cache, state),
        };
        let last = last.map_err(|_| NoAnswer::Unable)?;
        if last.is_quit() {
            return Err(NoAnswer::Unable);
        }
        Ok(if last.is_match() { at } else { start })
    }

    /// Steps over indexed `bytes`. Returns the last state, unless no match can follow or, with
    /// `earliest`, one was found. Also returns the byte at which the last match was known, one
    /// behind its end.
    #[inline]
    fn walk<'t>(
        &mut self,
        mut state: LazyStateID,
        bytes: impl Iterator<Item = (usize, &'t u8)>,
        earliest: bool,
    ) -> Result<(Option<LazyStateID>, Option<usize>), NoAnswer> {
        let mut last_match = None;
        for (index, &byte) in bytes {
            state = self.step(state, byte)?;
            if state.is_tagged() {
                if state.is_match() {
                    last_match = Some(index);
                    if earliest {
                        return Ok((None, last_match));
                    }
                } else if state.is_dead() {
                    return Ok((None, last_match));
                } else if state.is_quit() {
                    return Err(NoAnswer::Unable);
                }
            }
            if index % (DFA_BYTES_A_STEP << 10) == 0 {
                self.effort.spend(1 << 10)?;
            }
        }
        Ok((Some(state), last_match))
    }

    #[inline]
    fn step(&mut self, state: LazyStateID, byte: u8) -> Result<LazyStateID, NoAnswer> {
        let is_tagged = state.is_tagged();
        if !is_tagged {
            let next = self.dfa.next_state_untagged(self.cache, state, byte);
            if !next.is_unknown() {
                return Ok(next);
            }
        }
        let before = self.cache.memory_usage();
        let next = self.dfa.next_state(self.cache, state, byte);
        let grown = self.cache.memory_usage().saturating_sub(before) as u64;
        // The transition of a tagged state may have been known.
        if grown > 0 || !is_tagged {
            self.budget.state_bytes = grown.max(self.budget.state_bytes);
            self.charge(self.budget.state_bytes)?;
        }
        next.map_err(|_| NoAnswer::Unable)
    }

    fn charge(&mut self, steps: u64) -> Result<(), NoAnswer> {
        if self.budget.left <= steps {
            return Err(NoAnswer::Unable);
        }
        self.budget.left -= steps;
        Ok(self.effort.spend(steps)?)
    }
}

/// Threads, at most one for each state, with the start of its match, in order of addition.
struct Threads {
    list: Vec<(StateID, usize)>,
    /// Index in `list` for each state in it.
    places: Vec<u32>,
}

impl Threads {
    fn new(states: usize) -> Threads {
        Threads {
            list: Vec::new(),
            places: vec![0; states],
        }
    }

    fn clear(&mut self) {
        self.list.clear();
    }

    fn insert(&mut self, state: StateID, start: usize) -> bool {
        let place = &mut self.places[state.as_usize()];
        let known = self.list.get(*place as usize);
        if known.is_some_and(|it| it.0 == state) {
            return false;
        }
        *place = self.list.len() as u32;
        self.list.push((state, start));
        true
    }
}

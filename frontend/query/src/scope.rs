//! Packages and repositories that a caller may see, by name without version.
//!
//! Equal scopes have equal hashes over their visible names: adding or removing an invisible
//! package changes nothing.
//!
//! **Invariant:** an unknown name is invisible, except to scopes of everything.

use blake3::Hasher;
use schema::name::name_of;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Shared scopes that are kept, each with a bit per name.
const KEPT_MAX: usize = 128;

const EVERYTHING: [u8; 16] = [0; 16];

/// Named as the missing backend of an undecided scope.
const DECIDER: &str = "authorization";

const UNDECIDED: &str =
    "the authorization service did not answer: packages that are not public were not searched";

/// Packages that a caller may see.
#[derive(Clone, Default)]
pub struct Scope(Option<Arc<Visible>>);

struct Visible {
    names: SortedNames,
    numbers: NameSet,
    hash: [u8; 16],
    is_undecided: bool,
}

impl Scope {
    /// All packages, known or not: no authorization.
    pub fn everything() -> Scope {
        Scope(None)
    }

    pub fn of(names: &Arc<PackageNames>, visible: NameSet) -> Scope {
        let mut kept = names.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&visible) {
            return known.clone();
        }
        let mut hasher = Hasher::new();
        for (number, name) in names.iter().enumerate() {
            if visible.contains(number) {
                hasher.update(&(name.len() as u64).to_le_bytes());
                hasher.update(name);
            }
        }
        let mut hash = [0; 16];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        let scope = Scope(Some(Arc::new(Visible {
            names: Arc::clone(&names.names),
            numbers: visible.clone(),
            hash,
            is_undecided: false,
        })));
        if kept.len() == KEPT_MAX {
            kept.clear();
        }
        kept.insert(visible, scope.clone());
        scope
    }

    /// The same packages, marked as undecided. Its own hash keeps its answers
    /// from passing as whole ones.
    pub fn undecided(&self) -> Scope {
        let Some(visible) = &self.0 else {
            return self.clone();
        };
        let mut hasher = Hasher::new();
        hasher.update(b"undecided").update(&visible.hash);
        let mut hash = [0; 16];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Scope(Some(Arc::new(Visible {
            names: Arc::clone(&visible.names),
            numbers: visible.numbers.clone(),
            hash,
            is_undecided: true,
        })))
    }

    /// True if the caller may see more, but that is not decided yet.
    pub fn is_undecided(&self) -> bool {
        self.0.as_ref().is_some_and(|visible| visible.is_undecided)
    }

    /// The decider and the reason, if undecided.
    pub fn missing(&self) -> Option<(String, String)> {
        let is_undecided = self.is_undecided();
        is_undecided.then(|| (DECIDER.to_owned(), UNDECIDED.to_owned()))
    }

    pub fn is_empty(&self) -> bool {
        let visible = self.0.as_ref();
        visible.is_some_and(|visible| visible.numbers.is_empty())
    }

    /// True if all packages are visible, even unknown ones.
    pub fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// True if the package in a directory is visible: by its own name if known, else as a version.
    pub fn sees(&self, directory: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|visible| {
            let name = known_name(&visible.names, directory);
            self.sees_name(name)
        })
    }

    /// True if `other` sees nothing more.
    pub fn covers(&self, other: &Scope) -> bool {
        match &other.0 {
            _ if self == other || self.is_everything() => true,
            None => false,
            Some(visible) => {
                let mut names = visible.names.iter().enumerate();
                names
                    .all(|(number, name)| !visible.numbers.contains(number) || self.sees_name(name))
            }
        }
    }

    pub fn sees_name(&self, name: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|visible| {
            let number = position(&visible.names, name);
            number.is_some_and(|number| visible.numbers.contains(number))
        })
    }

    /// Hash of the visible names, part of every identity.
    pub fn hash(&self) -> [u8; 16] {
        self.0.as_ref().map_or(EVERYTHING, |visible| visible.hash)
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Scope) -> bool {
        self.is_everything() == other.is_everything() && self.hash() == other.hash()
    }
}

impl Eq for Scope {}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Scope(everything)"),
            // Names may be private.
            Some(visible) => write!(f, "Scope({} names)", visible.numbers.len()),
        }
    }
}

type SortedNames = Arc<[Box<[u8]>]>;

/// Names of all packages, without versions: sorted and distinct.
#[derive(Default)]
pub struct PackageNames {
    names: SortedNames,
    scopes: Mutex<HashMap<NameSet, Scope>>,
}

impl PackageNames {
    pub fn new<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> PackageNames {
        let mut names: Vec<&[u8]> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        PackageNames {
            names: names.into_iter().map(Box::from).collect(),
            scopes: Mutex::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Names, ascending. Positions are numbers in a [`NameSet`].
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }

    /// Package name of a directory: the directory's if known, else without a version.
    pub fn name_of<'a>(&self, directory: &'a [u8]) -> &'a [u8] {
        known_name(&self.names, directory)
    }

    pub fn position(&self, name: &[u8]) -> Option<usize> {
        position(&self.names, name)
    }
}

fn known_name<'a>(names: &SortedNames, directory: &'a [u8]) -> &'a [u8] {
    name_of(directory, position(names, directory).is_some())
}

fn position(names: &SortedNames, name: &[u8]) -> Option<usize> {
    names.binary_search_by(|known| (**known).cmp(name)).ok()
}

impl PartialEq for PackageNames {
    fn eq(&self, other: &PackageNames) -> bool {
        self.names == other.names
    }
}

impl Eq for PackageNames {}

impl fmt::Debug for PackageNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackageNames({})", self.len())
    }
}

/// Some of the [`PackageNames`], as a bitmap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameSet {
    /// The last word is not 0, for equality.
    words: Vec<u64>,
}

impl NameSet {
    pub fn insert(&mut self, number: usize) {
        let (word, bit) = (number / 64, number % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    pub fn contains(&self, number: usize) -> bool {
        let word = self.words.get(number / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub fn len(&self) -> usize {
        let ones = self.words.iter().map(|word| word.count_ones() as usize);
        ones.sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl FromIterator<usize> for NameSet {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> NameSet {
        let mut set = NameSet::default();
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::name::package_name;

    fn names(directories: &[&str]) -> Arc<PackageNames> {
        let directories = directories.iter().map(|name| package_name(name.as_bytes()));
        Arc::new(PackageNames::new(directories))
    }

    fn scope(names: &Arc<PackageNames>, visible: &[&str]) -> Scope {
        let visible = visible.iter().map(|name| names.position(name.as_bytes()));
        Scope::of(names, visible.map(Option::unwrap).collect())
    }

    #[test]
    fn a_scope_sees_all_versions_of_its_names_and_nothing_else() {
        let names = names(&["a_1", "a_2", "b-1.0", "c", "example/d"]);
        let scope = scope(&names, &["a", "example/d"]);
        for seen in ["a", "a_1", "a_9", "a-2.0", "example/d"] {
            assert!(scope.sees(seen.as_bytes()), "{seen}");
        }
        for unseen in ["b", "b-1.0", "c", "d", "unknown", "", "aa", "example"] {
            assert!(!scope.sees(unseen.as_bytes()), "{unseen}");
            assert!(Scope::everything().sees(unseen.as_bytes()), "{unseen}");
        }
    }

    #[test]
    fn a_name_of_its_own_is_seen_by_that_name_alone() {
        let own = Arc::new(PackageNames::new([&b"node"[..], b"node-18.2"]));
        for (visible, other) in [("node", "node-18.2"), ("node-18.2", "node")] {
            let scope = scope(&own, &[visible]);
            assert!(scope.sees(visible.as_bytes()) && !scope.sees(other.as_bytes()));
        }
        // Another directory is a version.
        assert!(scope(&own, &["node"]).sees(b"node-20.1"));
        assert_eq!(own.name_of(b"node-18.2"), b"node-18.2");
        assert_eq!(own.name_of(b"node-20.1"), b"node");
    }

    #[test]
    fn a_scope_covers_what_lets_see_less() {
        let (few, many) = (names(&["a", "c"]), names(&["a", "b", "c_1", "d"]));
        let all = Scope::everything();
        let more = scope(&many, &["a", "b", "c"]);
        for less in [scope(&few, &["a", "c"]), scope(&many, &[]), more.clone()] {
            assert!(more.covers(&less) && all.covers(&less) && !less.covers(&all));
        }
        assert!(!scope(&few, &["a", "c"]).covers(&more));
        assert!(!more.covers(&scope(&many, &["d"])));
    }

    #[test]
    fn packages_that_are_not_visible_do_not_change_a_scope() {
        let (few, many) = (names(&["a", "c"]), names(&["a", "b", "c_1", "d"]));
        assert_eq!(scope(&few, &["a", "c"]), scope(&many, &["a", "c"]));
        let hashes = [
            Scope::everything().hash(),
            scope(&many, &[]).hash(),
            scope(&many, &["a"]).hash(),
            scope(&many, &["a", "b"]).hash(),
            scope(&many, &["a", "b", "c", "d"]).hash(),
        ];
        let distinct: std::collections::HashSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len());
        let (joined, apart) = (names(&["ab", "c"]), names(&["a", "bc"]));
        assert_ne!(scope(&joined, &["ab", "c"]), scope(&apart, &["a", "bc"]));
    }

    #[test]
    fn an_undecided_scope_shows_the_same_and_is_another_one() {
        let names = names(&["a", "b"]);
        let decided = scope(&names, &["a"]);
        let undecided = decided.undecided();
        assert!(undecided.sees(b"a_1") && !undecided.sees(b"b"));
        assert!(undecided.is_undecided() && !decided.is_undecided());
        assert!(undecided != decided && undecided == scope(&names, &["a"]).undecided());
        assert!(undecided.covers(&decided) && decided.covers(&undecided));
        assert!(decided.missing().is_none() && undecided.missing().is_some());
        assert!(!Scope::everything().undecided().is_undecided());
    }

    #[test]
    fn callers_who_see_the_same_share_a_scope_and_few_scopes_are_kept() {
        let all: Vec<String> = (0..10).map(|number| format!("p{number}x")).collect();
        let names = names(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let (one, two) = (scope(&names, &["p1x"]), scope(&names, &["p1x"]));
        assert!(Arc::ptr_eq(&one.0.unwrap(), &two.0.unwrap()));
        for bits in 0..1000_usize {
            let visible = (0..10).filter(|bit| bits >> bit & 1 == 1).collect();
            Scope::of(&names, visible);
            assert!(names.scopes.lock().unwrap().len() <= KEPT_MAX);
        }
    }

    #[test]
    fn nothing_private_is_in_the_debug_text() {
        let names = names(&["private"]);
        let text = format!("{:?} {names:?}", scope(&names, &["private"]));
        assert_eq!(text, "Scope(1 names) PackageNames(1)");
    }
}

//! Cost of a query: its expression tree, and the amount of text to read; and completions of a query
//! that is being typed.

use super::page::{Missing, Notice};
use language::symbols::{Class, Kind};
use schema::message::{Estimate, Expr, Field, Filter, Pattern, Reading, Role, Syntax};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use utoipa::ToSchema;

shapes! {
    /// Estimated cost of a query.
    struct Explanation {
        generation: String,
        interpreted_as: String,
        notices: Vec<Notice>,
        /// True if every shard has answered.
        complete: bool,
        missing: Vec<Missing>,
        /// Condition on matching documents.
        expression: ExpressionTree,
        /// True if only names of documents match.
        names: bool,
        /// Trigram query of the whole expression.
        plan: String,
        /// Patterns of the expression, in order.
        patterns: Vec<PatternCost>,
        cost: SearchCost,
        /// Suggestions that reduce the cost.
        cheaper: Vec<String>,
    }

    /// Cost of one pattern alone, within the filters.
    struct PatternCost {
        pattern: PatternLeaf,
        /// Trigram query.
        plan: String,
        /// Candidate blocks.
        blocks: u64,
        /// Share of all blocks, from 0 to 1.
        share: f64,
    }

    /// Amount of data to read, and time for it.
    #[derive(Copy)]
    #[schema(as = Cost)]
    struct SearchCost {
        /// Candidate blocks, which the index cannot rule out.
        blocks: u64,
        /// All blocks.
        of: u64,
        /// `blocks` of `of`, from 0 to 1.
        share: f64,
        /// Approximate bytes of the candidate blocks.
        bytes: u64,
        /// Approximate processor time of the backends: that of the estimate, plus a constant per
        /// block.
        milliseconds: f64,
        class: CostClass,
    }

    /// Admission class of a search.
    #[schema(as = Class)]
    enum CostClass {
        /// Starts at once.
        Light,
        /// May wait for other heavy searches.
        Heavy,
    }
}

/// Expression tree: an object with one field, named after the kind of node.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Expression)]
pub enum ExpressionTree {
    /// The text or path matches.
    Pattern(PatternLeaf),
    /// The document satisfies the filter.
    Filter(FilterLeaf),
    /// All of these hold.
    #[schema(no_recursion)]
    All(Vec<ExpressionTree>),
    /// One of these holds.
    #[schema(no_recursion)]
    Any(Vec<ExpressionTree>),
    /// This does not hold.
    #[schema(no_recursion)]
    Not(Box<ExpressionTree>),
    /// This holds for a single line.
    #[schema(no_recursion)]
    Line(Box<ExpressionTree>),
}

shapes! {
    /// Text or regular expression.
    #[schema(as = Pattern)]
    struct PatternLeaf {
        text: String,
        /// `literal` or `regexp`.
        syntax: Cow<'static, str>,
        ignore_case: bool,
        /// Only whole words match.
        word: bool,
        /// Searches the path instead of the text.
        in_path: bool,
        /// Present for names: `definition` or `use`.
        role?: Cow<'static, str>,
        /// Kinds of definitions; all if absent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        kinds: Vec<Cow<'static, str>>,
        /// Regular expression for the name of the definition around a name.
        parent?: String,
        /// Classes of bytes, as in `in:`; all if absent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        classes: Vec<Cow<'static, str>>,
    }

    /// Condition on a document, checked without its text.
    #[schema(as = Filter)]
    struct FilterLeaf {
        /// `package`, `path`, `language`, `extension`, `name`, `revision`, `branch` or `kind`.
        field: Cow<'static, str>,
        /// `regexp`, `exact` or `glob`.
        reading: Cow<'static, str>,
        text: String,
        #[serde(default)]
        ignore_case: bool,
    }
}

impl PatternCost {
    pub(crate) fn new(pattern: &Pattern, estimate: &Estimate, of: u64) -> Self {
        PatternCost {
            pattern: pattern.into(),
            plan: estimate.plan.clone(),
            blocks: estimate.candidates,
            share: share(estimate.candidates, of),
        }
    }
}

/// Returns `part` of `of` as a number from 0 to 1.
pub(crate) fn share(part: u64, of: u64) -> f64 {
    if of == 0 {
        0.0
    } else {
        part as f64 / of as f64
    }
}

impl From<&Expr> for ExpressionTree {
    fn from(expr: &Expr) -> Self {
        let all = |parts: &[Expr]| parts.iter().map(Into::into).collect();
        let boxed = |inner: &Expr| Box::new(inner.into());
        match expr {
            Expr::Pattern(pattern) => ExpressionTree::Pattern(pattern.into()),
            Expr::Filter(filter) => ExpressionTree::Filter(filter.into()),
            Expr::All(parts) => ExpressionTree::All(all(parts)),
            Expr::Any(parts) => ExpressionTree::Any(all(parts)),
            Expr::Not(inner) => ExpressionTree::Not(boxed(inner)),
            Expr::Line(inner) => ExpressionTree::Line(boxed(inner)),
        }
    }
}

fn class_names(bits: u32) -> Vec<Cow<'static, str>> {
    let named = Class::ALL.into_iter();
    let named = named.filter(|class| bits >> *class as u32 & 1 == 1);
    named.map(|class| class.name().into()).collect()
}

copied! {
    pattern: Pattern => PatternLeaf {
        text,
        syntax: match pattern.syntax {
            Syntax::Literal => "literal",
            Syntax::Regexp => "regexp",
        }
        .into(),
        ignore_case,
        word,
        in_path,
        role: match pattern.place.role {
            Role::Any => None,
            Role::Definition => Some("definition".into()),
            Role::Use => Some("use".into()),
        },
        kinds: Kind::names_of(pattern.place.kinds).into_iter().map(Cow::from).collect(),
        parent: Some(pattern.place.parent.clone()).filter(|parent| !parent.is_empty()),
        classes: class_names(pattern.place.classes)
    }
    filter: Filter => FilterLeaf {
        field: match filter.field {
            Field::Package => "package",
            Field::Path => "path",
            Field::Language => "language",
            Field::Extension => "extension",
            Field::Name => "name",
            Field::Revision => "revision",
            Field::Branch => "branch",
            Field::Kind => "kind",
            Field::Type => "type",
            Field::Author => "author",
            Field::Committer => "committer",
            Field::Message => "message",
            Field::Before => "before",
            Field::After => "after",
        }
        .into(),
        reading: match filter.reading {
            Reading::Regexp | Reading::RegexpIgnoringCase => "regexp",
            Reading::Exact => "exact",
            Reading::Glob => "glob",
        }
        .into(),
        text,
        ignore_case: filter.reading == Reading::RegexpIgnoringCase
    }
}

shapes! {
    /// Completions of a query that is being typed.
    #[derive(Default, PartialEq, Eq)]
    struct Completions {
        /// Start of the replaced bytes of the query.
        from: usize,
        /// End of the replaced bytes.
        to: usize,
        /// Most likely first.
        completions: Vec<Completion>,
    }

    /// One completion.
    #[derive(PartialEq, Eq)]
    struct Completion {
        /// Replacement text.
        text: String,
        /// Display name.
        label: String,
        kind: CompletionKind,
        /// Effect in a few words; may be empty.
        about: String,
        /// Present for a symbol: address of a definition, without the base path.
        href?: String,
    }

    /// Kind of a completion.
    enum CompletionKind {
        /// Key with its colon; a value follows.
        Key,
        /// Value of an option, or kind of document.
        Value,
        Language,
        Package,
        /// Path of a file.
        File,
        /// Name of a definition.
        Symbol,
    }
}

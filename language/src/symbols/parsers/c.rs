//! C and its relatives: statements of declarations become definitions, bodies are skipped.
//! The statement around a block goes on behind it: `typedef struct { … } Name;`.
//! A `}` in the first column repairs what the preprocessor unbalances.

mod branch;
mod declaration;
mod declarator;
mod grammar;
mod group;
mod objective;
mod words;

#[cfg(test)]
mod tests;

pub(super) use grammar::{Grammar, Host};

use crate::symbols::{Kind, Line, Outline, Parser, Role, SCOPES_MAX, Token};
use declarator::closing;
use words::Word;

/// Bound of tokens; a longer statement is judged by its head.
const STATEMENT_TOKENS_MAX: usize = 512;

/// Bound of braces; later ones open values.
const OPENS_MAX: usize = 16;

#[derive(Default)]
pub(super) struct C {
    is_shader: bool,
    /// Statements of open scopes, innermost last.
    tokens: Vec<Token>,
    scopes: Vec<Block>,
    brackets: u32,
    opens: usize,
    in_directive: bool,
    branches: Branches,
    /// First definition of a type without a name.
    nameless: Option<u32>,
}

#[derive(Clone, Copy, Default)]
struct Block {
    context: Context,
    /// Start of its statement in the tokens.
    begin: usize,
    brackets: u32,
    opens: usize,
    /// Head in the first column.
    is_first_column: bool,
    /// Line that begins behind the first column.
    is_indented: bool,
    /// First definition in a type without a name.
    nameless: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Context {
    /// Top of a file, namespace, `extern "C"`.
    #[default]
    File,
    Type,
    Enum,
    /// `@interface` and the like.
    Objective,
    /// Function; only types are found.
    Body,
    Value,
}

#[derive(Default)]
struct Branches {
    open: Vec<Branch>,
    deeper: usize,
    /// Open branches of `#if 0`.
    dead: usize,
}

struct Branch {
    /// Scopes at its `#if`.
    depth: usize,
    tokens: usize,
    brackets: u32,
    is_dead: bool,
    /// Skips the others, as the first ended a statement from before.
    is_over: bool,
    /// Depth behind the first branch, and scopes that it opened.
    first: Option<(usize, Vec<Block>)>,
}

impl Branches {
    fn is_dead(&self) -> bool {
        self.dead > 0
    }

    /// True in `#if 0`.
    fn are_zero(&self) -> bool {
        self.open.iter().any(|it| it.is_dead && !it.is_over)
    }
}

impl Parser for C {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let first = line.tokens.first();
        let is_meta = first.is_some_and(|first| first.role == Role::Meta);
        let is_directive = line.is_begin && is_meta && !line.begins_inside;
        if let Some(first) = first.filter(|_| is_directive && !self.in_directive) {
            if outline.bytes(first.range()).starts_with(b"#") {
                self.directive(line.tokens, outline);
                self.in_directive = true;
            } else if !self.branches.is_dead() && self.objective(line, outline) {
                return;
            }
        }
        if self.in_directive {
            let is_continued = line.tokens.last().is_some_and(|last| last.is(b'\\'));
            self.in_directive = is_continued || line.ends_inside || !line.is_end;
        } else if !self.branches.is_dead() {
            self.tokens(line.tokens, line, outline);
        }
    }
}

impl C {
    pub(super) fn shader() -> C {
        C {
            is_shader: true,
            ..C::default()
        }
    }

    fn tokens(&mut self, tokens: &[Token], line: &Line<'_>, outline: &mut Outline<'_>) {
        for (index, token) in tokens.iter().enumerate() {
            let is_first_column = token.start == line.range.start;
            if index == 0 && is_first_column {
                self.first_column(token, outline);
            } else if index == 0
                && let Some(scope) = self.scopes.last_mut()
            {
                scope.is_indented = true;
            }
            self.token(*token, outline);
        }
    }

    /// Repairs scopes and brackets.
    fn first_column(&mut self, token: &Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'{') => self.brackets = 0,
            Role::Sign(b'}') => {
                let is_outer = |scope: &Block| scope.is_first_column;
                if let Some(outer) = self.scopes.iter().rposition(is_outer) {
                    self.leave_to(outer + 1, token.start, outline);
                }
                self.brackets = 0;
            }
            // A macro without `;`.
            Role::Keyword
                if self.brackets == 0
                    && matches!(self.context(), Context::File)
                    && self.statement().last().is_some_and(|last| last.is(b')'))
                    && matches!(token.text(outline), b"static" | b"extern" | b"typedef") =>
            {
                self.end();
            }
            Role::Keyword | Role::Type => self.recover(token, outline),
            Role::Sign(b'-' | b'+') if self.context() == Context::Objective => self.end(),
            _ => {}
        }
    }

    /// Closes a body or value if a word in the first column begins a declaration.
    fn recover(&mut self, token: &Token, outline: &mut Outline<'_>) {
        let is_inside = |context| matches!(context, Context::Body | Context::Value | Context::Enum);
        if !is_inside(self.context()) || !Word::of(token.text(outline)).begins_declaration() {
            return;
        }
        let is_outer = |it: &Block| {
            it.is_first_column
                && is_inside(it.context)
                && (it.is_indented || it.context == Context::Value)
        };
        let Some(depth) = self.scopes.iter().position(is_outer) else {
            return;
        };
        let outer = self.scopes[depth];
        let head = self.tokens.get(..outer.begin).unwrap_or_default().to_vec();
        self.leave_to(depth, token.start, outline);
        if outer.context == Context::Value {
            self.tokens = head;
            self.declare(outline);
        }
    }

    fn context(&self) -> Context {
        self.scopes.last().map_or(Context::File, |it| it.context)
    }

    fn begin(&self) -> usize {
        let begin = self.scopes.last().map_or(0, |scope| scope.begin);
        begin.min(self.tokens.len())
    }

    fn statement(&self) -> &[Token] {
        &self.tokens[self.begin()..]
    }

    fn push(&mut self, token: Token) {
        if self.statement().len() == STATEMENT_TOKENS_MAX {
            self.tokens.pop();
        }
        self.tokens.push(token);
    }

    fn end(&mut self) {
        self.tokens.truncate(self.begin());
        (self.brackets, self.opens) = (0, 0);
        self.nameless = None;
    }

    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match (token.role, self.context()) {
            (Role::Sign(b'{'), _) => self.open(token, outline),
            (Role::Sign(b'}'), _) => self.close(token.end, outline),
            (_, Context::Value) => {}
            (_, Context::Body) => self.token_of_body(token, outline),
            (Role::Sign(b';'), _) => self.declare(outline),
            (Role::Sign(b','), Context::Enum) if self.brackets == 0 => self.enumerator(outline),
            (Role::Sign(sign), _) => {
                match sign {
                    b'(' | b'[' => self.brackets += 1,
                    b')' | b']' => self.brackets = self.brackets.saturating_sub(1),
                    _ => {}
                }
                self.push(token);
            }
            _ => self.push(token),
        }
    }

    /// Keeps types.
    fn token_of_body(&mut self, token: Token, outline: &mut Outline<'_>) {
        let first = self.statement().first().map(|first| first.text(outline));
        let is_alias = matches!(first, Some(b"typedef" | b"using"));
        match token.role {
            Role::Sign(b';') if is_alias => self.declare(outline),
            _ if is_alias => self.push(token),
            Role::Keyword => match token.text(outline) {
                b"struct" | b"union" | b"enum" | b"class" | b"typedef" | b"using" => {
                    self.push(token);
                }
                _ if first.is_some() => self.push(token),
                _ => {}
            },
            _ if first.is_none() => {}
            Role::Word | Role::Type | Role::Sign(b':' | b'<' | b'>' | b',') => self.push(token),
            _ => self.end(),
        }
    }

    fn open(&mut self, brace: Token, outline: &mut Outline<'_>) {
        self.opens += 1;
        let (context, definition) = match self.context() {
            _ if self.opens > OPENS_MAX => (Context::Value, None),
            Context::Body if self.statement().is_empty() => (Context::Body, None),
            context if self.brackets > 0 || context == Context::Value => (Context::Value, None),
            _ => self.opened(outline),
        };
        let head = self.statement().first().unwrap_or(&brace).start;
        let before = outline.text[..head as usize].last();
        let is_type = matches!(context, Context::Type | Context::Enum);
        let is_nameless = is_type && definition.is_none();
        let scope = Block {
            context,
            begin: self.tokens.len(),
            brackets: self.brackets,
            opens: self.opens,
            is_first_column: before.is_none_or(|byte| *byte == b'\n'),
            is_indented: false,
            nameless: is_nameless.then_some(outline.len()),
        };
        self.enter(scope, definition, outline);
    }

    fn enter_context(&mut self, context: Context, of: Option<u32>, outline: &mut Outline<'_>) {
        let scope = Block {
            context,
            begin: self.tokens.len(),
            ..Block::default()
        };
        self.enter(scope, of, outline);
    }

    fn enter(&mut self, scope: Block, definition: Option<u32>, outline: &mut Outline<'_>) {
        if outline.depth() < SCOPES_MAX {
            self.scopes.push(scope);
            (self.brackets, self.opens) = (0, 0);
        }
        outline.enter(definition);
    }

    fn close(&mut self, end: u32, outline: &mut Outline<'_>) {
        if self.context() == Context::Enum {
            self.enumerator(outline);
        }
        let is_deeper = outline.depth() > self.scopes.len();
        outline.leave(end);
        if is_deeper {
            return;
        }
        let Some(scope) = self.scopes.pop() else {
            return self.end();
        };
        self.tokens.truncate(scope.begin);
        (self.brackets, self.opens) = (scope.brackets, scope.opens);
        match scope.context {
            // Instance variables.
            Context::Type if self.context() == Context::Objective => self.end(),
            Context::Type | Context::Enum | Context::Value => {
                let is_inner = self.scopes.iter().any(|scope| scope.nameless.is_some());
                if scope.context != Context::Value {
                    self.nameless = scope.nameless.filter(|_| !is_inner);
                }
                let brace = end.saturating_sub(1)..end;
                self.push(Token::new(brace, Role::Sign(b'{')));
            }
            Context::File | Context::Objective | Context::Body => self.end(),
        }
    }

    fn leave_to(&mut self, depth: usize, end: u32, outline: &mut Outline<'_>) {
        outline.leave_to(depth, end);
        if let Some(outer) = self.scopes.get(depth) {
            self.tokens.truncate(outer.begin);
            self.scopes.truncate(depth);
            self.end();
        }
    }

    /// Skips macros before the name.
    fn enumerator(&mut self, outline: &mut Outline<'_>) {
        let statement = self.statement();
        let mut at = 0;
        while statement.get(at + 1).is_some_and(|next| next.is(b'(')) {
            at = closing(statement, at + 1) + 1;
        }
        let name = statement.get(at).filter(|name| name.is_word());
        outline.define_token(name.copied(), Kind::Enumerator);
        self.end();
    }
}

//! Lisps and WebAssembly: `(` and a word such as `defun` begin a definition, except in a function.
//! A bracket in the first column begins a form of the file, whatever is open.

#[cfg(test)]
mod tests;

use crate::symbols::words::{self, Words};
use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Lisp,
    Clojure,
    Scheme,
    WebAssembly,
}

const BODIES_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Lisp {
    dialect: Dialect,
    words: Words<Option<Kind>>,
    depth: usize,
    /// Brackets around each open body.
    bodies: Vec<usize>,
    expects: Expects,
    last: Option<Token>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Expects {
    #[default]
    Nothing,
    Head,
    Name(Form),
    /// Metadata of Clojure before a name.
    Metadata(Form, usize),
    /// Value; without one it is a declaration.
    Value(u32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Form {
    kind: Kind,
    is_declaration: bool,
    depth: usize,
}

impl Parser for Lisp {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens {
            if token.is(b'(') && token.start == line.range.start {
                self.depth = 0;
                self.close(self.last.map_or(0, |last| last.end), outline);
            }
            self.token(*token, outline);
            self.last = Some(*token);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.last.map_or(0, |last| last.end));
    }
}

impl Lisp {
    pub(crate) fn new(dialect: Dialect) -> Lisp {
        let tables: &[&str] = match dialect {
            Dialect::Lisp => &[LISP],
            Dialect::Clojure => &[CLOJURE],
            Dialect::Scheme => &[LISP, SCHEME],
            Dialect::WebAssembly => &[WEB_ASSEMBLY],
        };
        Lisp {
            dialect,
            words: Words::of(tables, words::kind),
            ..Lisp::default()
        }
    }

    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => self.open(token),
            Role::Sign(b')' | b']' | b'}') => {
                self.depth = self.depth.saturating_sub(1);
                self.close(token.end, outline);
                self.end_form(outline);
            }
            Role::Sign(sign) if b"'`,#:^;\\.".contains(&sign) => {}
            Role::Sign(_) if !matches!(self.expects, Expects::Name(_)) => {}
            Role::Sign(_) | Role::Word | Role::Keyword | Role::Type => self.word(token, outline),
            _ if matches!(self.expects, Expects::Metadata(..)) => {}
            _ => self.expects = Expects::Nothing,
        }
    }

    fn open(&mut self, token: Token) {
        self.depth += 1;
        let last = self.last.filter(|last| last.end == token.start);
        let is_quoted = last.is_some_and(|last| last.is(b'\''));
        self.expects = match self.expects {
            Expects::Metadata(..) => return,
            Expects::Name(form) if token.is(b'{') => Expects::Metadata(form, self.depth),
            Expects::Name(_) if token.is(b'(') => return,
            _ if token.is(b'(') && !is_quoted => Expects::Head,
            _ => Expects::Nothing,
        };
    }

    fn close(&mut self, end: u32, outline: &mut Outline<'_>) {
        while self.bodies.last().is_some_and(|body| *body > self.depth) {
            self.bodies.pop();
            outline.leave(end);
        }
    }

    fn end_form(&mut self, outline: &mut Outline<'_>) {
        self.expects = match self.expects {
            Expects::Metadata(form, depth) if self.depth < depth => Expects::Name(form),
            Expects::Metadata(..) => return,
            Expects::Value(index) => {
                outline.definition(index).is_declaration = true;
                Expects::Nothing
            }
            _ => Expects::Nothing,
        };
    }

    fn word(&mut self, token: Token, outline: &mut Outline<'_>) {
        match self.expects {
            Expects::Head => self.head(token, outline),
            Expects::Name(form) => self.name(token, form, outline),
            Expects::Metadata(..) => {}
            _ => self.expects = Expects::Nothing,
        }
    }

    fn head(&mut self, token: Token, outline: &mut Outline<'_>) {
        self.expects = Expects::Nothing;
        let inside = outline.innermost_kind();
        let is_type = matches!(inside, Some(Kind::Interface | Kind::Struct));
        let is_declaration = inside == Some(Kind::Interface);
        let is_member = self
            .bodies
            .last()
            .is_some_and(|body| body + 1 == self.depth);
        if self.dialect == Dialect::Clojure && is_member && is_type {
            return self.define(token, self.form(Kind::Method, is_declaration), outline);
        }
        if matches!(inside, Some(Kind::Function | Kind::Method | Kind::Macro)) {
            return;
        }
        let text = token.text(outline);
        if let Some(kind) = self.kind(text) {
            let is_import = self.dialect == Dialect::WebAssembly && self.is_import(token, outline);
            let is_promise = matches!(text, b"declare-function" | b"defgeneric" | b":");
            self.expects = Expects::Name(self.form(kind, is_import || is_promise));
        }
    }

    fn form(&self, kind: Kind, is_declaration: bool) -> Form {
        let depth = self.depth;
        Form {
            kind,
            is_declaration,
            depth,
        }
    }

    fn kind(&self, text: &[u8]) -> Option<Kind> {
        let known = match self.dialect {
            // `s/defn`
            Dialect::Clojure => text.rsplit(|byte| *byte == b'/').next().unwrap_or(text),
            Dialect::Lisp => text.strip_prefix(b"cl-").unwrap_or(text),
            _ => text,
        };
        // Macro such as `deftask`.
        let is_own = text.starts_with(b"def") && !text.starts_with(b"default") && self.depth == 1;
        let own = is_own.then_some(Kind::Function);
        self.words.get(known).unwrap_or(own)
    }

    fn is_import(&self, head: Token, outline: &Outline<'_>) -> bool {
        let start = head.start.saturating_sub(128);
        let before = outline.bytes(start..head.start);
        let line = memchr::memrchr(b'\n', before).map_or(before, |end| &before[end..]);
        memchr::memmem::find(line, b"(import").is_some()
    }

    fn name(&mut self, token: Token, form: Form, outline: &mut Outline<'_>) {
        let text = token.text(outline);
        let is_hint = self.last.is_some_and(|last| last.is(b'^'));
        if self.last.is_some_and(|last| last.is(b',')) {
            self.expects = Expects::Nothing;
            return;
        }
        // `(defun (setf name) …)`
        if is_hint || text == b"setf" {
            return;
        }
        self.expects = Expects::Nothing;
        if self.dialect == Dialect::WebAssembly && !text.starts_with(b"$") {
            return;
        }
        self.define(token, form, outline);
    }

    fn define(&mut self, token: Token, form: Form, outline: &mut Outline<'_>) {
        let mut range = token.range();
        // Symbols of Common Lisp: `:name`, `#:name`.
        let text = token.text(outline);
        let sign = usize::from(text.starts_with(b"#"));
        if text.len() > sign + 1 && text[sign] == b':' {
            range.start += 1 + sign as u32;
        }
        let is_list = self.dialect == Dialect::Scheme && self.depth > form.depth;
        let kind = match form.kind {
            Kind::Variable if is_list => Kind::Function,
            kind => kind,
        };
        let index = outline.define(range, kind);
        outline.set_declaration(index.filter(|_| form.is_declaration));
        if self.bodies.len() < BODIES_MAX {
            outline.enter(index);
            self.bodies.push(form.depth);
        }
        if let (Some(index), Kind::Variable, Dialect::Lisp) = (index, kind, self.dialect) {
            self.expects = Expects::Value(index);
        }
    }
}

const LISP: &str = "
    function: defun defsubst define-inline defun* define-minor-mode define-derived-mode defalias
        define-globalized-minor-mode define-compilation-mode define-generic-mode deftest defsetf
        declare-function define-compiler-macro ert-deftest transient-define-prefix
        transient-define-suffix transient-define-infix transient-define-argument;
    method: defgeneric defmethod; class: defclass define-condition; struct: defstruct;
    macro: defmacro defmacro* define-modify-macro define-symbol-macro; type: deftype;
    variable: defvar defvar-local defcustom defparameter defface defgroup defvar-keymap defglobal;
    constant: defconst defconstant; module: defpackage define-package defsystem;
    none: define-key define-abbrev define-abbrev-table define-prefix-command defer defadvice
        define-coding-system-alias deftheme";
const CLOJURE: &str = "
    variable: def defonce; function: defn defn- defmulti deftest; method: defmethod;
    macro: defmacro; interface: defprotocol definterface; struct: defrecord deftype defstruct;
    module: ns";
const SCHEME: &str = "
    variable: define define* define-public define/contract define-values define-parameter
        define-constant define-integrable;
    function: define-inlinable : define-generic; class: define-class;
    method: define/public define/private define/override define-method;
    macro: define-syntax define-syntax-rule define-macro defmacro;
    struct: define-record-type struct define-struct define-structure;
    module: module module+ define-module define-library library";
const WEB_ASSEMBLY: &str =
    "module: module; function: func; variable: global memory table; type: type";

//! Lisps and WebAssembly: `(` and a word such as `defun` begin a definition, except in a function.
//! A bracket in the first column begins a form of the file, whatever is open.

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Lisp,
    Clojure,
    Scheme,
    WebAssembly,
}

const BODIES_MAX: usize = 64;

pub(crate) struct Lisp {
    dialect: Dialect,
    depth: usize,
    /// Brackets around each open body.
    bodies: Vec<usize>,
    expects: Expects,
    last: Option<Token>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
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
        Lisp {
            dialect,
            depth: 0,
            bodies: Vec::new(),
            expects: Expects::Nothing,
            last: None,
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
            Role::Sign(_) => {}
            Role::Word | Role::Keyword | Role::Type => self.word(token, outline),
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
        let is_member = self
            .bodies
            .last()
            .is_some_and(|body| body + 1 == self.depth);
        let is_declaration = inside == Some(Kind::Interface);
        if self.dialect == Dialect::Clojure
            && is_member
            && matches!(inside, Some(Kind::Interface | Kind::Struct))
        {
            let (kind, depth) = (Kind::Method, self.depth);
            let form = Form {
                kind,
                is_declaration,
                depth,
            };
            return self.define(token, form, outline);
        }
        if matches!(inside, Some(Kind::Function | Kind::Method | Kind::Macro)) {
            return;
        }
        let text = token.text(outline);
        if let Some(kind) = self.kind(text) {
            let is_import = self.dialect == Dialect::WebAssembly && self.is_import(token, outline);
            self.expects = Expects::Name(Form {
                kind,
                is_declaration: is_import
                    || matches!(text, b"declare-function" | b"defgeneric" | b":"),
                depth: self.depth,
            });
        }
    }

    fn kind(&self, text: &[u8]) -> Option<Kind> {
        let kind = match self.dialect {
            Dialect::WebAssembly => return of_webassembly(text),
            Dialect::Scheme => of_scheme(text).or_else(|| of_lisp(text)),
            // `s/defn`
            Dialect::Clojure => {
                of_clojure(text.rsplit(|byte| *byte == b'/').next().unwrap_or(text))
            }
            Dialect::Lisp => of_lisp(text.strip_prefix(b"cl-").unwrap_or(text)),
        };
        // Macro such as `deftask`.
        let is_own = text.starts_with(b"def") && !text.starts_with(b"default");
        kind.or_else(|| (is_own && self.depth == 1 && !is_setter(text)).then_some(Kind::Function))
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
        let index = if form.is_declaration {
            outline.declare(range, kind)
        } else {
            outline.define(range, kind)
        };
        if self.bodies.len() < BODIES_MAX {
            outline.enter(index);
            self.bodies.push(form.depth);
        }
        if let (Some(index), Kind::Variable, Dialect::Lisp) = (index, kind, self.dialect) {
            self.expects = Expects::Value(index);
        }
    }
}

fn of_lisp(text: &[u8]) -> Option<Kind> {
    Some(match text {
        b"defun" | b"defsubst" | b"define-inline" | b"defun*" | b"define-minor-mode" => {
            Kind::Function
        }
        b"define-derived-mode" | b"define-globalized-minor-mode" | b"defalias" => Kind::Function,
        b"define-compilation-mode" | b"define-generic-mode" | b"declare-function" => Kind::Function,
        b"define-compiler-macro" | b"defsetf" | b"ert-deftest" | b"deftest" => Kind::Function,
        b"transient-define-prefix" | b"transient-define-suffix" => Kind::Function,
        b"transient-define-infix" | b"transient-define-argument" => Kind::Function,
        b"defgeneric" | b"defmethod" => Kind::Method,
        b"defmacro" | b"defmacro*" | b"define-modify-macro" | b"define-symbol-macro" => Kind::Macro,
        b"defvar" | b"defvar-local" | b"defcustom" | b"defparameter" | b"defface" => Kind::Variable,
        b"defgroup" | b"defvar-keymap" | b"defglobal" => Kind::Variable,
        b"defconst" | b"defconstant" => Kind::Constant,
        b"defclass" | b"define-condition" => Kind::Class,
        b"defstruct" => Kind::Struct,
        b"deftype" => Kind::Type,
        b"defpackage" | b"define-package" | b"defsystem" => Kind::Module,
        _ => return None,
    })
}

fn of_clojure(text: &[u8]) -> Option<Kind> {
    Some(match text {
        b"def" | b"defonce" => Kind::Variable,
        b"defn" | b"defn-" | b"defmulti" | b"deftest" => Kind::Function,
        b"defmethod" => Kind::Method,
        b"defmacro" => Kind::Macro,
        b"defprotocol" | b"definterface" => Kind::Interface,
        b"defrecord" | b"deftype" | b"defstruct" => Kind::Struct,
        b"ns" => Kind::Module,
        b"declare" => return None,
        _ => return None,
    })
}

fn of_scheme(text: &[u8]) -> Option<Kind> {
    Some(match text {
        b"define" | b"define*" | b"define-public" | b"define/contract" | b"define-values" => {
            Kind::Variable
        }
        b"define-parameter" | b"define-constant" | b"define-integrable" => Kind::Variable,
        b"define-inlinable" | b":" | b"define-generic" => Kind::Function,
        b"define/public" | b"define/private" | b"define/override" | b"define-method" => {
            Kind::Method
        }
        b"define-syntax" | b"define-syntax-rule" | b"define-macro" | b"defmacro" => Kind::Macro,
        b"define-record-type" | b"struct" | b"define-struct" | b"define-structure" => Kind::Struct,
        b"define-class" => Kind::Class,
        b"module" | b"module+" | b"define-module" | b"define-library" | b"library" => Kind::Module,
        _ => return None,
    })
}

fn of_webassembly(text: &[u8]) -> Option<Kind> {
    Some(match text {
        b"module" => Kind::Module,
        b"func" => Kind::Function,
        b"global" | b"memory" | b"table" => Kind::Variable,
        b"type" => Kind::Type,
        _ => return None,
    })
}

fn is_setter(text: &[u8]) -> bool {
    matches!(
        text,
        b"define-key" | b"define-abbrev" | b"define-abbrev-table" | b"define-prefix-command"
    ) || matches!(
        text,
        b"defer" | b"defadvice" | b"define-coding-system-alias" | b"deftheme"
    )
}

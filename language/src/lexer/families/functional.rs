//! Functional and logic languages, and Lisps.

use crate::lexer::Colour::{Keyword, Meta, Type};
use crate::lexer::quote::{Quote, block, line, nested, one, raw, string, text};
use super::{BACKSLASH, CODES, Family, KEYS};

const LISP_QUOTES: &[Quote] = &[line(";"), nested("#|", "|#"), text("\"", "\"")];
const ML_QUOTES: &[Quote] = &[nested("(*", "*)"), text("\"", "\""), one("'")];
const OCAML_QUOTES: &[Quote] = &[nested("(*", "*)"), raw("{|", "|}"), text("\"", "\""), one("'")];
const HASKELL_QUOTES: &[Quote] = &[
    raw("{-#", "#-}").coloured(Meta), nested("{-", "-}"), line("--").no_operator(), string("\""), one("'"),
];

const LISP_WORDS: &str = "and begin begin0 case cond condition-case let let* letrec letrec* lambda named-lambda if or not \
    quote quasiquote unquote set! setq setf setq-default define define-syntax define-record-type define-struct defun \
    defmacro defvar defparameter defconst defconstant defcustom defgroup defface defsubst define-minor-mode \
    define-derived-mode defclass defgeneric defmethod defstruct deftype defpackage defn defn- def defonce defmulti \
    defprotocol defrecord deftest in-package do dolist dotimes loop recur progn prog1 prog2 unless when while \
    unwind-protect catch throw error eval-when eval-when-compile declare interactive require provide import library \
    module export use-modules ns fn for doseq binding try finally nil t true false flet labels macrolet \
    multiple-value-bind destructuring-bind save-excursion with-current-buffer #t #f else match parameterize values";
const ML_WORDS: &str = "and as assert begin class constraint do done downto else end exception external false for \
    fun function functor if in include inherit initializer lazy let match method module mutable new nonrec object of \
    open or private rec sig struct then to true try type val virtual when while with";
const HASKELL_WORDS: &str = "as case class data default deriving do else family forall foreign hiding if import in \
    infix infixl infixr instance let mdo module newtype of pattern proc qualified rec then type where";

pub(crate) static LISP: Family = Family::new(LISP_QUOTES)
    .words(&[(Keyword, LISP_WORDS)]).features(BACKSLASH).names_with("-*!?<>=/+:#%&.$");
pub(crate) static OCAML: Family = Family::new(OCAML_QUOTES)
    .words(&[(Keyword, ML_WORDS), (Type, "array bool bytes char exn float int int32 int64 list option ref result string unit")]).names_with("'");
pub(crate) static REASON: Family = Family::new(&[line("//"), nested("/*", "*/"), raw("{|", "|}"), text("\"", "\""), one("'")])
    .words(&[(Keyword, ML_WORDS), (Keyword, "switch"), (Type, "array bool bytes char exn float int list option ref result string unit")]).names_with("'");
pub(crate) static STANDARD_ML: Family = Family::new(ML_QUOTES)
    .words(&[(Keyword, ML_WORDS), (Keyword, "abstype andalso case datatype eqtype fn handle infix infixr local nonfix op orelse raise sharing signature structure where withtype"),
        (Type, "bool char int list option order real ref string unit word")]).names_with("'");
pub(crate) static FSHARP: Family = Family::new(&[line("//"), nested("(*", "*)"), text("\"\"\"", "\"\"\""), raw("@\"", "\""), text("\"", "\""), one("'")])
    .words(&[(Keyword, ML_WORDS), (Keyword, "abstract async base default delegate elif finally inline interface internal member namespace null override public return select static upcast use void yield"),
        (Type, "bool byte char decimal double float int int64 list obj option seq string unit")]).names_with("'");
pub(crate) static HASKELL: Family = Family::new(HASKELL_QUOTES)
    .words(&[(Keyword, HASKELL_WORDS), (Keyword, "interface implementation total partial covering with rewrite using public export abstract record field constructor open postulate mutual"),
        (Type, "Bool Char Double Either Float IO Int Integer Maybe Ordering String Word Text ByteString")]).names_with("'");
pub(crate) static CABAL: Family = Family::new(&[line("--").first()]).features(KEYS).names_with("-");
pub(crate) static ELM: Family = Family::new(&[nested("{-", "-}"), line("--"), text("\"\"\"", "\"\"\""), string("\""), one("'")])
    .words(&[(Keyword, "alias as case else effect exposing if import in infix let module of port then type where"), (Type, "Bool Char Float Int List Maybe Result String")]);
pub(crate) static ERLANG: Family = Family::new(&[line("%"), text("\"", "\""), string("'")])
    .words(&[(Keyword, "after and andalso band begin bnot bor bsl bsr bxor case catch cond div else end fun if let maybe not of or orelse receive rem try when xor true false undefined ok error")]).names_with("?@").features(CODES);
pub(crate) static PROLOG: Family = Family::new(&[line("%"), block("/*", "*/"), string("\""), string("'")])
    .words(&[(Keyword, "is mod rem not fail true false dynamic discontiguous module use_module initialization findall assert asserta assertz retract")]).features(CODES);
pub(crate) static WEBASSEMBLY: Family = Family::new(&[line(";;"), nested("(;", ";)"), string("\"")])
    .words(&[(Keyword, "module func param result local global memory table type import export data elem start call if then else end loop block br br_if return drop select mut"), (Type, "i32 i64 f32 f64 v128 funcref externref")]).names_with("$.");

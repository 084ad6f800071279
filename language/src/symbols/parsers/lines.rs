//! Languages with a definition a line: build systems and commands.

#[cfg(test)]
mod tests;

use super::super::Kind::*;
use super::super::forms::Act::*;
use super::super::forms::{ANYWHERE, FOLD, RECIPES, Table};

/// Conditions of Automake go before a name: `@HAS_X_TRUE@name`.
#[rustfmt::skip]
pub(super) static MAKE: Table = Table::of(&[
    (r"[ \t]*(?:ifeq|ifneq|ifdef|ifndef|else|endif|-?include)(?:[ \t(]|$)", Skip),
    (r"[ \t]*endef\b", Close),
    (r"[ ]*{MODIFIER}*define[ \t]+([^\s=]+)", Level(Variable, 0)),
    (r"[ \t]*{MODIFIER}+([^\s:=#$(){}+?!]+){SET}", First(Variable)),
    (r"[ \t]*(?:@[^@\s]*@)*([^@\s:=#$(){}+?!][^\s:=#$(){}+?!]*){SET}", First(Variable)),
    (r"[ \t]*([^\s:=#$(){}]*(?:\$\([^()]*\)|\$\{[^{}]*\})[^\s:=#(){}]*){SET}", First(Variable)),
    (r"[ \t]*(?:@[^@\s]*@)*((?:[^@ :=#$(){}\t]|{VALUE})(?:[^:=#$(){}\t]|{VALUE})*)::?(?:[^=:]|$)", Words(Target)),
    (r"[ \t]*(@(?:[^:=#$(){}\t]|{VALUE})*)::?(?:[^=:]|$)", Words(Target)),
])
.with(RECIPES)
.goes_on(b"\\")
.parts(&[
    ("{MODIFIER}", r"(?:(?:export|override|private|unexport)[ \t]+)"),
    ("{SET}", r"[ \t]*(?:[+?!]|::?)?="),
    ("{VALUE}", r"\$(?:\$?(?:\([^()]*\)|\{[^{}]*\})|[@<*^\w])"),
]);

pub(super) static QMAKE: Table =
    Table::of(&[(r"[ \t]*([^\s:=#(){}]+?)[ \t]*[+*~-]?=", First(Variable))]).goes_on(b"\\");

pub(super) static NINJA: Table = Table::of(&[
    (r"(?:rule|pool) +(\S+)", Define(Rule)),
    (r"build +([^:]+):", Words(Target)),
    (r"(\w[\w.-]*) *=", First(Variable)),
])
.goes_on(b"$");

pub(super) static KCONFIG: Table = Table::of(&[
    (
        r"[ \t]*(?:menu)?config[ \t]+([A-Z0-9_]+)[ \t]*$",
        Level(Constant, 0),
    ),
    (r"[^\s#]", Level(Constant, 0)),
])
.goes_on(b"\\");

#[rustfmt::skip]
pub(super) static CMAKE: Table = Table::of(&[
    (r#"\s*function{NAME}"#, Level(Function, 0)),
    (r#"\s*macro{NAME}"#, Level(Macro, 0)),
    (r"\s*(?:endfunction|endmacro)\s*\(", Close),
    (r#"\s*add_(?:executable|library|custom_target){NAME}"#, Define(Target)),
    (r#"\s*(?:cmake_dependent_)?option{NAME}"#, Define(Constant)),
    (r#"\s*project{NAME}"#, Define(Module)),
    (r#"\s*set{NAME}.*\b(?:CACHE|PARENT_SCOPE)\b"#, First(Variable)),
    (r#"\s*set{NAME}"#, Outer(Variable)),
])
.with(FOLD)
.parts(&[("{NAME}", r#"\s*\(\s*"?([\w.+/:@-]+)(?:[\s)"]|$)"#)]);

/// `AC_DEFUN([name], …)`, ``define(`name', …)``.
#[rustfmt::skip]
pub(super) static M4: Table = Table::of(&[
        (
            r"\b(?:define|m4_define|m4_define_default|m4_defun|m4_defun_once|m4_defun_init|m4_copy|AC_DEFUN|AC_DEFUN_ONCE|AU_DEFUN|AU_ALIAS|AC_DEFUNC){OPEN}(\w[\w.+-]*(?:\([\w .+-]*\))?){END}",
            Define(Macro),
        ),
        (
            r"\b(?:AC_SUBST|AC_SUBST_FILE|AC_ARG_VAR){OPEN}(\w+){END}",
            First(Variable),
        ),
        (
            r"\b(?:AC_DEFINE|AC_DEFINE_UNQUOTED|AH_TEMPLATE){OPEN}(\w+){END}",
            First(Constant),
        ),
        (
            r"\b(?:AC_ARG_ENABLE|AC_ARG_WITH|AM_CONDITIONAL){OPEN}([\w.+-]+){END}",
            First(Key),
        ),
        (r"\bAC_INIT{OPEN}([^$\]\['`,)][^\]\['`,)]*)", First(Module)),
    ])
.with(ANYWHERE)
.needs(b'(')
.parts(&[("{OPEN}", r"\([\[`]*"), ("{END}", r"(?:\](?:[\s,)]|$)|[',)]|$)")]);

pub(super) static DOCKERFILE: Table = Table::of(&[
    (r"FROM\s.*?\sAS\s+([\w.-]+)", Level(Target, 0)),
    (r"FROM\b", Level(Target, 0)),
    (r"(?:ARG|ENV)\s+(\w+)(?:\s|$)", First(Variable)),
    (r"(?:ARG|ENV)\s+(.*)", Words(Variable)),
])
.with(FOLD)
.goes_on(b"\\");

pub(super) static BATCHFILE: Table = Table::of(&[
    (r"\s*:([\w.$#@!-]+)", Level(Label, 0)),
    (
        r#"(?:.*?[\s(&@])?set\s+(?:/[ap]\s+)?"?([\w.-]+)\s*="#,
        First(Variable),
    ),
])
.with(FOLD)
.goes_on(b"^");

#[rustfmt::skip]
pub(super) static VIM: Table = Table::of(&[
    (r"{COLONS}(?:(?:export|static|silent!?)\s+)*(?:fu(?:n(?:c(?:t(?:i(?:on?)?)?)?)?)?|def)!?\s+(?:(?<of>[\w#:.<>]*)[:#])?([\w.<>]+)\s*\(", Level(Function, 0)),
    (r"{COLONS}(?:endf(?:u(?:n(?:c(?:t(?:i(?:on?)?)?)?)?)?)?|enddef)\b", Close),
    (r"{COLONS}com(?:mand)?!?\s+(?:-\S+\s+)*(\w+)", First(Macro)),
    (r"{COLONS}aug(?:roup)?!?\s+(?i:END)\b", Skip),
    (r"{COLONS}aug(?:roup)?!?\s+(\w+)", First(Module)),
    (r"{COLONS}(?:export\s+)?(?:let|var)\s+(?:[\w:#]*[:#])?(\w+)\s*=[^=~>]", Outer(Variable)),
    (r"{COLONS}(?:export\s+)?(?:const|final)\s+(?:[\w:#]*[:#])?(\w+)\s*=[^=~>]", Outer(Constant)),
])
.parts(&[("{COLONS}", r"\s*:*\s*")]);

pub(super) static TCSH: Table = Table::of(&[
    (r"\s*alias\s+([\w.-]+)", First(Macro)),
    (r"\s*(?:set|setenv)\s+([\w.-]+)", First(Variable)),
    (r"\s*default\s*:", Skip),
    (r"\s*(\w+)\s*:\s*$", Define(Label)),
])
.goes_on(b"\\");

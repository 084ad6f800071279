//! Scripts, build systems, and languages with words as blocks.

use crate::lexer::Colour::{Comment, Keyword, Meta, Type};
use crate::lexer::quote::{
    Hole, Quote, block, column_block, doubled, indented, line, nested, one, raw, string, text,
};
use super::{
    ANY_CASE, AT, BACKSLASH, CHARACTERS, COMMANDS, DOLLAR, Family, HEREDOC, KEYS, LONG, PERCENT, PROSE, QUOTING, REGEX, SIGILS,
};

const PYTHON_QUOTES: &[Quote] = &[
    line("#"), text("\"\"\"", "\"\"\""), text("'''", "'''"), string("\""), string("'"),
    text("f\"\"\"", "\"\"\"").holes(BRACES).inner(), text("f'''", "'''").holes(BRACES).inner(),
    text("f\"", "\"").within_line().holes(BRACES).inner(), text("f'", "'").within_line().holes(BRACES).inner(),
];
const BRACES: &[Hole] = &[Hole::code("{", b'}')];
/// `__END__` has no end: the rest is data.
const POD: &[Hole] = &[Hole::form("=")];
const HASH_BRACES: &[Hole] = &[Hole::code("#{", b'}')];
const PYTHON_PREFIXES: &[&str] = &["r", "u", "b", "br", "rb", "f", "fr", "rf"];
const IN_SHELL_STRING: &[Hole] = &[Hole::code("$(", b')'), Hole::code("`", b'`'), Hole::form("${")];
const IN_SHELL_BRACES: &[Hole] = &[Hole::code("$(", b')'), Hole::code("`", b'`'), Hole::form("${"), Hole::form("\"")];
const SHELL_QUOTES: &[Quote] = &[
    line("#").blank(), text("\"", "\"").holes(IN_SHELL_STRING), text("$'", "'"), raw("'", "'"),
    text("${", "}").holes(IN_SHELL_BRACES).inner(),
];
/// Descriptions and changes have apostrophes.
const SPEC_QUOTES: &[Quote] = &[
    line("#").blank(), text("\"", "\"").within_line(), raw("'", "'").blank().within_line(),
];

const RAKU_QUOTES: &[Quote] = &[
    block("=begin", "=end").first(), line("=head").first(), line("=for").first(), line("=item").first(),
    line("#").blank(), text("\"", "\""), text("'", "'"),
];

const PYTHON_WORDS: &str = "False None True and as assert async await break class continue def del \
    elif else except finally for from global if import in is lambda match nonlocal not or pass raise \
    return try while with yield self cls";
const PYTHON_TYPES: &str =
    "bool bytearray bytes complex dict float frozenset int list object set str tuple type";
const SHELL_WORDS: &str = "if then else elif fi case esac for select while until do done in function time \
    break continue return exit export local readonly declare typeset unset shift source alias eval exec set \
    trap echo printf read test cd true false";
const BASIC_WORDS: &str = "addhandler addressof and andalso as byref byval call case catch class const continue \
    declare default dim do each else elseif end enum erase error event exit false finally for friend function \
    get goto if implements imports in inherits interface is let lib like loop me mod module mustinherit namespace \
    new next not nothing of on option optional or orelse overrides private property protected public raiseevent \
    readonly redim resume return select set shared static step stop structure sub then throw to true try using \
    wend when while with xor";

pub(crate) static PYTHON: Family = Family::new(PYTHON_QUOTES)
    .words(&[(Keyword, PYTHON_WORDS), (Type, PYTHON_TYPES), (Keyword, "foreach endforeach endif load true false")]).features(AT).prefixes(PYTHON_PREFIXES);
pub(crate) static CYTHON: Family = Family::new(PYTHON_QUOTES)
    .words(&[(Keyword, PYTHON_WORDS), (Type, PYTHON_TYPES), (Keyword, "cdef cpdef cimport ctypedef extern nogil gil include struct union enum public inline"),
        (Type, "char double void long short unsigned size_t")]).features(AT).prefixes(PYTHON_PREFIXES);
pub(crate) static SHELL: Family = Family::new(SHELL_QUOTES)
    .words(&[(Keyword, SHELL_WORDS), (Meta, "%build %install %files %prep %description %changelog %package %post %postun %check %setup")])
    .features(HEREDOC | BACKSLASH | DOLLAR).names_with("%");
pub(crate) static SPEC: Family = Family { quotes: SPEC_QUOTES, ..SHELL };
pub(crate) static TCSH: Family = Family::new(SHELL_QUOTES)
    .words(&[(Keyword, SHELL_WORDS), (Keyword, "and begin breaksw default else end endif endsw foreach goto not or repeat setenv switch")])
    .features(BACKSLASH | DOLLAR);
pub(crate) static PERL: Family = Family::new(&[
    column_block("=", "=cut"), raw("__END__", "\n").plain().column().holes(POD), raw("__DATA__", "\n").plain().column().holes(POD),
    line("#").blank(), text("\"", "\""), text("'", "'"), text("`", "`"),
]).words(&[(Keyword, "and cmp continue do else elsif eq for foreach ge given gt if last le local lt my ne next no not or our package redo ref require return sub state undef unless until use when while x xor BEGIN END __PACKAGE__ __END__ __DATA__ bless die warn print printf say push pop shift unshift splice sort map grep keys values each delete exists defined scalar split join wantarray eval open close class method has multi role grammar token rule regex")])
    .features(REGEX | HEREDOC | QUOTING).names_with("$@%&").heads(&["sub ", "package "]);
pub(crate) static RAKU: Family = Family { quotes: RAKU_QUOTES, ..PERL };
pub(crate) static RUBY: Family = Family::new(&[
    column_block("=begin", "=end"), line("#"), text("\"", "\"").holes(HASH_BRACES), text("'", "'"), text("`", "`").holes(HASH_BRACES),
]).words(&[(Keyword, "BEGIN END alias and attr_accessor attr_reader attr_writer begin break case class def defined do else elsif end ensure extend false for if in include lambda module next nil not or private proc protected public raise redo require require_relative rescue retry return self super then true undef unless until when while yield __FILE__ __LINE__ macro struct lib fun enum abstract")])
    .features(REGEX | HEREDOC | PERCENT | CHARACTERS).names_with("@$?!").heads(&["def ", "class ", "module "]);
pub(crate) static ELIXIR: Family = Family::new(&[
    line("#"), text("\"\"\"", "\"\"\"").holes(HASH_BRACES), text("'''", "'''"), text("\"", "\"").holes(HASH_BRACES), string("'"),
]).words(&[(Keyword, "after alias and case catch cond def defcallback defdelegate defexception defguard defimpl defmacro defmacrop defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue super throw true try unless unquote use when with")])
    .features(AT | CHARACTERS | SIGILS).names_with("?!").heads(&["defmodule ", "defimpl ", "defprotocol "]);
pub(crate) static COFFEESCRIPT: Family = Family::new(&[
    block("###", "###"), line("#"), text("\"\"\"", "\"\"\"").holes(HASH_BRACES), text("'''", "'''"), text("\"", "\"").holes(HASH_BRACES), text("'", "'"),
]).words(&[(Keyword, "and break by case catch class continue delete do else export extends false finally for from if import in instanceof is isnt loop new no not null of off on or own return super switch then this throw true try typeof undefined unless until when while yes yield")])
    .features(REGEX | AT);
pub(crate) static LUA: Family = Family::new(&[line("#!").column(), string("\""), string("'")])
    .words(&[(Keyword, "and break do else elseif end false for function goto if in local nil not or repeat return self then true until while")])
    .features(LONG);
pub(crate) static TCL: Family = Family::new(&[line("#").blank(), text("\"", "\"").blank()])
    .words(&[(Keyword, "after append array break catch continue else elseif error eval exec exit expr for foreach format global if incr info lappend lindex list llength namespace package proc puts regexp regsub rename return set source string switch then trace unset uplevel upvar variable while")])
    .features(BACKSLASH | DOLLAR).heads(&["proc "]);
pub(crate) static R: Family = Family::new(&[line("#"), text("\"", "\""), text("'", "'"), string("`")])
    .words(&[(Keyword, "FALSE Inf NA NULL NaN TRUE break else for function if in library next repeat require return while")]).names_with(".");
pub(crate) static JULIA: Family = Family::new(&[
    nested("#=", "=#"), line("#"), text("\"\"\"", "\"\"\""), text("\"", "\""), one("'"),
]).words(&[(Keyword, "abstract baremodule begin break catch const continue do else elseif end export false finally for function global if import in isa let local macro missing module mutable nothing primitive quote return struct true try type using where while"),
    (Type, "Any Array Bool Char Dict Float32 Float64 Int Int32 Int64 String UInt8 Vector")]).features(AT).names_with("!").heads(&["function ", "struct ", "module ", "macro ", "mutable struct "]);
pub(crate) static NIM: Family = Family::new(&[
    nested("#[", "]#"), line("#"), raw("\"\"\"", "\"\"\""), string("\""), one("'"),
]).words(&[(Keyword, "addr and as asm bind block break case cast concept const continue converter defer discard distinct div do elif else end enum except export false finally for from func if import in include interface is isnot iterator let macro method mixin mod nil not notin object of or out proc ptr raise ref return shl shr static template true try tuple type using var when while xor yield"),
    (Type, "bool char float int int32 int64 string uint void seq array")]);
pub(crate) static POWERSHELL: Family = Family::new(&[
    block("<#", "#>"), line("#").blank(), raw("@\"", "\"@"), raw("@'", "'@"), doubled("\"", "\"").lines(), doubled("'", "'").lines(),
]).words(&[(Keyword, "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from function hidden if in param process return static switch throw trap try until using while")])
    .features(ANY_CASE | DOLLAR).names_with("-").heads(&["function ", "Function ", "class "]);
pub(crate) static BATCHFILE: Family = Family::new(&[line("::").first(), line("@rem ").first(), line("rem ").first(), string("\"")])
    .words(&[(Keyword, "call cd choice cls copy defined del do echo else endlocal equ errorlevel exist exit for geq goto gtr if in leq lss mkdir move neq not off on pause popd pushd ren rmdir set setlocal shift start type")])
    .features(ANY_CASE).names_with("%");
pub(crate) static VIM_SCRIPT: Family = Family::new(&[line("\"").first(), string("\""), doubled("'", "'")])
    .words(&[(Keyword, "abort autocmd augroup au break call catch command continue echo echom else elseif endif endfor endfunction endtry endwhile execute exe finally finish for func function if in let map nmap vmap imap inoremap nnoremap noremap vnoremap normal return runtime set setlocal silent source syntax throw try unlet while highlight def enddef var const vim9script import export")])
    .names_with(":#");
pub(crate) static MAKEFILE: Family = Family::new(&[line("#"), string("\"")])
    .words(&[(Keyword, "define endef else endif export ifdef ifeq ifndef ifneq include override private sinclude undefine unexport vpath build rule pool subninja default config menu menuconfig endmenu choice endchoice depends on select imply bool tristate string hex int prompt help if source mainmenu visible comment")])
    .features(KEYS | DOLLAR | BACKSLASH);
pub(crate) static CMAKE: Family = Family::new(&[raw("#[[", "]]").coloured(Comment), line("#"), text("\"", "\"")])
    .words(&[(Keyword, "if else elseif endif foreach endforeach while endwhile function endfunction macro endmacro return include find_package set unset option project add_executable add_library add_subdirectory add_custom_command add_custom_target add_test target_link_libraries target_include_directories target_compile_definitions target_compile_options target_sources install message list string file get_property set_property set_target_properties cmake_minimum_required configure_file and not or on off true false public private interface")])
    .features(ANY_CASE | DOLLAR);
pub(crate) static M4: Family = Family::new(&[line("dnl").blank(), line("#").blank(), doubled("\"", "\"")])
    .words(&[(Keyword, "define undefine ifelse ifdef include sinclude m4_define m4_include m4_ifdef if then else elif fi case esac for do done in AC_INIT AC_OUTPUT AC_DEFINE AC_SUBST AC_CHECK_LIB AC_CHECK_HEADERS AC_CHECK_FUNCS AC_ARG_ENABLE AC_ARG_WITH AC_MSG_CHECKING AC_MSG_RESULT AC_MSG_ERROR AC_DEFUN AS_IF AS_CASE AM_INIT_AUTOMAKE AM_CONDITIONAL PKG_CHECK_MODULES")])
    .features(DOLLAR);
pub(crate) static SQL: Family = Family::new(&[
    line("--"), block("/*", "*/"), doubled("'", "'").lines(), doubled("\"", "\""), raw("$$", "$$"), doubled("`", "`"),
]).words(&[(Keyword, "add after all alter and any as asc autoincrement before begin between by cascade case cast check collate column commit conflict constraint create cross current_timestamp cursor database declare default deferrable delete desc distinct do drop each else elsif end except exception execute exists explain false fetch for foreign from full function grant group having if ignore in index inner insert instead intersect into is join key language left like limit loop materialized natural not null of offset on or order outer over partition plpgsql primary procedure raise recursive references replace return returning returns revoke right rollback row schema select sequence set table temporary then to transaction trigger true truncate union unique update using values view when where while window with"),
    (Type, "bigint binary bit blob bool boolean bytea char character date datetime decimal double enum float int integer interval json jsonb numeric real serial smallint text time timestamp tinyint uuid varchar varying void")])
    .features(ANY_CASE);
pub(crate) static PASCAL: Family = Family::new(&[line("//"), block("(*", "*)"), block("{", "}"), doubled("'", "'")])
    .words(&[(Keyword, "and array as asm begin case class const constructor destructor div do downto else end except exports external false file finalization finally for function goto if implementation in inherited initialization inline interface is label library mod nil not object of on operator or out overload override packed private procedure program property protected public published raise read record repeat result set shl shr then threadvar to true try type unit until uses var virtual while with write xor"),
        (Type, "ansistring boolean byte cardinal char double extended int64 integer longint longword pchar pointer real shortint single smallint string widestring word")])
    .features(ANY_CASE);
pub(crate) static ADA: Family = Family::new(&[line("--"), string("\""), one("'")])
    .words(&[(Keyword, "abort abs accept access aliased all and architecture array at attribute begin block body buffer bus case component configuration constant declare delay delta digits do downto else elsif end entity entry exception exit file for function generate generic group guarded if impure in inertial inout interface is label library limited linkage literal loop map mod nand new next nor not null of on open or others out overriding package port postponed pragma private procedure process protected pure raise range record reject rem renames report requeue return reverse select separate severity shared signal some subtype synchronized tagged task terminate then to transport type unaffected units until use variable wait when while with xnor xor"),
        (Type, "bit bit_vector boolean character float integer natural positive real signed std_logic std_logic_vector string time unsigned")])
    .features(ANY_CASE);
pub(crate) static FORTRAN: Family = Family::new(&[line("!"), line("c ").column(), line("*").column(), doubled("\"", "\""), doubled("'", "'")])
    .words(&[(Keyword, "allocatable allocate assign backspace block call case class close common contains continue cycle data deallocate dimension do else elseif elsewhere end enddo endif entry enum equivalence exit external false forall format function goto if implicit import in include inout inquire intent interface intrinsic kind module namelist none nullify only open operator optional out parameter pointer print private procedure program public pure read recursive result return rewind save select sequence stop subroutine target then to true type use where while write"),
        (Type, "character complex double integer logical precision real")])
    .features(ANY_CASE);
pub(crate) static COBOL: Family = Family::new(&[line("*>"), doubled("\"", "\""), doubled("'", "'")])
    .words(&[(Keyword, "accept add call close compute copy data display divide division else end end-if end-perform environment evaluate exit file go if identification into is linkage move multiply not of open perform pic picture procedure program program-id read run section set stop string subtract then times to until using value varying when working-storage write")])
    .features(ANY_CASE).names_with("-");
pub(crate) static VISUAL_BASIC: Family = Family::new(&[line("'"), line("rem ").first(), doubled("\"", "\"")])
    .words(&[(Keyword, BASIC_WORDS), (Type, "boolean byte char date decimal double integer long object short single string variant")])
    .features(ANY_CASE);
pub(crate) static APPLESCRIPT: Family = Family::new(&[line("--"), nested("(*", "*)"), string("\"")])
    .words(&[(Keyword, "and as at before beginning but by contains considering copy div does else end equal equals error every exit false first from get given global if ignoring in into is it its last local me mod my not of on or property prop put ref reference repeat return script set tell the then through to transaction true try until where while whose with without")]);
pub(crate) static MATLAB: Family = Family::new(&[block("%{", "%}").first(), line("%"), string("\""), doubled("'", "'").blank()])
    .words(&[(Keyword, "break case catch classdef continue else elseif end for function global if methods otherwise parfor persistent properties return spmd switch try while")]);
pub(crate) static SMALLTALK: Family = Family::new(&[block("\"", "\""), doubled("'", "'").lines()])
    .words(&[(Keyword, "self super true false nil thisContext")]);
pub(crate) static EIFFEL: Family = Family::new(&[line("--"), string("\""), one("'")])
    .words(&[(Keyword, "across agent alias all and as assign attached check class convert create current debug deferred detachable do else elseif end ensure expanded export external feature from frozen if implies inherit inspect invariant like local loop not note obsolete old once only or precursor redefine rename require rescue result retry select separate some then true false undefine until variant void when xor")])
    .features(ANY_CASE);
pub(crate) static FORTH: Family = Family::new(&[line("\\ ").blank(), block("( ", ")"), string("\"")])
    .words(&[(Keyword, "if else then begin until while repeat do loop leave exit recurse variable constant create does> immediate postpone case of endof endcase dup drop swap over rot")])
    .features(ANY_CASE).names_with("-><=?!@+*/;:.");
pub(crate) static SED: Family = Family::new(&[line("#").first()]);
pub(crate) static POSTSCRIPT: Family = Family::new(&[line("%"), raw("(", ")")])
    .words(&[(Keyword, "def dup pop exch begin end if ifelse for repeat loop exit gsave grestore moveto lineto curveto stroke fill show findfont setfont translate scale rotate newpath closepath setgray setrgbcolor showpage bind array dict get put roll index copy true false null")]).names_with("/");
pub(crate) static NIX: Family = Family::new(&[line("#"), block("/*", "*/"), indented("''"), text("\"", "\"")])
    .words(&[(Keyword, "assert builtins else false if import in inherit let null or rec then true with")]).names_with("-'");
pub(crate) static DOCKERFILE: Family = Family::new(&[line("#").first(), string("\""), raw("'", "'")])
    .words(&[(Keyword, "FROM AS RUN CMD LABEL MAINTAINER EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL")])
    .features(DOLLAR | BACKSLASH);
pub(crate) static HCL: Family = Family::new(&[line("#"), line("//"), block("/*", "*/"), string("\"")])
    .words(&[(Keyword, "resource data variable output module provider terraform locals for in if else endif true false null dynamic"), (Type, "string number bool list map set object tuple any")])
    .features(KEYS | HEREDOC);
pub(crate) static GRAPHQL: Family = Family::new(&[line("#"), text("\"\"\"", "\"\"\""), string("\"")])
    .words(&[(Keyword, "directive enum extend fragment implements input interface mutation on query repeatable scalar schema subscription type union true false null"), (Type, "Boolean Float ID Int String")])
    .features(AT).names_with("$");
pub(crate) static TEX: Family = Family::new(&[line("%")]).features(COMMANDS | PROSE);
pub(crate) static TEXINFO: Family = Family::new(&[line("@c ").first(), line("@comment").first()]).features(AT | PROSE);

//! Languages in the style of C.

use crate::lexer::Colour::{Keyword, String, Type};
use crate::lexer::quote::{
    Hole, Quote, attribute, block, continued_line, doubled, line, nested, one, php_line, raw, string, text,
};
use super::{
    ANY_CASE, AT, DIGIT_QUOTES, DIRECTIVES, Family, HASHES, HEREDOC, KEYS, RAW, REGEX,
};

const C_QUOTES: &[Quote] = &[continued_line("//"), block("/*", "*/"), string("\""), string("'")];
const SLASHES: &[Quote] = &[line("//"), block("/*", "*/"), string("\""), one("'"), string("'")];
const JAVA_QUOTES: &[Quote] = &[
    line("//"), block("/*", "*/"), text("\"\"\"", "\"\"\""), string("\""), string("'"),
];
const SCRIPT_QUOTES: &[Quote] = &[
    line("#!").column(), line("//"), block("/*", "*/"), string("\""), string("'").closed(), text("`", "`").holes(DOLLAR_BRACES),
];
const C_PREFIXES: &[&str] = &["L", "u", "U", "u8"];
const DOLLAR_BRACES: &[Hole] = &[Hole::code("${", b'}')];
const BRACES: &[Hole] = &[Hole::code("{", b'}')];
const IN_SWIFT: &[Hole] = &[Hole::code("\\(", b')')];
const IN_PHP: &[Hole] = &[Hole::code("{$", b'}')];
const IN_PHP_ATTRIBUTE: &[Hole] = &[Hole::form("["), Hole::form("\""), Hole::form("'")];
const IN_ATTRIBUTE: &[Hole] = &[Hole::form("["), Hole::form("\"")];

const C_WORDS: &str = "break case const continue default do else enum extern for goto if inline \
    register restrict return sizeof static struct switch typedef union volatile while _Alignas \
    _Alignof _Atomic _Generic _Noreturn _Static_assert _Thread_local NULL true false nullptr \
    alignas alignof constexpr static_assert thread_local typeof asm __asm__ __attribute__";
const C_TYPES: &str = "void char short int long float double signed unsigned bool _Bool _Complex \
    size_t ssize_t ptrdiff_t off_t time_t pid_t wchar_t FILE int8_t int16_t int32_t int64_t uint8_t uint16_t \
    uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t va_list u8 u16 u32 u64 s8 s16 s32 s64";
const CPP_WORDS: &str = "and and_eq bitand bitor catch class co_await co_return co_yield compl \
    concept const_cast consteval constinit decltype delete dynamic_cast explicit export friend \
    mutable namespace new noexcept not not_eq operator or or_eq override final private protected \
    public reinterpret_cast requires static_cast template this throw try typeid typename using \
    virtual xor xor_eq import module";
const CPP_TYPES: &str = "char8_t char16_t char32_t string string_view vector auto";
const JS_WORDS: &str = "as async await break case catch class const continue debugger default \
    delete do else export extends false finally for from function get if import in instanceof let \
    new null of return set static super switch this throw true try typeof undefined var void while \
    with yield NaN Infinity";
const TS_WORDS: &str = "abstract declare enum implements interface is keyof namespace private \
    protected public readonly satisfies type infer override";
const TS_TYPES: &str = "any bigint boolean never number object string symbol unknown";
const JAVA_WORDS: &str = "abstract assert break case catch class const continue default do else \
    enum extends false final finally for goto if implements import instanceof interface native new \
    null package permits private protected public record return sealed static strictfp super \
    switch synchronized this throw throws transient true try var volatile while yield";
const JAVA_TYPES: &str = "boolean byte char double float int long short void String Object";
const SHADER_WORDS: &str = "attribute buffer centroid coherent flat highp in inout invariant \
    layout lowp mediump out patch precision sample shared smooth subroutine uniform varying";
const SHADER_TYPES: &str = "vec2 vec3 vec4 mat2 mat3 mat4 ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 \
    sampler2D sampler3D samplerCube float2 float3 float4 float4x4 half half2 half3 half4 uint";

pub(crate) static C: Family = Family::new(C_QUOTES)
    .words(&[(Keyword, C_WORDS), (Type, C_TYPES)]).features(DIRECTIVES | RAW | DIGIT_QUOTES | AT).prefixes(C_PREFIXES);
pub(crate) static CPP: Family = Family::new(C_QUOTES)
    .words(&[(Keyword, C_WORDS), (Keyword, CPP_WORDS), (Type, C_TYPES), (Type, CPP_TYPES),
        (Keyword, "__global__ __device__ __host__ __shared__ __kernel kernel constant device")])
    .features(DIRECTIVES | RAW | DIGIT_QUOTES | AT).prefixes(C_PREFIXES);
pub(crate) static OBJECTIVE_C: Family = Family::new(&[
    continued_line("//"), block("/*", "*/"), text("@\"", "\"").within_line(), string("\""), string("'"),
]).words(&[(Keyword, C_WORDS), (Type, C_TYPES), (Keyword, "self super nil Nil YES NO in out id SEL IMP BOOL instancetype")])
    .features(DIRECTIVES | AT);
pub(crate) static GLSL: Family = Family::new(C_QUOTES)
    .words(&[(Keyword, C_WORDS), (Keyword, SHADER_WORDS), (Type, C_TYPES), (Type, SHADER_TYPES)])
    .features(DIRECTIVES);
pub(crate) static WGSL: Family = Family::new(&[line("//"), nested("/*", "*/")])
    .words(&[(Keyword, "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop override requires return struct switch true var while"),
        (Type, "bool f16 f32 i32 u32 vec2 vec3 vec4 array atomic sampler ptr mat2x2 mat3x3 mat4x4")])
    .features(AT);
pub(crate) static CSHARP: Family = Family::new(&[
    line("//"), block("/*", "*/"), raw("\"\"\"", "\"\"\""), doubled("$@\"", "\"").lines().holes(BRACES),
    doubled("@$\"", "\"").lines().holes(BRACES), text("$\"", "\"").within_line().holes(BRACES), doubled("@\"", "\"").lines(), string("\""), string("'"),
]).words(&[(Keyword, JAVA_WORDS), (Keyword, "as async await base checked delegate event explicit \
    extern fixed foreach get global implicit in internal is lock nameof namespace operator out override params \
    partial readonly ref sealed set sizeof stackalloc struct typeof unchecked unsafe using value virtual when where"),
    (Type, "bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort void")])
    .features(DIRECTIVES);
pub(crate) static JAVA: Family = Family::new(JAVA_QUOTES)
    .words(&[(Keyword, JAVA_WORDS), (Type, JAVA_TYPES), (Keyword, "def in as")]).features(AT).names_with("$");
pub(crate) static GROOVY: Family = Family::new(&[
    line("//"), block("/*", "*/"), text("\"\"\"", "\"\"\""), text("'''", "'''"), string("\""), string("'"),
]).words(&[(Keyword, JAVA_WORDS), (Type, JAVA_TYPES), (Keyword, "def in as trait")]).features(AT | REGEX).names_with("$");
pub(crate) static KOTLIN: Family = Family::new(&[
    line("//"), nested("/*", "*/"), raw("\"\"\"", "\"\"\"").holes(DOLLAR_BRACES), string("\"").holes(DOLLAR_BRACES), string("'"),
])
    .words(&[(Keyword, "abstract actual annotation as break by catch class companion const constructor continue crossinline data do else enum expect external false final finally for fun get if import in infix init inline inner interface internal is lateinit noinline null object open operator out override package private protected public reified return sealed set super suspend tailrec this throw true try typealias val var vararg when where while"),
        (Type, "Any Boolean Byte Char Double Float Int Long Nothing Short String Unit")]).features(AT);
pub(crate) static SCALA: Family = Family::new(&[
    line("//"), nested("/*", "*/"), raw("\"\"\"", "\"\"\""), string("\""), one("'"),
]).words(&[(Keyword, "abstract case catch class def do else enum export extends extension false final finally for forSome given if implicit import inline lazy match new null object override package private protected return sealed super then this throw trait true try type using val var while with yield"),
    (Type, "Any AnyRef Boolean Byte Char Double Float Int Long Nothing Short String Unit")]).features(AT);
pub(crate) static JAVASCRIPT: Family = Family::new(SCRIPT_QUOTES)
    .words(&[(Keyword, JS_WORDS), (Keyword, "property signal readonly")]).features(REGEX | AT).names_with("$#");
pub(crate) static TYPESCRIPT: Family = Family::new(SCRIPT_QUOTES)
    .words(&[(Keyword, JS_WORDS), (Keyword, TS_WORDS), (Type, TS_TYPES)]).features(REGEX | AT).names_with("$#");
pub(crate) static GO: Family = Family::new(&[line("//"), block("/*", "*/"), raw("`", "`"), string("\""), string("'")])
    .words(&[(Keyword, "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var"),
        (Type, "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr")]);
pub(crate) static GO_MODULE: Family = Family::new(&[line("//"), string("\"")])
    .words(&[(Keyword, "module go toolchain require exclude replace retract")]);
pub(crate) static RUST: Family = Family::new(&[
    line("//"), nested("/*", "*/"), attribute("#![").holes(IN_ATTRIBUTE), attribute("#[").holes(IN_ATTRIBUTE),
    attribute("[").holes(IN_ATTRIBUTE).inner(), text("\"", "\""), one("'"),
]).words(&[(Keyword, "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while yield union macro_rules"),
    (Type, "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Result Box")])
    .features(HASHES).prefixes(&["b", "c"]);
pub(crate) static SWIFT: Family = Family::new(&[
    line("//"), nested("/*", "*/"), text("\"\"\"", "\"\"\"").holes(IN_SWIFT), string("\"").holes(IN_SWIFT),
]).words(&[(Keyword, "actor any as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate final for func get guard if import in indirect infix init inout internal is lazy let mutating nil nonisolated open operator override private protocol public repeat required rethrows return self Self set some static struct subscript super switch throw throws true try typealias unowned var weak where while"),
    (Type, "Any Bool Character Double Float Int String UInt Void")]).features(AT | DIRECTIVES);
pub(crate) static DART: Family = Family::new(&[
    line("//"), block("/*", "*/"), text("\"\"\"", "\"\"\"").holes(DOLLAR_BRACES), text("'''", "'''").holes(DOLLAR_BRACES),
    raw("r\"", "\"").within_line(), raw("r'", "'").within_line(), string("\"").holes(DOLLAR_BRACES), string("'").holes(DOLLAR_BRACES),
]).words(&[(Keyword, JS_WORDS), (Keyword, "abstract assert covariant dynamic enum extension external factory final implements is late library mixin on operator part required rethrow sealed show typedef"),
    (Type, "bool double int num void String List Map Set Object")]).features(AT).names_with("$");
pub(crate) static D: Family = Family::new(&[
    line("//"), block("/*", "*/"), nested("/+", "+/"), raw("`", "`"), raw("r\"", "\""), text("\"", "\""), string("'"),
]).words(&[(Keyword, C_WORDS), (Keyword, "abstract alias align assert auto body cast catch class debug delegate delete deprecated export final finally foreach foreach_reverse function immutable import in interface invariant is lazy macro mixin module new nothrow null out override package pragma private protected public pure ref scope shared super synchronized template this throw try typeid unittest version with"),
    (Type, C_TYPES), (Type, "byte ubyte ushort uint ulong real dchar wchar string wstring")]).features(AT);
pub(crate) static ZIG: Family = Family::new(&[line("//"), line("\\\\").coloured(String), string("\""), string("'")])
    .words(&[(Keyword, "align allowzero and anyframe anytype asm async await break catch comptime const continue defer else enum errdefer error export extern false fn for if inline noalias null opaque or orelse packed pub resume return struct suspend switch test threadlocal true try undefined union unreachable usingnamespace var volatile while"),
        (Type, "bool void type noreturn anyerror comptime_int comptime_float f16 f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize")]).features(AT);
pub(crate) static PHP: Family = Family::new(&[
    raw("?>", "<?").plain(), php_line("//"), attribute("#[").holes(IN_PHP_ATTRIBUTE), attribute("[").holes(IN_PHP_ATTRIBUTE).inner(), php_line("#"), block("/*", "*/"),
    text("\"", "\"").holes(IN_PHP), text("'", "'"),
]).words(&[(Keyword, "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends false final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new null or php print private protected public readonly require require_once return self static switch throw trait true try unset use var while xor yield __DIR__ __FILE__ __LINE__"),
    (Type, "bool float int iterable mixed object string void")]).features(HEREDOC).names_with("$").begins_in(0);
pub(crate) static HAXE: Family = Family::new(SLASHES).words(&[(Keyword, JAVA_WORDS), (Keyword, "cast dynamic extern function import in inline macro never overload override typedef untyped using"), (Type, "Bool Dynamic Float Int String Void")]).features(AT | REGEX | DIRECTIVES);
pub(crate) static VALA: Family = Family::new(JAVA_QUOTES).words(&[(Keyword, JAVA_WORDS), (Keyword, "as async base construct delegate delete dynamic ensures errordomain foreach get in inline internal is lock namespace out override owned params ref requires set signal sizeof struct throws typeof unowned using value virtual weak"),
    (Type, C_TYPES), (Type, "string uint ulong unichar uchar")]).features(AT | DIRECTIVES);
pub(crate) static ANTLR: Family = Family::new(SLASHES).words(&[(Keyword, "grammar lexer parser fragment import options tokens returns locals catch finally mode channel def theorem lemma example by have show from let in match with if then else fun variable namespace end open structure class instance where")]);
pub(crate) static ANTLR_4: Family = Family::new(&[line("//"), block("/*", "*/"), string("'"), string("\""), text("[", "]").within_line()])
    .words(&[(Keyword, "grammar lexer parser fragment import options tokens channels returns locals catch finally mode throws")]);
pub(crate) static SOLIDITY: Family = Family::new(C_QUOTES).words(&[(Keyword, JS_WORDS), (Keyword, "abstract anonymous assembly calldata constant constructor contract emit enum error event external fallback immutable indexed interface internal is library mapping memory modifier override payable pragma private public pure receive require returns revert storage struct type unchecked using view virtual"),
    (Type, "address bool bytes bytes32 int int256 string uint uint8 uint256")]);
pub(crate) static PROTOBUF: Family = Family::new(&[
    line("//"), line("#"), block("/*", "*/"), string("\""), string("'"),
]).words(&[(Keyword, "syntax package import option message enum service rpc returns stream oneof map extend extensions reserved repeated optional required group to max weak public edition namespace include cpp_include struct union exception extends throws oneway const typedef list set interface using annotation table root_type attribute readonly dictionary partial mixin namespace_decl callback true false null default"),
    (Type, "double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes void i8 i16 i32 i64 byte binary Void Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 Text Data List AnyPointer DOMString boolean long unsigned short any")]);
pub(crate) static VERILOG: Family = Family::new(&[line("//"), block("/*", "*/"), string("\"")])
    .words(&[(Keyword, "always always_comb always_ff always_latch and assert assign automatic begin bind buf case casex casez class clocking const constraint cover covergroup default defparam disable edge else end endcase endclass endfunction endgenerate endinterface endmodule endpackage endprogram endproperty endsequence endtask enum extends extern final for force foreach forever fork function generate genvar if iff import initial inside interface join local localparam modport module nand negedge new nor not null or output inout input package parameter posedge priority program property protected pure rand randc ref release repeat return sequence specify static struct super supply0 supply1 task this type typedef union unique virtual wait while xnor xor `define `include `ifdef `ifndef `endif `else `timescale"),
        (Type, "bit byte int integer logic longint real realtime reg shortint shortreal signed string time tri unsigned wire wand wor void")]).names_with("`$");
pub(crate) static DEVICETREE: Family = Family::new(&[continued_line("//"), block("/*", "*/"), string("\"")])
    .words(&[(Keyword, "ENTRY SECTIONS MEMORY OUTPUT_FORMAT OUTPUT_ARCH PROVIDE KEEP ALIGN ASSERT EXTERN class def defm defset defvar dag field foreach if then else in include let list multiclass"), (Type, "bit bits code int string")]).features(DIRECTIVES);
const STYLE_WORDS: &str = "important from to and not only or if else each for while return include mixin extend use forward function";
pub(crate) static CSS: Family = Family::new(&[block("/*", "*/"), raw("url(", ")").within_line(), string("\""), string("'")])
    .words(&[(Keyword, STYLE_WORDS)]).features(AT | KEYS).names_with("-$");
pub(crate) static SCSS: Family = Family::new(&[
    block("/*", "*/"), raw("url(", ")").within_line(), line("//").blank(), string("\""), string("'"),
]).words(&[(Keyword, STYLE_WORDS)]).features(AT | KEYS).names_with("-$");
pub(crate) static ASSEMBLY: Family = Family::new(&[
    line("//"), block("/*", "*/"), line(";").blank(), line("# ").blank(), string("\""), one("'"),
]).words(&[(Keyword, "mov movl movq movb lea leaq leal push pop pushq popq pushl popl call ret jmp je jne jz jnz jg jl ja jb jae jbe jge jle add sub addl addq subl subq mul div imul and or xor xorl not shl shr sar rol ror cmp cmpl cmpq test testl inc dec nop int syscall b bl bx blx beq bne ldr str ldp stp ldm stm adr adrp cbz cbnz svc lw sw li la jal jalr addi ld sd")])
    .features(DIRECTIVES | ANY_CASE).names_with(".%@$");
pub(crate) static AWK: Family = Family::new(&[line("#"), string("\"")])
    .words(&[(Keyword, "BEGIN END BEGINFILE ENDFILE break continue delete do else exit for func function getline if in next nextfile print printf return switch case default while FS NF NR OFS ORS RS FNR FILENAME SUBSEP ENVIRON")])
    .features(REGEX).names_with("$");
pub(crate) static PUPPET: Family = Family::new(&[line("#"), line("//"), block("/*", "*/"), text("|||", "|||"), text("\"", "\""), text("'", "'")])
    .words(&[(Keyword, "and case class default define else elsif false if import importstr in inherits node or undef unless true local null function for self super tailstrict then assert error")]).features(REGEX).names_with("$");

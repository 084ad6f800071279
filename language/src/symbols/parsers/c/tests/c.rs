//! Outlines of C, and broken texts.

use crate::symbols::tests::check;

#[test]
fn declarations_of_c() {
    check(
        "C",
        r#"#define PLAIN 1
#  define INDENTED(x) \
    (x) { struct no {
int prototype(int x);
extern int declared, *also[3];
static const char *const names[] = { "a", "b" }, second = { 1 };
int body(int x)
{
    int local = 1;
    return local;
}
char *old(a, b)
    int a;
    char *b;
{
}
main(argc, argv) char **argv; {
}
static inline EXPORT int attributed(void) __attribute__((pure));
EXPORT(int) wrapped(int a) { return a; }
int ZEXPORT(inner)(int a) { return a; }
int kernel OF((int a, int b));
int __init started(void) {}
static void __printf(2, 3) checked(const char *f, ...) {}
DEFUN("car", Fcar, Scar, 1, 1, 0) (Lisp x) {}
SYSCALL_DEFINE3(read, unsigned int, fd)
{
}
PNG_FUNCTION(void, png_error, (int a, int b), NORETURN) {}
PNG_EXPORT(1, void, png_free, (int a));
MODULE_LICENSE("GPL");
EXPORT_SYMBOL(started);
void
three(int a,
    int b,
    int c)
{
}
typedef struct {
    int a, *b, c[3];
    unsigned d : 3, e : 4;
    void (*callback)(int x, int y);
    struct { int deep; } inside;
    union inner { float f; };
    TAILQ_ENTRY(x) entry;
} Named, *Pointer;
typedef int (*Compare)(const void *, const void *), Numbers[3];
typedef unsigned char byte;
enum colour { RED, GREEN = 1 << 2, BLUE, X(A) LAST };
enum { ANONYMOUS } value;
struct forward;
struct EXPORT node { struct node *next; } __attribute__((packed));
struct node *make(struct node n), first;
void (*signal(int n, void (*f)(int)))(int);
void (*handler)(int) = 0;
#if 0
int dead(void) {
#else
int alive(void) {
#endif
}
#ifdef A
int either(int a) {
#else
int other(void) {
#endif
    if (x) {
}
int after(void) { typedef int local_t; struct local_s { int m; }; return 0; }
int class, new;
struct operator { int this; };
"#,
        "macro PLAIN 1
         macro INDENTED 2
         function prototype; 4
         variable declared; 5
         variable also; 5
         constant names 6
         constant second 6
         function body 7-11
         function old 12-16
         function main 17-18
         function attributed; 19
         function wrapped 20
         function inner 21
         function kernel; 22
         function started 23
         function checked 24
         function Fcar 25
         function read 26-28
         function png_error 29
         function png_free; 30
         function three 34-38
         field Named.a 40
         field Named.b 40
         field Named.c 40
         field Named.d 41
         field Named.e 41
         field Named.callback 42
         field Named.deep 43
         field Named.inside 43
         union Named.inner 44
         field Named.inner.f 44
         field Named.entry 45
         type Named 46
         type Pointer 46
         type Compare 47
         type Numbers 47
         type byte 48
         enum colour 49
         enumerator colour.RED 49
         enumerator colour.GREEN 49
         enumerator colour.BLUE 49
         enumerator colour.LAST 49
         enumerator value.ANONYMOUS 50
         variable value 50
         struct forward; 51
         struct node 52
         field node.next 52
         function make; 53
         variable first 53
         function signal; 54
         variable handler 55
         function alive 59-61
         function either 63
         function other 65-68
         function after 69
         type after.local_t 69
         struct after.local_s 69
         field after.local_s.m 69
         variable class 70
         variable new 70
         struct operator 71
         field operator.this 71",
    );
}

#[test]
fn scopes_recover_from_unbalanced_braces() {
    check(
        "C",
        r#"int broken(void) {
    if (a) {
        for (;;) {
}
int after_missing_brace(void) {
    }
}
int extra(void) {
}
}
int after_extra_brace(int a[)
{
}
struct open {
    int a;
int not_a_field(void) { return 0; }
}
static int names[] = { "unterminated, 1 };
static char c = '"';
int after_string(void) { return '{'; }
#if A
int both(int a) {
#elif B
int second(int a) {
#else
int third(int a) {
#endif
    return a;
}
int after_branches(void);
#endif
#else
int after_stray(void);
void f(int a
#if A
    , int b);
#else
    );
#endif
int after_split(void);
"#,
        "function broken 1-4
         function after_missing_brace 5-6
         function extra 8-9
         function after_extra_brace 11-13
         struct open 14-17
         field open.a 15
         method open.not_a_field 16
         variable names 18
         variable c 19
         function after_string 20
         function both 22
         function second 24
         function third 26-29
         function after_branches; 30
         function after_stray; 33
         function f; 34
         function after_split; 40",
    );
}

#[test]
fn macros_and_keywords_do_not_hide_names() {
    check(
        "C",
        r#"typedef enum result (*merge)(const struct driver *, int a);
typedef int (ZCALLBACK *close_file) OF((voidpf opaque));
typedef __INT_LEAST8_TYPE__ small;
typedef list_head(tsd_t) tsd_list;
static void FORMAT (3, 0) NONNULL ((3))
tail (int a)
{
}
INLINE
MALLOC SIZE ((2))
void *
aligned (int a)
{
}
HANDLER(a, (b), ("()"))
static int behind(int a)
{
}
struct class { int field; };
"#,
        "type merge 1
         type close_file 2
         type small 3
         type tsd_list 4
         function tail 6-8
         function aligned 12-14
         function behind 16-18
         struct class 19
         field class.field 19",
    );
}

#[test]
fn macros_of_all_branches_are_found() {
    check(
        "C",
        "int a\n#ifdef A\n;\n#define B 1\n#else\n#define B 2\n#endif\n",
        "variable a 1\nmacro B 4\nmacro B 6",
    );
}

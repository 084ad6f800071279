//! Outlines of each language, and of broken texts.

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
fn classes_and_templates_of_cpp() {
    check(
        "C++",
        r#"#include <a>
extern "C" {
int c_function(int);
}
namespace outer::inner {
template <class T, int N = (1 > 2)> class Box final : public Base<T>, Other {
 public:
  Box() = default;
  Box(const Box&) = delete;
  explicit Box(int a) : a_{a}, b_(a) { }
  virtual ~Box();
  Box& operator=(const Box& other) noexcept { return *this; }
  operator bool() const;
  void operator()(int a) {}
  template <typename U> auto trail(U u) const -> std::vector<U> { return {}; }
  virtual void pure() = 0;
  [[nodiscard]] static constexpr int size() noexcept override { return 1; }
  friend class Friend;
  friend bool operator<(const Box& a, const Box& b) { return true; }
  using Alias = int;
  enum class Mode : char { kOne, kTwo };
  struct Nested { int x; };
 private:
  int a_ = 3, b_{4};
  static const int kStatic = 3;
  std::function<void(int)> callback_;
};
template <> struct Box<int> { };
template <template <class> class C> struct Holder;
}
Box<int>::Box(int a) : Base(a), x{1}, y{2} {
}
Box::~Box() { }
std::map<int, std::string> ns::Box::get(const std::string& key) const {
  auto f = [](int x) { return x; };
  struct Local : A<B> { int m; void f() {} };
}
bool Box::operator==(const Box& o) const { return true; }
namespace { int hidden = 1; }
inline namespace v1 { void g(); }
using Name = std::vector<int>;
using namespace std;
using std::string;
template <typename T> concept Small = sizeof(T) < 4;
template <typename T> requires Small<T> void constrained(T t) { }
constexpr int kMax = 3;
auto lambda = [](int x) { return x; };
int Box::counter = 0;
TEST(Suite, Case) { }
class LIB_EXPORT Exported : public A { Q_OBJECT public slots: void slot(); };
std::vector<int> vec{1, 2, 3};
extern template class Box<char>;
static_assert(sizeof(int) == 4, "x");
try_it() try { } catch (...) { }
R"x(class No {)x";
int last(int a, int b) { return a; }
"#,
        "function c_function; 3
         module outer.inner 5-30
         class outer.inner.Box 6-27
         method outer.inner.Box.Box 8
         method outer.inner.Box.Box; 9
         method outer.inner.Box.Box 10
         method outer.inner.Box.~Box; 11
         method outer.inner.Box.operator= 12
         method outer.inner.Box.operator bool; 13
         method outer.inner.Box.operator() 14
         method outer.inner.Box.trail 15
         method outer.inner.Box.pure; 16
         method outer.inner.Box.size 17
         method outer.inner.Box.operator< 19
         type outer.inner.Box.Alias 20
         enum outer.inner.Box.Mode 21
         enumerator outer.inner.Box.Mode.kOne 21
         enumerator outer.inner.Box.Mode.kTwo 21
         struct outer.inner.Box.Nested 22
         field outer.inner.Box.Nested.x 22
         field outer.inner.Box.a_ 24
         field outer.inner.Box.b_ 24
         field outer.inner.Box.kStatic 25
         field outer.inner.Box.callback_ 26
         struct outer.inner.Box 28
         struct outer.inner.Holder; 29
         method Box.Box 31-32
         method Box.~Box 33
         method Box.get 34-37
         struct Box.get.Local 36
         field Box.get.Local.m 36
         method Box.get.Local.f 36
         method Box.operator== 38
         variable hidden 39
         module v1 40
         function v1.g; 40
         type Name 41
         interface Small 44
         function constrained 45
         constant kMax 46
         variable lambda 47
         variable Box.counter 48
         method Suite.Case 49
         class Exported 50
         method Exported.slot; 50
         variable vec 51
         function try_it 54
         function last 56",
    );
}

#[test]
fn forms_of_cpp() {
    check(
        "C++",
        r#"class [[nodiscard]] Attr { };
struct alignas(16) Vec { float x, y; };
class __declspec(dllexport) Dll : public Base { explicit(true) Dll(int); Dll(Dll&&) noexcept(noexcept(x)); };
long operator""_km(long double);
void* operator new[](size_t n) { }
struct Ops { operator const char*() const; void operator delete(void*) {} bool operator<=>(const Ops&) const = default; T& operator[](int) { } int operator->*(int); };
template<> void special<int>(int) { }
auto trailing() -> int { return 1; }
static void (*table[])(void) = { a, b };
struct A { int x; } a_value, *a_pointer = &a_value;
int one = 1, proto(int), two;
extern "C" int linked(void) { }
extern "C" void linked_too();
Foo::Foo() try : a(1) { } catch (...) { }
template <typename T> T Foo<T>::bar() { }
void Foo<int>::baz() const & { }
decltype(auto) deduced() { }
template <class T> auto constrained(T t) -> int requires Small<T> { }
template <class T> requires (sizeof(T) > 1) int constrained2(T t) { }
typedef struct foo foo;
typedef enum tag { ENUM_A, ENUM_B, } tag_t;
static struct file_operations fops = { .open = x, };
__attribute__((constructor)) static void init(void) { }
int (*get(void))[3] { }
static DEFINE_MUTEX(lock);
DEFINE_PER_CPU(int, counter);
module_init(init);
union { int member; } u = {0};
typedef int array_t[3][4];
BOOL WINAPI DllMain(HINSTANCE h, DWORD r) { }
typedef LRESULT (CALLBACK *WNDPROC)(HWND);
STDMETHODIMP_(ULONG) Unknown::AddRef() { }
class Window : public QObject { Q_OBJECT
  Q_PROPERTY(int x READ x WRITE setX)
public:
  Window(QObject *parent = nullptr);
signals:
  void changed(int);
private slots:
  void onClick();
};
void Window::onClick() { connect(a, &A::b, [this](int x) { foo(); }); }
enum Plain : unsigned { P1 = sizeof(int[2]), P2 = (1, 2) };
enum class Opaque : int;
inline constexpr bool is_small_v = true;
template <class T> inline constexpr bool is_small2_v = sizeof(T) < 4;
template <class T> using Vector = std::vector<T, Alloc<T>>;
using Fn = void (*)(int);
namespace fs = std::filesystem;
static inline std::unique_ptr<Foo> make_foo(std::function<void(int)> f = [](int) { }) { }
int Foo::*member_pointer = &Foo::x;
struct { int anonymous; } unnamed;
volatile unsigned long long int counter64;
const struct option longopts[] = { {"a", 1}, };
Foo& Foo::operator=(Foo&& other) noexcept = default;
Foo::operator bool() const { return true; }
struct Derived final : public Base<int>, private Other::Thing { using Base::Base; ~Derived() override { } virtual int get() const = 0; std::array<int, (1 > 0)> arr{}; int (*fn)(int), other; mutable int m = 0; static Derived* instance; };
static_assert(true);
concept NotConcept;
GTEST_API_ int exported(int a);
template <typename... Args> void variadic(Args&&... args) { }
void *reallocate(void *p, size_t n)
    __attribute__((alloc_size(2)));
int end_marker(void) { }
"#,
        "class Attr 1
         struct Vec 2
         field Vec.x 2
         field Vec.y 2
         class Dll 3
         method Dll.Dll; 3
         method Dll.Dll; 3
         function operator""_km; 4
         function operator new[] 5
         struct Ops 6
         method Ops.operator const char*; 6
         method Ops.operator delete 6
         method Ops.operator<=> 6
         method Ops.operator[] 6
         method Ops.operator->*; 6
         function special 7
         function trailing 8
         variable table 9
         struct A 10
         field A.x 10
         variable a_value 10
         variable a_pointer 10
         variable one 11
         function proto; 11
         variable two 11
         function linked 12
         function linked_too; 13
         method Foo.Foo 14
         method Foo.bar 15
         method Foo.baz 16
         function deduced 17
         function constrained 18
         function constrained2 19
         type foo 20
         enum tag 21
         enumerator tag.ENUM_A 21
         enumerator tag.ENUM_B 21
         type tag_t 21
         variable fops 22
         function init 23
         function get 24
         field u.member 28
         variable u 28
         type array_t 29
         function DllMain 30
         type WNDPROC 31
         method Unknown.AddRef 32
         class Window 33-41
         method Window.Window; 36
         method Window.changed; 38
         method Window.onClick; 40
         method Window.onClick 42
         enum Plain 43
         enumerator Plain.P1 43
         enumerator Plain.P2 43
         enum Opaque; 44
         constant is_small_v 45
         constant is_small2_v 46
         type Vector 47
         type Fn 48
         function make_foo 50
         variable Foo.member_pointer 51
         field unnamed.anonymous 52
         variable unnamed 52
         variable counter64 53
         constant longopts 54
         method Foo.operator= 55
         method Foo.operator bool 56
         struct Derived 57
         method Derived.~Derived 57
         method Derived.get; 57
         field Derived.arr 57
         field Derived.fn 57
         field Derived.other 57
         field Derived.m 57
         field Derived.instance 57
         interface NotConcept 59
         function exported; 60
         function variadic 61
         function reallocate; 62
         function end_marker 64",
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
fn methods_of_objective_c() {
    check(
        "Objective-C",
        r#"#import <Foundation/Foundation.h>
@class Later, Other;
@protocol Drawable;
@protocol Shape <NSObject>
- (void)draw;
@optional
- (int)area:(int)a other:(int)b;
@end
@interface Square : NSObject <Shape>
{
    int width;
    NSString *name;
}
@property (nonatomic, copy) NSString *title;
+ (instancetype)make;
- (int)grow:(int)a
      other:(int)b;
@end
@interface Square (Extra)
- (void)extra;
@end
static int helper(int a) { return a; }
@implementation Square
@synthesize title = _title;
+ (instancetype)make {
    return [[self alloc] init];
}
- (int)grow:(int)a other:(int)b
{
    void (^block)(int) = ^(int x) { };
    return a;
}
static void inside(void) { }
@end
typedef NS_ENUM(NSInteger, Mode) { ModeOne, ModeTwo };
int main(void) { @autoreleasepool { } return 0; }
"#,
        "class Later; 2
         class Other; 2
         interface Drawable; 3
         interface Shape 4-8
         method Shape.draw; 5
         method Shape.area; 7
         class Square 9-18
         field Square.width 11
         field Square.name 12
         field Square.title 14
         method Square.make; 15
         method Square.grow; 16
         class Square 19-21
         method Square.extra; 20
         function helper 22
         implementation Square 23-34
         method Square.make 25-27
         method Square.grow 28-32
         function Square.inside 33
         enum Mode 35
         enumerator Mode.ModeOne 35
         enumerator Mode.ModeTwo 35
         function main 36",
    );
}

#[test]
fn rules_of_yacc_have_c_around() {
    check(
        "Yacc",
        r#"%{
#include <a.h>
static int lexed(void);
%}
%union {
  int number;
}
%token <number> NUMBER
%type <number> expr
%%
input: /* empty */
  | input line { printf("}"); }
  ;
expr
  : NUMBER { $$ = $1; }
  | expr '+' expr { int x = 1; if (x) { } }
last : ':' ;
%%
int yyerror(const char *s)
{
  return 0;
}
"#,
        "function lexed; 3
         rule input 11-13
         rule expr 14-16
         rule last 17
         function yyerror 19-22",
    );
}

#[test]
fn code_of_lex() {
    check(
        "Lex",
        r#"%{
static int count;
%}
DIGIT [0-9]
%%
"{"     { count++; }
{DIGIT}+  return '{';
%%
int yywrap(void) { return 1; }
"#,
        "variable count 2
         function yywrap 9",
    );
}

#[test]
fn functions_of_xs_have_a_package() {
    check(
        "Perl XS",
        r#"#include "EXTERN.h"
static int helper(int a) { return a; }
MODULE = Digest::MD5   PACKAGE = Digest::MD5  PREFIX = x_

void
new(xclass)
	SV* xclass
  PREINIT:
    int i;
  CODE:
    if (x) { }

int
x_add(a, b)
    int a
    int b
  OUTPUT:
    RETVAL
"#,
        "function helper 2
         module Digest::MD5 3-18
         function Digest::MD5.new 6
         function Digest::MD5.x_add 14",
    );
}

#[test]
fn declarations_of_swig() {
    check(
        "SWIG",
        r#"%module example
%{
#include "example.h"
int wrapped(void);
%}
%include "std.i"
%rename(foo) bar;
int add(int a, int b);
%inline %{
int twice(int a) { return a * 2; }
%}
%extend Vector {
  int length();
}
struct Vector { int x; };
"#,
        "module example 1
         function wrapped; 4
         function add; 8
         function twice 10
         function length; 13
         struct Vector 15
         field Vector.x 15",
    );
}

#[test]
fn blocks_of_glsl() {
    check(
        "GLSL",
        r#"#version 450
#define PI 3.14
layout(location = 0) in vec3 position;
uniform sampler2D tex;
layout(std140) uniform Camera { mat4 view; } camera;
struct Light { vec3 colour; };
const float EPS = 0.1;
vec4 shade(vec3 n, Light l) { return vec4(1.0); }
void main() { gl_Position = vec4(position, 1.0); }
"#,
        "macro PI 2
         variable position 3
         variable tex 4
         struct Camera 5
         field Camera.view 5
         struct Light 6
         field Light.colour 6
         constant EPS 7
         function shade 8
         function main 9",
    );
}

#[test]
fn buffers_and_semantics_of_hlsl() {
    check(
        "HLSL",
        r#"cbuffer PerFrame : register(b0) { float4x4 world; float time; };
Texture2D diffuse : register(t0);
struct VSOut { float4 pos : SV_POSITION; };
[numthreads(8, 8, 1)]
void compute(uint3 id : SV_DispatchThreadID) { }
float4 pixel(VSOut i) : SV_Target { return 1; }
"#,
        "struct PerFrame 1
         field PerFrame.world 1
         field PerFrame.time 1
         variable diffuse 2
         struct VSOut 3
         field VSOut.pos 3
         function compute 5
         function pixel 6",
    );
}

#[test]
fn kernels_of_cuda() {
    check(
        "Cuda",
        r#"__constant__ float table[256];
__global__ void add(int n, float *x) { }
__device__ __forceinline__ float helper(float a) { return a; }
__global__ void __launch_bounds__(256) bounded(float *x) { add<<<1, 2>>>(1, x); }
template <typename T> __host__ __device__ T larger(T a, T b) { return a; }
"#,
        "variable table 1
         function add 2
         function helper 3
         function bounded 4
         function larger 5",
    );
}

#[test]
fn kernels_of_metal() {
    check(
        "Metal",
        r#"using namespace metal;
struct VertexOut { float4 position [[position]]; float2 uv; };
vertex VertexOut vertex_main(uint id [[vertex_id]], constant float4 *p [[buffer(0)]]) { }
fragment float4 fragment_main(VertexOut in [[stage_in]]) { return 1; }
kernel void compute(device float *a [[buffer(0)]], uint id [[thread_position_in_grid]]) { }
constant float scale = 2;
"#,
        "struct VertexOut 2
         field VertexOut.position 2
         field VertexOut.uv 2
         function vertex_main 3
         function fragment_main 4
         function compute 5
         variable scale 6",
    );
}

#[test]
fn kernels_of_opencl() {
    check(
        "OpenCL",
        r#"__constant int size = 3;
__kernel void add(__global const float *a, __global float *b) { }
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void sized(int x) { }
float helper(float a) { return a; }
"#,
        "variable size 1
         function add 2
         function sized 3
         function helper 4",
    );
}

#[test]
fn declarations_of_wgsl() {
    check(
        "WGSL",
        r#"struct Camera {
    view: mat4x4<f32>,
    @location(0) colour: vec3<f32>,
};
@group(0) @binding(0) var<uniform> camera: Camera;
const PI: f32 = 3.14;
override scale: f32 = 1.0;
alias Number = f32;
@vertex fn vs_main(@location(0) p: vec3<f32>) -> @builtin(position) vec4<f32> {
    let x = 1; var y: f32 = 2.0;
    for (var i = 0; i < 3; i++) { }
    return vec4<f32>(p, 1.0);
}
fn helper() { }
"#,
        "struct Camera 1-4
         field Camera.view 2
         field Camera.colour 3
         variable camera 5
         constant PI 6
         constant scale 7
         type Number 8
         function vs_main 9-13
         function helper 14",
    );
}

#[test]
fn labels_of_devicetree() {
    check(
        "Devicetree",
        r#"/dts-v1/;
#include "base.dtsi"
#define SIZE 3
/ {
	#address-cells = <1>;
	uart0: serial@1000 {
		status = "okay";
		port: port { };
	};
};
&uart0 { clocks = <&clk 1>; };
"#,
        "macro SIZE 3
         label uart0 6-9
         label uart0.port 8",
    );
}

#[test]
fn nothing_in_linker_scripts() {
    check(
        "Linker Script",
        r#"ENTRY(start)
SECTIONS { .text : { *(.text) } }
"#,
        "",
    );
}

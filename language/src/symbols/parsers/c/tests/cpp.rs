//! Outlines of C++.

use crate::symbols::tests::check;

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
        r#"class Attr 1
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
         function end_marker 64"#,
    );
}

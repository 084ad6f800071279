//! Outlines of Python and its relatives.

use crate::symbols::tests::check;

#[test]
fn indentation_has_bodies() {
    check(
        "python",
        "\
A = B = 1
x, y = 1, 2
z: int = 3
f = lambda x: x
class C(object):
    '''Doc
def no(): pass
'''
    field = {
'def': 1,
}

    @property
    def m(self,
  b=(1, 2)) -> 'x':
        local = 1

        def inner():
            return \"\"\"
x\"\"\"
        self.m = 2
    # comment
    async def n(self): pass
if x:
    def g(): ...
    class Color(enum.Enum):
        RED = 1
else:
    def g(
        a,
    ): return [
def h():
    pass
type T = int
x == 3; x.y = 1; x += 1
for i in x: pass
",
        "constant A 1
             constant B 1
             variable x 2
             variable y 2
             variable z 3
             function f 4
             class C 5-23
             field C.field 9
             method C.m 14-21
             function C.m.inner 18-20
             method C.n 23
             function g; 25
             enum Color 26-27
             enumerator Color.RED 27
             function g 29-31
             function h 32-33
             type T 34",
    );
}

#[test]
fn cython_declares_in_the_manner_of_c() {
    check(
        "cython",
        "\
cdef extern from \"a.h\":
    int f(int x)
    struct S:
        int a, b
    ctypedef unsigned long size
cdef class C(B):
    cdef public int n
    cdef object items
    def __init__(self):
        cdef int local = 1
    cpdef double area(self, double x) except -1:
        return x
cdef inline int g(int *p) nogil:
    return p[0]
cdef int h(int a)
cdef enum E:
    X
cdef int counter = 0, other
",
        "function f; 2
             struct S 3-4
             field S.a 4
             field S.b 4
             type size 5
             class C 6-12
             field C.n 7
             field C.items 8
             method C.__init__ 9-10
             method C.area 11-12
             function g 13-14
             function h; 15
             enum E 16-17
             enumerator E.X 17
             variable counter 18
             variable other 18",
    );
}

#[test]
fn starlark_names_its_rules() {
    check(
        "starlark",
        "load(\":a.bzl\", \"b\")\ndef _impl(ctx):\n    pass\nc = rule(\n    implementation = _impl,\n)\ncc_library(\n    name = \"lib\",\n    deps = [\n        name = \"no\",\n    ],\n)\n",
        "function _impl 2-3
             variable c 4
             target lib 8",
    );
    check(
        "meson",
        "project('a', 'c')\ncc = meson.get_compiler('c')\nif x\n  y = 1\nendif\n",
        "variable cc 2\nvariable y 4",
    );
}

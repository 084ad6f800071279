//! Fortran in free and fixed form.

use crate::symbols::tests::check;

#[test]
fn free_form() {
    check(
        "fortran",
        r#"module m
  use iso_c_binding, only: c_int
  implicit none
  private
  integer, parameter :: wp = kind(1.0d0), k = 3
  real(wp), dimension(3) :: a, b(2) = 1.0
  type, public :: point
    real(wp) :: x, y
    character(len=:), allocatable :: name
    procedure(f_t), pointer, nopass :: fp => null()
  contains
    procedure :: area
    procedure, private :: norm => norm_impl
    generic :: len => area
  end type point
  type(point) :: origin
  interface swap
    module procedure swap_r
  end interface
  abstract interface
    subroutine cb(x)
      real :: x
    end subroutine cb
  end interface
  interface operator(+)
    procedure add
  end interface
  enum, bind(c)
    enumerator :: red = 1, green
  end enum
contains
  pure elemental function area(self) result(r)
    class(point), intent(in) :: self
    real(wp) :: r
    if (r > 0) then
      r = 1
    end if
  end function area
  subroutine &
    long_name(a, &
              b)
    integer :: a, b
  end subroutine
  real(kind=wp) function f(x)
    real(wp) :: x
    f = x
  end function
  RECURSIVE SUBROUTINE Upper(N)
  ENDSUBROUTINE Upper
  integer*8 function g()
  end function
  module subroutine ms(x)
  end subroutine ms
end module m
submodule (m) sm
contains
  module procedure ms
  end procedure
end submodule
program main
  use m
  integer :: local
end program main
"#,
        r#"
         module m 1-54
         constant m.wp 5
         constant m.k 5
         variable m.a 6
         variable m.b 6
         struct m.point 7-15
         field m.point.x 8
         field m.point.y 8
         field m.point.name 9
         method m.point.fp 10
         method m.point.area 12
         method m.point.norm 13
         method m.point.len 14
         variable m.origin 16
         interface m.swap 17-19
         function m.cb; 21-23
         enumerator m.red 29
         enumerator m.green 29
         function m.area 32-38
         function m.long_name 40-43
         function m.f 44-47
         function m.Upper 48-49
         function m.g 50-51
         function m.ms 52-53
         module sm 55-59
         function sm.ms 57-58
         module main 60-63
        "#,
    );
}

#[test]
fn fixed_form() {
    check(
        "fortran",
        r#"C     a comment with 'quote
      SUBROUTINE FOO(A, B,
     &               C)
      DOUBLE PRECISION A, B
      IF (A .GT. B) THEN
        C = 1
      END IF
 100  CONTINUE
      RETURN
      END
c comment
      INTEGER FUNCTION BAR(X)
      BAR = 1
      END
      BLOCK DATA INIT
      END
      CHARACTER*(*) FUNCTION BAZ(S)
      END
"#,
        r#"
         function FOO 2-10
         function BAR 12-14
         module INIT 15-16
         function BAZ 17-18
        "#,
    );
}

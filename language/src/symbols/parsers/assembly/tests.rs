//! Assembly.

use crate::symbols::tests::check;

#[test]
fn gnu() {
    check(
        "assembly",
        r#"# comment: not a label
#define SIZE 16
#include "x.h"
	.globl	main
	.type	main, @function
main:
.LFB0:
	movl $1, %eax	# foo: bar
1:	jmp 1b
	.size	main, .-main
.macro save reg, size=4
	push \reg
\reg\()_label:
.endm
	.equ	BUF_LEN, 64
	.set	alias, main
limit = 5
data:	.long 0
ENTRY(entry_point)
SYM_FUNC_START(sys_call)
second: third: ret
"#,
        r#"
         macro SIZE 2
         function main 6
         macro save 11-14
         constant BUF_LEN 15
         constant alias 16
         constant limit 17
         label data 18
         function entry_point 19
         function sys_call 20
         label second 21
         label third 21
        "#,
    );
}

#[test]
fn nasm() {
    check(
        "assembly",
        r#"%define WIDTH 80
%macro print 2
  mov eax, %1
%%local:
%endmacro
%imacro lower 0
%endmacro
section .text
global _start
_start: ; comment
.loop:
  mov eax, 'a'
size equ $ - msg
msg: db "label: no", 10
struc point
endstruc
"#,
        r#"
         macro WIDTH 1
         macro print 2-5
         macro lower 6-7
         label _start 10
         constant size 13
         label msg 14
         struct point 15
        "#,
    );
}

#[test]
fn masm_and_go() {
    check(
        "assembly",
        r#"proc1 PROC NEAR
  ret
proc1 ENDP
mac MACRO x
ENDM
CONST1 EQU 5
TEXT ·Syscall(SB),NOSPLIT,$0-56
GLOBL runtime·table(SB), RODATA, $8
"#,
        r#"
         function proc1 1
         macro mac 4
         constant CONST1 6
         function Syscall 7
         variable table 8
        "#,
    );
}

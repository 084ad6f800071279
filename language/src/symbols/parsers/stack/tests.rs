//! Forth, PostScript and Eiffel.

use crate::symbols::tests::check;

#[test]
fn forth() {
    check(
        "forth",
        r#"\ comment : not
: square ( n -- n2 ) dup * ;
variable counter
5 constant five
: a-long? ( x ) if 1 else 2 then ; immediate
create buf 10 allot
: .hi ." hello : world" ;
"#,
        r#"
         function square 2
         variable counter 3
         constant five 4
         function a-long? 5
         variable buf 6
         function .hi 7
        "#,
    );
}

#[test]
fn postscript() {
    check(
        "postscript",
        r#"%!PS
/inch {72 mul} def
/box { % comment
  newpath
  /local 1 def
} bind def
/size 12 def
/Times-Roman findfont
(text { not) show
"#,
        r#"
         function inch 2
         function box 3-6
         constant size 7
        "#,
    );
}

#[test]
fn eiffel() {
    check(
        "eiffel",
        r#"note
	x: "y"
class
	ACCOUNT
create
	make
feature -- Init
	make (n: INTEGER)
		do
			balance := n
		end
	balance: INTEGER
	double: INTEGER
		do
			Result := 2
		end
	reset
		do
		end
end
"#,
        r#"
         class ACCOUNT 4-20
         method ACCOUNT.make 8
         field ACCOUNT.balance 12
         method ACCOUNT.double 13
         method ACCOUNT.reset 17
        "#,
    );
}

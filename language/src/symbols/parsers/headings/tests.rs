//! Documents.

use crate::symbols::tests::check;

#[test]
fn roff() {
    check(
        "roff",
        r#".\" .SH COMMENT
.TH "GREP" 1 "2020" "GNU"
.de EX
.nf
..
.SH NAME
grep \- print lines
.SH "SEE ALSO"
.SS Related programs
.SH
EXIT STATUS
.Dd today
.Dt LS 1
.Sh DESCRIPTION
.Ss Sub
"#,
        r#"
         section GREP 2-12
         macro GREP.EX 3
         section GREP.NAME 6-7
         section GREP.SEE ALSO 8-10
         section GREP.SEE ALSO.Related programs 9-10
         section GREP.EXIT STATUS 11-12
         section LS 13-15
         section LS.DESCRIPTION 14-15
         section LS.DESCRIPTION.Sub 15
        "#,
    );
}

#[test]
fn tex() {
    check(
        "tex",
        r#"\documentclass{article}
\newcommand{\foo}[1]{#1}
\renewcommand\bar{x}
\def\baz#1{#1}
\newenvironment{theorem}{}{}
% \section{Comment}
\begin{document}
\chapter{One}
\section[short]{The \emph{long} title}\label{sec:long}
Text, 50\% of it.
\subsection*{Sub}
\section{Two}
\end{document}
"#,
        r#"
         macro foo 2
         macro bar 3
         macro baz 4
         macro theorem 5
         section One 8-13
         section One.The \emph{long} title 9-11
         label One.The \emph{long} title.sec:long 9
         section One.The \emph{long} title.Sub 11
         section One.Two 12-13
        "#,
    );
}

#[test]
fn texinfo() {
    check(
        "texinfo",
        r#"\input texinfo
@c @chapter no
@node Top, First, (dir), (dir)
@top The Manual
@macro cmd{x}
@end macro
@node First, Second, Top, Top
@chapter First steps
@section Install it
@subsection On @code{Linux}
@unnumbered Index
"#,
        r#"
         label Top 3
         section The Manual 4-7
         macro The Manual.cmd 5
         label First 7
         section First steps 8-10
         section First steps.Install it 9-10
         section First steps.Install it.On @code{Linux} 10
         section Index 11
        "#,
    );
}

#[test]
fn bibtex() {
    check(
        "bibtex",
        r#"% comment
@string{acm = "ACM"}
@comment{ignored}
@Article{knuth:1984,
  author = "Knuth",
  title = {A, b}
}
@book{a-b_c, year = 1}
"#,
        r#"
         constant acm 2
         key knuth:1984 4
         key a-b_c 8
        "#,
    );
}

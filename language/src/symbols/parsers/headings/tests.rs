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

#[test]
fn headings_are_nested_by_level() {
    check(
        "markdown",
        "---\ntitle: x\n---\n# A #\ntext\n## B `b` \n```sh\n# c\n```\n   ### D#\n## E ##\n\nF\n=\nG\n---\n",
        "section A 4-12
         section A.B `b` 6-10
         section A.B `b`.D# 10
         section A.E 11-12
         section F 13-16
         section F.G 15-16",
    );
}

#[test]
fn other_lines_are_no_headings() {
    check(
        "markdown",
        "#a\n####### b\n    # c\n\n- d\n---\n> e\n---\n| f\n---\n- ```\n  # g\n  ```\n<!-- \n# h\n-->\n~~~~ c\n# i\n~~~~\n\n---\n````md\n```\n# j\n```\n````\n```a``` b\n# K\n",
        "section K 28",
    );
}

#[test]
fn hostile_text_has_few_headings() {
    check(
        "markdown",
        "---\n# a\n---\n#\n# \n# #\n#\t#\n=\n\n=\n```\n# b\n",
        "",
    );
}

#[test]
fn headings_have_no_tags() {
    check(
        "org",
        "#+TITLE: t\n* TODO [#A] A b :x:y:\ntext\n** B\n#+NAME: n\n#+BEGIN_SRC c\n,* c\n#+END_SRC\n* C: d\n*bold*\n * list\n*\n* \n",
        "section A b 2-8
         section A b.B 4-8
         label A b.B.n 5
         section C: d 9-12",
    );
}

#[test]
fn headings_and_anchors_of_asciidoc() {
    check(
        "asciidoc",
        "= A\n:toc:\n\n[[b-id]]\n== B\n----\n== c\n----\n=== D ==\n\nE f\n---\n[#g]\n.Title\n....\n= x\n....\n////\n== h\n////\nIi\n~~\n",
        "section A 1-22
         label A.b-id 4
         section A.B 5-10
         section A.B.D == 9-10
         section A.E f 11-22
         label A.E f.g 13
         section A.E f.Ii 21-22",
    );
}

//! Outlines of Perl and Raku.

use crate::symbols::tests::check;

#[test]
fn perl_has_packages_subroutines_and_constants() {
    check(
        "perl",
        "\
#!/usr/bin/perl
package A::B;
our ($VERSION, @list) = (1);
my %h = (sub => 1, y => \"}\", s => '{');
use constant PI => 3;
use constant {
    # comment
    X => 1, Y => { z => 2 },
};
has 'name' => (is => 'ro');

=head1 NAME

sub no { }

=head2 Methods  of x

=cut

sub new($class, %args) {
    my $self = { map { $_ => 1 } split /[{\"]/, $x };
    if ($x =~ m{^\\{} and s/'/}/g) { $h{y}{s} = $'; }
    print <<\"EOT\", <<'X';
sub in_heredoc {
EOT
X
    return sub { 1 };
}
sub declared;
sub proto ($$);
sub C::qualified { 1 }
{
    package D;
    sub m : lvalue
    {
        isn't($a, 1);
    }
}
package E {
    sub e { qw/}/ }
}
package # hidden
    F;
OUTER: for (@x) { last OUTER }
sub f'g { }
__END__
sub over { }

=head1 AFTER
",
        "module A.B 2-42
         variable A.B.VERSION 3
         variable A.B.list 3
         variable A.B.h 4
         constant A.B.PI 5
         constant A.B.X 8
         constant A.B.Y 8
         field A.B.name 10
         section NAME 12
         section Methods  of x 16
         function A.B.new 20-28
         function A.B.declared; 29
         function A.B.proto; 30
         function C.qualified 31
         module A.B.D 33-38
         function A.B.D.m 34-37
         module A.B.E 39-41
         function A.B.E.e 40
         module F 43-49
         label F.OUTER 44
         function F.f'g 45
         section AFTER 49",
    );
}

#[test]
fn raku_has_classes_and_rules() {
    check(
        "raku",
        "\
unit module A::B;
my constant PI = 3;
enum Color <Red Green>;
subset Even of Int where * %% 2;
role Shape { method area() { ... } }
class Square does Shape {
    has Int $.side = 1;
    has $!hidden;
    method area(--> Int) { $!side ** 2 }
    submethod BUILD() { }
    =begin pod
    class no { }
    =head1 Title
    =end pod
}
grammar G {
    token word { \\w+ }
    rule TOP { <word> }
}
multi sub f-g(Int $x) {
    my sub inner { }
}
multi method m { }
sub MAIN($x) is export { }
=begin pod
sub no { }
=end pod
sub after { }
",
        "module A.B 1-28
         constant A.B.PI 2
         enum A.B.Color 3
         type A.B.Even 4
         interface A.B.Shape 5
         method A.B.Shape.area 5
         class A.B.Square 6-15
         field A.B.Square.side 7
         field A.B.Square.hidden 8
         method A.B.Square.area 9
         method A.B.Square.BUILD 10
         section Title 13
         class A.B.G 16-19
         rule A.B.G.word 17
         rule A.B.G.TOP 18
         function A.B.f-g 20-22
         function A.B.f-g.inner 21
         method A.B.m 23
         function A.B.MAIN 24
         function A.B.after 28",
    );
}

#[test]
fn wrong_braces_are_corrected_by_indentation() {
    check(
        "perl",
        "sub a {\n    if (1) {\n}\nsub b {\n    }}}\n}\npackage P;\n}\nsub c {\n  my $x = ((;\nsub d {\n}\n",
        "function a 1-3
         function b 4-5
         module P 7-12
         function P.c 9-10
         function P.d 11-12",
    );
}

#[test]
fn modifiers_of_methods_are_methods() {
    check(
        "perl",
        "package A;\naround 'new' => sub {\n    1;\n};\noverride get => sub { 2 };\nafter($x);\n",
        "module A 1-6
         method A.new 2-4
         method A.get 5",
    );
}

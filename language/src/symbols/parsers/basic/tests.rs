//! Visual Basic, VBScript, MATLAB and COBOL.

use crate::symbols::tests::check;

#[test]
fn visual_basic() {
    check(
        "visual basic .net",
        r#"Imports System
Namespace N
  Public Class Foo
    Inherits Bar
    Private x As Integer
    Private Const MaxLen As Integer = 5
    Public Property Name As String
    Public Sub New(ByVal a As Integer)
      Dim local As Integer = 1
      If a > 1 Then
        x = a
      End If
    End Sub
    Public Shared Function Add(a As Integer, _
        b As Integer) As Integer
      Return a + b
    End Function
    Public MustOverride Sub Draw()
    Public Property Age() As Integer
      Get
        Return 1
      End Get
      Set(v As Integer)
      End Set
    End Property
    Private Declare Function GetTick Lib "kernel32" () As Long
  End Class
  Public Interface IFoo
    Function Bar() As Integer
  End Interface
  Enum Color
    Red
    Green = 2
  End Enum
  Module M
    Public g As Integer
    Sub Main()
    End Sub
  End Module
End Namespace
"#,
        r#"
         module N 2-40
         class N.Foo 3-27
         field N.Foo.x 5
         constant N.Foo.MaxLen 6
         field N.Foo.Name 7
         method N.Foo.New 8-13
         method N.Foo.Add 14-17
         method N.Foo.Draw; 18
         field N.Foo.Age 19
         method N.Foo.GetTick; 26
         interface N.IFoo 28-30
         method N.IFoo.Bar; 29
         enum N.Color 31-34
         enumerator N.Color.Red 32
         enumerator N.Color.Green 33
         module N.M 35-39
         variable N.M.g 36
         function N.M.Main 37-38
        "#,
    );
}

#[test]
fn vbscript() {
    check(
        "vbscript",
        r#"Option Explicit
Const MAX = 5
Dim a, b
Class Foo
  Private m_x
  Public Default Property Get X
    X = m_x
  End Property
  Private Sub Class_Initialize()
    Dim local
  End Sub
End Class
' Sub Comment()
Function Add(x, y)
  If x > 1 Then
    Add = x
  End If
End Function
"#,
        r#"
         constant MAX 2
         variable a 3
         variable b 3
         class Foo 4-12
         field Foo.m_x 5
         field Foo.X 6
         method Foo.Class_Initialize 9-11
         function Add 14-18
        "#,
    );
}

#[test]
fn matlab() {
    check(
        "matlab",
        r#"classdef Foo < handle
  properties (Access = private)
    a
    b = 1;
  end
  enumeration
    Red, Green
  end
  methods
    function obj = Foo(x)
      if x, obj.a = x(end); end
    end
    function v = get.a(obj)
      for i = 1:3
        v = i;
      end
    end
  end
end
function [p, q] = helper(x)
  p = x';
end
function noargs
  disp('end');
end
"#,
        r#"
         class Foo 1-19
         field Foo.a 3
         field Foo.b 4
         enumerator Foo.Red 7
         enumerator Foo.Green 7
         method Foo.Foo 10-12
         method Foo.a 13-17
         function helper 20-22
         function noargs 23-25
        "#,
    );
}

#[test]
fn cobol() {
    check(
        "cobol",
        r#"       IDENTIFICATION DIVISION.
       PROGRAM-ID. HELLO.
      * comment's
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 WS-REC.
          05 WS-NAME PIC X(10).
          05 FILLER PIC X.
          88 IS-OK VALUE 1.
       77 COUNTER PIC 9.
       PROCEDURE DIVISION.
       MAIN-SECTION SECTION.
       MAIN-PARA.
           DISPLAY 'X'.
           PERFORM SUB-PARA
           STOP RUN.
       SUB-PARA.
           EXIT.
       END PROGRAM HELLO.
"#,
        r#"
         module HELLO 2-19
         variable HELLO.WS-REC 6
         field HELLO.WS-NAME 7
         enumerator HELLO.IS-OK 9
         variable HELLO.COUNTER 10
         function HELLO.MAIN-SECTION 12
         function HELLO.MAIN-PARA 13
         function HELLO.SUB-PARA 17
        "#,
    );
}

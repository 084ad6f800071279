//! Pascal.

use crate::symbols::tests::check;

#[test]
fn units_have_declarations_and_bodies() {
    check(
        "pascal",
        r#"unit Foo.Bar;
interface
uses SysUtils;
const
  MaxLen = 10;
  Arr: array[0..1] of Integer = (1, 2);
type
  TColor = (clRed, clGreen);
  TFwd = class;
  TRec = packed record
    X, Y: Integer;
    case Boolean of
      True: (A: Integer);
  end;
  TFoo = class(TObject, IBar)
  private
    FName: string;
    procedure SetName(const V: string);
  public
    constructor Create(A: Integer; B: string); override;
    class function Make: TFoo; static;
    property Name: string read FName write SetName;
  end;
  EErr = class(Exception);
  TMeta = class of TFoo;
  IBar = interface ['{ABC}']
    procedure Go;
  end;
  TProc = procedure(A: Integer) of object;
  TList<T> = class
    function Get(I: Integer): T;
  end;
var
  Global, Other: Integer;
function Add(A, B: Integer): Integer; overload;
implementation
procedure Ext; external 'lib' name 'x';
procedure Later; forward;
function Add(A, B: Integer): Integer;
var
  Local: Integer;
  procedure Inner;
  begin
    Local := 1;
  end;
begin
  try
    case A of
      1: begin end;
    end;
  finally
    Inner;
  end;
  Result := A;
end;
constructor TFoo.Create(A: Integer; B: string);
begin
  inherited;
end;
function TList<T>.Get(I: Integer): T;
begin
end;
initialization
  Global := 1;
end.
"#,
        r#"
         module Foo.Bar 1
         constant MaxLen 5
         constant Arr 6
         enum TColor 8
         enumerator TColor.clRed 8
         enumerator TColor.clGreen 8
         class TFwd; 9
         struct TRec 10-14
         field TRec.X 11
         field TRec.Y 11
         class TFoo 15-23
         field TFoo.FName 17
         method TFoo.SetName; 18
         method TFoo.Create; 20
         method TFoo.Make; 21
         field TFoo.Name 22
         class EErr 24
         type TMeta 25
         interface IBar 26-28
         method IBar.Go; 27
         type TProc 29
         class TList 30-32
         method TList.Get; 31
         variable Global 34
         variable Other 34
         function Add; 35
         function Ext; 37
         function Later; 38
         function Add 39-55
         function Add.Inner 42-45
         method TFoo.Create 56-59
         method TList.Get 60-62
        "#,
    );
}

//! Ada and VHDL.

use crate::symbols::tests::check;

#[test]
fn ada() {
    check(
        "ada",
        r#"with Ada.Text_IO; use Ada.Text_IO;
package body Foo.Bar is
   Max : constant Integer := 10;
   A, B : Integer;
   type Color is (Red, Green);
   type Rec is tagged record
      X, Y : Float := 0.0;
      case Z is
         when 1 => Q : Integer;
      end case;
   end record;
   type Null_Rec is null record;
   type Ptr is access all Rec;
   subtype Small is Integer range 1 .. 5;
   type Fwd;
   procedure Spec_Only (X : Integer);
   function "+" (L, R : Rec) return Rec;
   procedure Do_It (X : in out Integer; Y : Integer) is
      Local : Integer := 1;
      procedure Nested is
      begin
         null;
      end Nested;
   begin
      if X > 1 then
         X := 2;
      end if;
      declare
         Z : Integer;
      begin
         Z := 1;
      end;
      begin
         null;
      exception
         when others => null;
      end;
      for I in 1 .. 2 loop
         null;
      end loop;
   end Do_It;
   function Expr (X : Integer) return Integer is (X + 1);
   overriding function Name (S : T) return String is
     begin return "a"; end Name;
   procedure Nothing is null;
   package Inner is new Generic_Pkg (Integer);
   task type Worker is
      entry Start (X : Integer);
   end Worker;
   task body Worker is
   begin
      accept Start (X : Integer) do
         null;
      end Start;
   end Worker;
   protected Lock is
      procedure Acquire;
   private
      Held : Boolean;
   end Lock;
   generic
      type Item is private;
      with procedure P (X : Item);
   procedure Gen (X : Item);
   Err : exception;
end Foo.Bar;
"#,
        r#"
         module Foo.Bar 2-66
         constant Foo.Bar.Max 3
         variable Foo.Bar.A 4
         variable Foo.Bar.B 4
         enum Foo.Bar.Color 5
         enumerator Foo.Bar.Color.Red 5
         enumerator Foo.Bar.Color.Green 5
         struct Foo.Bar.Rec 6-11
         field Foo.Bar.Rec.X 7
         field Foo.Bar.Rec.Y 7
         struct Foo.Bar.Null_Rec 12
         type Foo.Bar.Ptr 13
         type Foo.Bar.Small 14
         type Foo.Bar.Fwd; 15
         function Foo.Bar.Spec_Only; 16
         function Foo.Bar.+; 17
         function Foo.Bar.Do_It 18-41
         function Foo.Bar.Do_It.Nested 20-23
         function Foo.Bar.Expr 42
         function Foo.Bar.Name 43-44
         function Foo.Bar.Nothing 45
         module Foo.Bar.Inner 46
         class Foo.Bar.Worker 47-49
         method Foo.Bar.Worker.Start; 48
         class Foo.Bar.Worker 50-55
         class Foo.Bar.Lock 56-60
         function Foo.Bar.Lock.Acquire; 57
         field Foo.Bar.Lock.Held 59
         function Foo.Bar.Gen; 64
         type Foo.Bar.Err 65
        "#,
    );
}

#[test]
fn vhdl() {
    check(
        "vhdl",
        r#"library ieee;
use ieee.std_logic_1164.all;
entity counter is
  generic (W : integer := 8);
  port (clk, rst : in std_logic;
        q : out std_logic_vector(W-1 downto 0));
end entity counter;
architecture rtl of counter is
  signal cnt, nxt : unsigned(7 downto 0);
  constant MAX : integer := 3;
  type state_t is (IDLE, RUN);
  type rec_t is record
    a : std_logic;
  end record;
  component fifo
    port (d : in std_logic);
  end component;
  function f(x : integer) return integer is
    variable v : integer;
  begin
    if x > 1 then
      return 1;
    end if;
  end function f;
begin
  p : process (clk) is
    variable z : integer;
  begin
    if rising_edge(clk) then
      cnt <= nxt;
    end if;
  end process p;
  g : for i in 0 to 3 generate
    u : fifo port map (d => clk);
  end generate;
end architecture rtl;
package pkg is
  procedure proc(x : integer);
end package pkg;
package body pkg is
  procedure proc(x : integer) is
  begin
  end procedure;
end package body;
"#,
        r#"
         module counter 3-7
         field counter.clk 5
         field counter.rst 5
         field counter.q 6
         implementation counter.rtl 8-36
         variable counter.rtl.cnt 9
         variable counter.rtl.nxt 9
         constant counter.rtl.MAX 10
         enum counter.rtl.state_t 11
         enumerator counter.rtl.state_t.IDLE 11
         enumerator counter.rtl.state_t.RUN 11
         struct counter.rtl.rec_t 12-14
         field counter.rtl.rec_t.a 13
         module counter.rtl.fifo; 15-17
         field counter.rtl.fifo.d 16
         function counter.rtl.f 18-24
         module pkg 37-39
         function pkg.proc; 38
         module pkg 40-44
         function pkg.proc 41-43
        "#,
    );
}

//! SystemVerilog.

use crate::symbols::tests::check;

#[test]
fn systemverilog() {
    check(
        "systemverilog",
        r#"`define WIDTH 8
`define MULTI(x) \
  module fake; \
  x
`timescale 1ns/1ps
package pkg;
  typedef enum logic [1:0] {IDLE, RUN = 2'd1} state_t;
  typedef struct packed { logic [3:0] a; int b, c; } rec_t;
  typedef logic [7:0] byte_t;
  typedef class Fwd;
  parameter int P = 3, Q = 4;
endpackage : pkg
module counter #(parameter W = 8, parameter type T = int) (
  input logic clk, rst,
  output reg [W-1:0] q
);
  localparam L = 3;
  wire [3:0] a, b = 1;
  reg r;
  always @(posedge clk) begin : blk
    integer i;
    if (rst) q <= 0;
    else begin q <= q + 1; end
  end
  function automatic [7:0] add(input [7:0] x);
    reg t;
    add = x + 1;
  endfunction
  task t1;
    input x;
    begin
      x = 1;
    end
  endtask : t1
  sub u1 (.clk(clk));
  generate for (genvar g = 0; g < 2; g++) begin : gen
    wire w;
  end endgenerate
endmodule
class Base extends Foo;
  rand int x;
  constraint c1 { x > 0; }
  extern function void ext(int a);
  pure virtual function int pv();
  function new(string name);
    super.new(name);
  endfunction
  virtual task run(); endtask
endclass
function void Base::ext(int a);
endfunction
interface bus_if(input clk);
  logic req;
  modport m(input req);
endinterface
import "DPI-C" function int c_func(int a);
module old(a, b);
  input a;
  output [3:0] b;
endmodule
"#,
        r#"
         macro WIDTH 1
         macro MULTI 2
         module pkg 6-12
         enumerator pkg.state_t.IDLE 7
         enumerator pkg.state_t.RUN 7
         enum pkg.state_t 7
         field pkg.rec_t.a 8
         field pkg.rec_t.b 8
         field pkg.rec_t.c 8
         struct pkg.rec_t 8
         type pkg.byte_t 9
         class pkg.Fwd; 10
         constant pkg.P 11
         constant pkg.Q 11
         module counter 13-39
         constant counter.W 13
         constant counter.T 13
         field counter.clk 14
         field counter.rst 14
         field counter.q 15
         constant counter.L 17
         variable counter.a 18
         variable counter.b 18
         variable counter.r 19
         function counter.add 25-28
         function counter.t1 29-34
         class Base 40-49
         field Base.x 41
         field Base.c1 42
         method Base.ext; 43
         method Base.pv; 44
         method Base.new 45-47
         method Base.run 48
         method Base.ext 50-51
         interface bus_if 52-55
         field bus_if.clk 52
         variable bus_if.req 53
         function c_func; 56
         module old 57-60
         field old.a 58
         field old.b 59
        "#,
    );
}

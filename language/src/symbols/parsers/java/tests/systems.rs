//! Languages with functions outside of types.

use crate::symbols::tests::check_rows;

#[test]
fn d() {
    check_rows(
        "D",
        r##"module app.main;
import std.stdio, std.conv : to;
enum VERSION = "1.0";
enum int LIMIT = 5;
immutable x = 3;
__gshared int counter;
alias Handler = void function(int);
alias int MyInt;
enum Color : ubyte { red, green = 5, blue }
struct Point {
    int x, y;
    this(int x) { this.x = x; }
    ~this() {}
    Point opBinary(string op)(Point o) if (op == "+") { return this; }
    @property int sum() const { return x + y; }
}
interface Shape { double area(); }
class Square : Shape {
    private double side = 1;
public:
    override double area() { return side * side; }
    void each(int delegate(int) dg) {
        foreach (i; 0 .. 3) { dg(i); }
        void helper() { }
    }
    static if (true) {
        void conditional() {}
    }
    version (Windows) { int handle; } else { int fd; }
    invariant { assert(side > 0); }
}
template Max(T) {
    T max(T a, T b) { return a > b ? a : b; }
}
mixin template Loud() { void shout() {} }
auto twice(T)(T x) pure nothrow @safe
in { assert(x); }
do { return x * 2; }
extern (C) int printf(const char* fmt, ...);
extern (C) {
    void cfun(int);
}
union U { int a; float b; }
unittest { int local = 1; assert(local); }
void main(string[] args) {
    auto s = `a "b" {`;
    writeln(r"c:\");
}
"##,
        "module app.main 1 | constant VERSION 3 | constant LIMIT 4 | constant x 5
             variable counter 6 | type Handler 7 | type MyInt 8 | enum Color 9
             enumerator Color.red 9 | enumerator Color.green 9 | enumerator Color.blue 9
             struct Point 10-16 | field Point.x 11 | field Point.y 11 | method Point.this 12
             method Point.this 13 | method Point.opBinary 14 | method Point.sum 15
             interface Shape 17 | method Shape.area; 17 | class Square 18-31
             field Square.side 19 | method Square.area 21 | method Square.each 22-25
             method Square.conditional 27 | field Square.handle 29 | field Square.fd 29
             module Max 32-34 | function Max.max 33 | module Loud 35 | function Loud.shout 35
             function twice 36-37 | function printf; 39 | function cfun; 41 | union U 43
             field U.a 43 | field U.b 43 | function main 45-48",
    );
}

#[test]
fn vala() {
    check_rows(
        "Vala",
        r##"using GLib;
namespace App {
    public const string NAME = "app";
    public errordomain AppError { NOT_FOUND, FAILED }
    public delegate int Compare (int a, int b);
    [CCode (cname = "thing")]
    public class Window : Gtk.Window, Iface {
        private int count = 0;
        public string title { get; set; default = "x"; }
        public signal void closed (int code);
        public Window (int w) { Object (width: w); }
        public Window.with_name (string n) { }
        construct { count = 1; }
        static construct { }
        ~Window () { }
        public async void load (string uri) throws Error {
            foreach (var x in list) { }
            button.clicked.connect (() => { count++; });
        }
        public override bool draw (Cairo.Context cr) {
            return true;
        }
        public abstract void todo ();
    }
    public interface Iface : Object { public abstract string get_name (); }
    public enum Mode { A, B = 2; public string to_string () { return "x"; } }
    public struct Rect { public int x; public int y; }
}
int main (string[] args) {
    print (@"a $(args[0])");
    return 0;
}
"##,
        "module App 2-28 | constant App.NAME 3 | enum App.AppError 4
             enumerator App.AppError.NOT_FOUND 4 | enumerator App.AppError.FAILED 4
             type App.Compare 5 | class App.Window 7-24 | field App.Window.count 8
             field App.Window.title 9 | method App.Window.closed 10 | method App.Window.Window 11
             method App.Window.with_name 12 | method App.Window.Window 15
             method App.Window.load 16-19 | method App.Window.draw 20-22
             method App.Window.todo; 23 | interface App.Iface 25 | method App.Iface.get_name; 25
             enum App.Mode 26 | enumerator App.Mode.A 26 | enumerator App.Mode.B 26
             method App.Mode.to_string 26 | struct App.Rect 27 | field App.Rect.x 27
             field App.Rect.y 27 | function main 29-32",
    );
}

#[test]
fn solidity() {
    check_rows(
        "Solidity",
        r##"pragma solidity ^0.8.0;
import {Ownable} from "@openzeppelin/Ownable.sol";
error NotOwner(address who);
uint256 constant MAX = 10;
interface IToken { function balanceOf(address a) external view returns (uint256); event Moved(address a); }
library SafeMath { function add(uint a, uint b) internal pure returns (uint) { return a + b; } }
abstract contract Token is IToken, Ownable {
    using SafeMath for uint256;
    enum State { Idle, Active }
    struct Holder { address who; uint256 amount; mapping(uint => bool) seen; }
    mapping(address => mapping(address => uint256)) private _allowances;
    uint256 public totalSupply;
    address public immutable owner;
    string public constant name = "T";
    Holder[] public holders;
    event Transfer(address indexed from, address indexed to, uint256 value);
    modifier onlyOwner() { require(msg.sender == owner, "x"); _; }
    constructor(uint256 supply) Ownable() { totalSupply = supply; }
    receive() external payable {}
    fallback() external {}
    function transfer(address to, uint256 amount) public virtual override onlyOwner returns (bool) {
        uint256 local = 1;
        emit Transfer(msg.sender, to, amount);
        unchecked { local++; }
        return true;
    }
    function todo() external virtual;
}
function free(uint x) pure returns (uint) { return x; }
"##,
        "function NotOwner 3 | constant MAX 4 | interface IToken 5
             method IToken.balanceOf; 5 | function IToken.Moved 5 | module SafeMath 6
             function SafeMath.add 6 | class Token 7-28 | enum Token.State 9
             enumerator Token.State.Idle 9 | enumerator Token.State.Active 9
             struct Token.Holder 10 | field Token.Holder.who 10 | field Token.Holder.amount 10
             field Token.Holder.seen 10 | field Token._allowances 11 | field Token.totalSupply 12
             constant Token.owner 13 | constant Token.name 14 | field Token.holders 15
             function Token.Transfer 16 | method Token.onlyOwner 17 | method Token.transfer 21-26
             method Token.todo; 27 | function free 29",
    );
}

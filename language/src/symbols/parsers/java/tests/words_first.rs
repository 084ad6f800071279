//! Languages with a word before a name.

use crate::symbols::tests::check_rows;

#[test]
fn kotlin() {
    check_rows(
        "Kotlin",
        r##"@file:JvmName("Util")
package com.example.app

import kotlin.math.max

const val TAG = "main"
private val cache = mutableMapOf<String, List<Int>>()
var counter: Int = 0
    private set

typealias Handler = (String) -> Unit

interface Shape<T : Comparable<T>> {
    val area: Double
    fun scale(by: Double): Shape<T>
    fun name() = "shape"
}

data class Point(val x: Int, var y: Int = 0, other: String) : Base(other), Shape<Int> {
    override val area get() = 0.0
    init {
        val local = 1
        println("${if (x > 0) "a" else "b"} $y")
    }
    constructor(p: Point) : this(p.x, p.y, "") {
        counter++
    }
    companion object {
        const val ZERO = 0
        @JvmStatic
        fun origin(): Point = Point(0, 0, "")
    }
    inner class Inner
    suspend inline fun <reified T> load(id: T): T? {
        fun helper(a: Int) = a + 1
        return when (id) {
            is String -> null
            else -> object : Callback<T> {
                override fun onDone(x: T) {}
            }
        }
    }
}

enum class Color(val rgb: Int) {
    RED(0xff0000) {
        override fun hot() = true
    },
    GREEN(0x00ff00);

    abstract fun hot(): Boolean
}

sealed class Result
object Success : Result()
annotation class Marker
fun interface Op { fun run(x: Int): Int }

fun String.shout(): String = uppercase()
fun <T> List<T>.second(): T? where T : Any {
    return this.getOrNull(1)
}
val String.lastChar: Char
    get() = this[length - 1]
val lazyValue: String by lazy {
    "x"
}
internal operator fun Point.plus(o: Point) = Point(x + o.x, y + o.y, "")
class Built<T : Enum<T>>
internal constructor(
    private val kind: Class<T>,
) : Base<T?>() {
    private val x = kind
}
class Tests {
    @Test
    fun `adds two numbers`() {
        assertEquals(2, 1 + 1)
    }
}
expect fun platform(): String
"##,
        "module com.example.app 2 | constant TAG 6 | variable cache 7 | variable counter 8
             type Handler 11 | interface Shape 13-17 | field Shape.area 14
             method Shape.scale; 15 | method Shape.name 16 | class Point 19-43 | field Point.x 19
             field Point.y 19 | field Point.area 20 | constant Point.ZERO 29
             method Point.origin 31 | class Point.Inner 33 | method Point.load 34-42
             function Point.load.helper 35 | method Point.load.onDone 39 | enum Color 45-52
             field Color.rgb 45 | enumerator Color.RED 46-48 | method Color.RED.hot 47
             enumerator Color.GREEN 49 | method Color.hot; 51 | class Result 54
             class Success 55 | class Marker 56 | interface Op 57 | method Op.run; 57
             function String.shout 59 | function List.second 60-62 | variable String.lastChar 63
             variable lazyValue 65-67 | function Point.plus 68 | class Built 69-74
             field Built.kind 71 | field Built.x 73 | class Tests 75-80
             method Tests.adds two numbers 77-79 | function platform; 81",
    );
}

#[test]
fn scala() {
    check_rows(
        "Scala",
        r##"package com.example
package object util {
  type Id = Long
}
import scala.collection.mutable

sealed trait Expr[+T] extends Serializable {
  def eval(env: Map[String, Int]): Int
  val name: String
}
case class Num(value: Int, val tag: String = "") extends Expr[Int] {
  override def eval(env: Map[String, Int]): Int = value
  private[this] var count = 0
  lazy val cached: Int = {
    val local = 1
    def inner(x: Int) = x
    inner(local)
  }
}
case object Empty extends Expr[Nothing]
object Num {
  implicit def fromInt(x: Int): Num = Num(x)
  implicit class Rich(val n: Num) extends AnyVal {
    def double = Num(n.value * 2)
  }
  def apply[T](x: T)(implicit ev: T => Int): Num =
    new Num(ev(x)) with Loud {
      def shout(): Unit = ()
    }
  def main(args: Array[String]): Unit = {
    args.foreach { a =>
      println(s"${a.map { c => c }}")
    }
  }
  final val Max = 10
  val (a, b) = (1, 2)
}
abstract class Base(x: Int) {
  def run(): Unit
  protected def stop(): Unit = {}
}
enum Color(val rgb: Int):
  case Red extends Color(0xff0000)
  case Green, Blue
  def hex: String = rgb.toHexString

object App:
  def main(): Unit =
    val x = 1
    def helper(y: Int): Int =
      y + 1
    println(helper(x))

  val after = 2
  class Nested(a: Int):
    def m = a
  end Nested

extension (s: String)
  def shout: String = s.toUpperCase
  def quiet: String = s.toLowerCase

given intOrd: Ord[Int] with
  def compare(x: Int, y: Int) = x - y

def topLevel(x: Int) = {
  case class Local(a: Int)
  x match { case Red => 1 }
}
trait Last
"##,
        "module com.example 1 | class util 2-4 | type util.Id 3 | interface Expr 7-10
             method Expr.eval; 8 | field Expr.name 9 | class Num 11-19 | field Num.value 11
             field Num.tag 11 | method Num.eval 12 | field Num.count 13 | field Num.cached 14-18
             function Num.cached.inner 16 | class Empty 20 | class Num 21-37
             method Num.fromInt 22 | class Num.Rich 23-25 | field Num.Rich.n 23
             method Num.Rich.double 24 | method Num.apply 26-29 | method Num.apply.shout 28
             method Num.main 30-34 | field Num.Max 35 | class Base 38-41 | method Base.run; 39
             method Base.stop 40 | enum Color 42-45 | field Color.rgb 42
             enumerator Color.Red 43 | enumerator Color.Green 44 | enumerator Color.Blue 44
             method Color.hex 45 | class App 47-57 | method App.main 48-52
             function App.main.helper 50-51 | field App.after 54 | class App.Nested 55-56
             method App.Nested.m 56 | method shout 60 | method quiet 61 | variable intOrd 63-64
             method intOrd.compare 64 | function topLevel 66-69 | class topLevel.Local 67
             field topLevel.Local.a 67 | interface Last 70",
    );
}

#[test]
fn swift() {
    check_rows(
        "Swift",
        r##"import Foundation
#if os(macOS)
let platform = "mac"
#else
let platform = "other"
#endif
public typealias Completion = (Result<Data, Error>) -> Void
let maxRetries = 3, minRetries = 1
var shared: Client?

public protocol Service: AnyObject {
    associatedtype Output
    var name: String { get }
    func fetch(_ id: Int) async throws -> Output
    init(name: String)
    static func make() -> Self
}
@objc public final class Client: NSObject, Service {
    public static let `default` = Client(name: "x")
    private(set) var items: [String: [Int]] = [:]
    lazy var formatter: DateFormatter = {
        let f = DateFormatter()
        return f
    }()
    @Published var count = 0 {
        didSet { print("\(oldValue)") }
    }
    weak var delegate: Delegate?
    required public init(name: String) {
        self.name = name
    }
    convenience init?(coder: NSCoder) { return nil }
    deinit { }
    public func fetch(_ id: Int) async throws -> Int {
        func nested(x: Int) -> Int { x }
        guard let y = opt else { return 0 }
        if let z = y { use(z) }
        return items.map { $0.count }.reduce(0, +)
    }
    class func shared<T: Service>(of type: T.Type) -> T where T.Output == Int {
        fatalError()
    }
    subscript(index: Int) -> Int { items[index] }
    enum Kind: String, CaseIterable {
        case small = "s", large
        indirect case nested(Kind, depth: Int)
        var label: String { rawValue }
    }
    struct Options: OptionSet {
        let rawValue: Int
        static let fast = Options(rawValue: 1 << 0)
    }
}
extension Array where Element: Comparable {
    func sortedCopy() -> [Element] { sorted() }
}
extension Client.Kind: CustomStringConvertible {
    var description: String { label }
}
extension Box where Self == Int {
    static var one: Int { 1 }
}
actor Counter {
    var value = 0
    func inc() { value += 1 }
}
func == (a: Client, b: Client) -> Bool { true }
func topLevel() {
}
"##,
        "constant platform 3 | constant platform 5 | type Completion 7
             constant maxRetries 8 | constant minRetries 8 | variable shared 9
             interface Service 11-17 | type Service.Output 12 | field Service.name 13
             method Service.fetch; 14 | method Service.init; 15 | method Service.make; 16
             class Client 18-53 | field Client.default 19 | field Client.items 20
             field Client.formatter 21-24 | field Client.count 25-27 | field Client.delegate 28
             method Client.init 29-31 | method Client.init 32 | method Client.deinit 33
             method Client.fetch 34-39 | function Client.fetch.nested 35
             method Client.shared 40-42 | method Client.subscript 43 | enum Client.Kind 44-48
             enumerator Client.Kind.small 45 | enumerator Client.Kind.large 45
             enumerator Client.Kind.nested 46 | field Client.Kind.label 47
             struct Client.Options 49-52 | field Client.Options.rawValue 50
             field Client.Options.fast 51 | implementation Array 54-56
             method Array.sortedCopy 55 | implementation Kind 57-59 | field Kind.description 58
             implementation Box 60-62 | field Box.one 61 | class Counter 63-66
             field Counter.value 64 | method Counter.inc 65 | function topLevel 68-69",
    );
}

#[test]
fn haxe() {
    check_rows(
        "Haxe",
        r##"package com.example;
import haxe.ds.StringMap;
typedef Point = { x:Int, y:Int };
typedef Cb = Int->Void;
enum Color { Red; Green; Rgb(r:Int, g:Int); }
enum abstract Mode(Int) { var A = 1; var B = 2; }
abstract Meters(Float) from Float to Float {
    public inline function new(v:Float) this = v;
    @:op(A + B) public function add(o:Meters):Meters { return null; }
}
interface IShape { public function area():Float; var name(get, never):String; }
@:keep class Circle extends Shape implements IShape {
    public static inline var PI2:Float = 6.28;
    public var radius(default, null):Float;
    final id:Int = 1;
    public function new(r:Float) { super(); radius = r; }
    public function area():Float {
        var local = function(x) { return x; };
        return switch (x) { case Red: 1; default: 2; };
    }
    static function main() { trace('hi ${1}'); }
    override public function toString<T>(x:Map<String, T>):String return "c";
}
"##,
        "module com.example 1 | type Point 3 | type Cb 4 | enum Color 5
             enumerator Color.Red 5 | enumerator Color.Green 5 | enumerator Color.Rgb 5
             enum Mode 6 | field Mode.A 6 | field Mode.B 6 | type Meters 7-10
             method Meters.new 8 | method Meters.add 9 | interface IShape 11
             method IShape.area; 11 | field IShape.name 11 | class Circle 12-23
             field Circle.PI2 13 | field Circle.radius 14 | field Circle.id 15
             method Circle.new 16 | method Circle.area 17-20 | method Circle.main 21
             method Circle.toString 22",
    );
}

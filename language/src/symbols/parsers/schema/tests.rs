use crate::symbols::tests::check;

#[test]
fn protocol_buffers_have_messages_and_services() {
    check(
        "proto",
        "syntax = \"proto3\";\npackage a.b.c;\nimport \"x.proto\";\noption java_package = \"a\";\n// message No {\nmessage M {\n  option deprecated = true;\n  reserved 2, 15;\n  repeated string name = 1 [deprecated = true];\n  map<string, .a.N> m = 4;\n  oneof kind {\n    int32 x = 5;\n    string message = 6;\n  }\n  enum E { option allow_alias = true; A = 0; B = 1; }\n  message N { optional group G = 1 { required int32 g = 2; } }\n  extensions 100 to 199;\n}\nextend google.protobuf.FieldOptions { optional string ext = 50000; }\nservice S {\n  option (x) = { a: 1 };\n  rpc Get(Req) returns (stream Res) {\n    option (http) = { get: \"/v1\" };\n  }\n  rpc Put (Req)\n      returns (Res);\n}\n",
        "module a.b.c 2
         struct M 6-18
         field M.name 9
         field M.m 10
         field M.kind 11
         field M.x 12
         field M.message 13
         enum M.E 15
         enumerator M.E.A 15
         enumerator M.E.B 15
         struct M.N 16
         struct M.N.G 16
         field M.N.G.g 16
         field ext 19
         interface S 20-27
         method S.Get 22-24
         method S.Put 25",
    );
}

#[test]
fn thrift_has_structs_and_services() {
    check(
        "thrift",
        "namespace java a.b\ninclude \"x.thrift\"\ntypedef map<string, i32> Counts\nconst i32 MAX = 10\nconst map<string,string> M = {\n  \"a\": \"b\"\n}\nenum E {\n  A = 1,\n  B\n  C;\n}\nstruct S\n{\n  1: required string name = \"x\",\n  2: map<string, list<i32>> counts (a = \"b\")\n  optional i64 n; 4: bool b\n}\nunion U { 1: i32 x, 2: string y }\nexception X { 1: string why }\nservice Svc extends base.Base {\n  i32 add(1: i32 a, 2: i32 b) throws (1: X x),\n  oneway void zip()\n}\n",
        "module a.b 1
         type Counts 3
         constant MAX 4
         constant M 5
         enum E 8-12
         enumerator E.A 9
         enumerator E.B 10
         enumerator E.C 11
         struct S 13-18
         field S.name 15
         field S.counts 16
         field S.n 17
         field S.b 17
         union U 19
         field U.x 19
         field U.y 19
         struct X 20
         field X.why 20
         interface Svc 21-24
         method Svc.add 22
         method Svc.zip 23",
    );
}

#[test]
fn cap_n_proto_and_flat_buffers_have_fields() {
    check(
        "capnp",
        "@0xdbb9ad1f14bf0b36;\nusing Cxx = import \"/c++.capnp\";\n$Cxx.namespace(\"a\");\nusing Id = UInt64;\nconst max :UInt32 = 10;\nannotation foo(struct) :Text;\nstruct S @0xabc {\n  name @0 :Text = \"x\"; # comment {\n  list @1 :List(T);\n  union {\n    a @2 :Void;\n    b :group { c @3 :Bool; }\n  }\n  enum E { x @0; y @1; }\n}\ninterface I extends(J) {\n  get @0 (a :Text) -> (b :S);\n}\n",
        "type Id 4
         constant max 5
         macro foo 6
         struct S 7-15
         field S.name 8
         field S.list 9
         field S.a 11
         field S.b 12
         field S.b.c 12
         enum S.E 14
         enumerator S.E.x 14
         enumerator S.E.y 14
         interface I 16-18
         method I.get 17",
    );
    check(
        "fbs",
        "namespace A.B;\nattribute \"p\";\nenum Color : byte { Red = 0, Green, Blue = 2 }\nunion Any { Monster, W: Weapon }\nstruct Vec3 { x:float; y:float; }\ntable Monster {\n  pos:Vec3 (id: 0);\n  inventory:[ubyte];\n  color:Color = Blue;\n}\nrpc_service Store { Get(Monster):Stat (streaming: \"x\"); }\nroot_type Monster;\n",
        "module A.B 1
         enum Color 3
         enumerator Color.Red 3
         enumerator Color.Green 3
         enumerator Color.Blue 3
         union Any 4
         struct Vec3 5
         field Vec3.x 5
         field Vec3.y 5
         struct Monster 6-10
         field Monster.pos 7
         field Monster.inventory 8
         field Monster.color 9
         interface Store 11
         method Store.Get 11",
    );
}

#[test]
fn web_idl_has_attributes_and_operations() {
    check(
        "webidl",
        "[Exposed=(Window,Worker)]\ninterface Node : EventTarget {\n  const unsigned short ELEMENT_NODE = 1;\n  readonly attribute DOMString nodeName;\n  [CEReactions] attribute DOMString? nodeValue;\n  constructor(optional any x = {});\n  Node appendChild(Node node);\n  static Promise<undefined> go((A or B) x);\n  (A or B) both();\n  getter DOMString (unsigned long i);\n  getter Node? item(unsigned long i);\n  iterable<Node, any>;\n  stringifier;\n};\npartial interface mixin Mix { void f(); };\ndictionary D : E {\n  required DOMString a;\n  sequence<long> b = [];\n};\nenum Kind { \"x\", \"y\" };\ntypedef (DOMString or Node) N;\ncallback Done = undefined (any x);\ncallback interface L { undefined handle(Event e); };\nnamespace console { undefined log(any... data); };\nNode includes Mix;\n",
        "interface Node 2-14
         constant Node.ELEMENT_NODE 3
         field Node.nodeName 4
         field Node.nodeValue 5
         method Node.appendChild 7
         method Node.go 8
         method Node.both 9
         method Node.item 11
         interface Mix 15
         method Mix.f 15
         struct D 16-19
         field D.a 17
         field D.b 18
         enum Kind 20
         type N 21
         type Done 22
         interface L 23
         method L.handle 23
         module console 24
         method console.log 24",
    );
}

#[test]
fn graph_ql_has_types_and_operations() {
    check(
        "graphql",
        "schema { query: Query }\n\"\"\"\nA user {\n\"\"\"\ntype User implements Node & X @key(fields: \"id\")\n{\n  \"Its id\"\n  id: ID!\n  posts(\n    first: Int = 10\n  ): [Post!]! @deprecated\n  type: String\n}\ninterface Node { id: ID! name: String }\ninput In { a: Int = 1, b: [Int] }\nenum Role { ADMIN USER }\nenum E {\n  A @x\n  \"text\"\n  B\n}\nunion U = A | B\nscalar Date @specifiedBy(url: \"x\")\ndirective @auth(role: Role) on OBJECT\nextend type User { age: Int }\nquery Get($id: ID!) {\n  user(id: $id) { id ...F }\n}\nmutation { x }\nfragment F on User { id }\n",
        "struct User 5-13
         field User.id 8
         field User.posts 9
         field User.type 12
         interface Node 14
         field Node.id 14
         field Node.name 14
         struct In 15
         field In.a 15
         field In.b 15
         enum Role 16
         enumerator Role.ADMIN 16
         enumerator Role.USER 16
         enum E 17-21
         enumerator E.A 18
         enumerator E.B 20
         union U 22
         type Date 23
         macro auth 24
         implementation User 25
         field User.age 25
         function Get 26-28
         type F 30",
    );
}

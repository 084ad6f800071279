//! Schemas: Protocol Buffers, Thrift, Cap'n Proto, FlatBuffers, WebIDL, GraphQL. A word such as
//! `message` begins a type; the place of a member's name depends on the language.

use super::super::Kind;
use super::super::blocks::{Grammar, Open, Scope, Statement};
use super::super::outline::Outline;
use super::super::parser::{Role, Token};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Schema {
    Protobuf,
    Thrift,
    CapnProto,
    FlatBuffers,
    WebIdl,
    GraphQl,
}

impl Grammar for Schema {
    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let at = begin(it, outline);
        let name = it.get(at + 1).filter(Token::is_word);
        let word = it.word(at, outline);
        if let Some((kind, scope)) = self.head(word)
            && let Some(name) = name
        {
            let is_extended = it.word(0, outline) == b"extend";
            let kind = if is_extended {
                Kind::Implementation
            } else {
                kind
            };
            let definition = outline.define(name.range(), kind);
            return scope.map_or(Open::Ignored(definition), |scope| {
                Open::Scope(definition, scope)
            });
        }
        match (*self, word) {
            (Schema::Protobuf, b"oneof") => {
                name.and_then(|name| outline.define(name.range(), Kind::Field));
                Open::Scope(None, Scope::Record)
            }
            (Schema::Protobuf, b"rpc") => Open::Ignored(self.member(it, at, outline)),
            (Schema::Protobuf, b"extend") => Open::Scope(None, Scope::Record),
            (Schema::Protobuf, _) if it.find(b"=").is_some() => match self.group(it, outline) {
                Some(group) => Open::Scope(Some(group), Scope::Record),
                None => Open::Part,
            },
            (Schema::CapnProto, b"union") => Open::Scope(None, Scope::Record),
            (Schema::CapnProto, _) if it.find(b":").is_some() => {
                Open::Scope(self.member(it, at, outline), Scope::Record)
            }
            (_, b"const" | b"typedef") => Open::Part,
            _ if it.scope == Scope::Record && it.find(b"=").is_some() => Open::Part,
            _ => Open::Ignored(None),
        }
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        let at = begin(it, outline);
        if it.scope == Scope::Values {
            let values = it.tokens().iter().skip(at);
            for value in values.take_while(|token| token.is_word()) {
                if matches!(value.text(outline), b"option" | b"reserved") {
                    return;
                }
                outline.define(value.range(), Kind::Enumerator);
            }
        } else if !self.alone(it, at, outline) && it.scope != Scope::Top {
            self.member(it, at, outline);
        }
    }

    fn is_end(&self, it: &Statement, sign: u8, _outline: &Outline<'_>) -> bool {
        let has_commas =
            it.scope == Scope::Values || *self == Schema::Thrift && it.scope != Scope::Top;
        sign == b';' || sign == b',' && has_commas
    }

    fn is_end_of_line(&self, it: &Statement, outline: &Outline<'_>) -> bool {
        if !matches!(self, Schema::Thrift | Schema::GraphQl) {
            return false;
        }
        let last = it.last().map(|last| last.role);
        let goes_on = matches!(last, Some(Role::Sign(b'=' | b'|' | b'&' | b':' | b',')));
        let has_only_text = last == Some(Role::String) && it.tokens().len() == 1;
        // The `{` of a type may be on the next line.
        let is_head = self.head(it.word(begin(it, outline), outline)).is_some();
        let needs_brace = is_head && it.scope == Scope::Top && it.find(b"=").is_none();
        !(goes_on || has_only_text || needs_brace)
    }

    fn restart(&self, word: &[u8]) -> Option<Scope> {
        let is_head = self.head(word).is_some() || word == b"extend";
        is_head.then_some(Scope::Top)
    }
}

impl Schema {
    /// Kind of a type, and the scope of its members.
    fn head(self, word: &[u8]) -> Option<(Kind, Option<Scope>)> {
        let (kind, scope) = match word {
            b"message" | b"struct" | b"table" | b"exception" | b"dictionary" => {
                (Kind::Struct, Scope::Record)
            }
            b"type" | b"input" if self == Schema::GraphQl => (Kind::Struct, Scope::Record),
            b"enum" => (Kind::Enum, Scope::Values),
            b"interface" if self == Schema::GraphQl => (Kind::Interface, Scope::Record),
            b"interface" | b"mixin" | b"service" | b"rpc_service" => {
                (Kind::Interface, Scope::Methods)
            }
            b"namespace" if self == Schema::WebIdl => (Kind::Module, Scope::Methods),
            b"union" if self == Schema::Thrift => (Kind::Union, Scope::Record),
            b"union" if self == Schema::CapnProto => return None,
            b"union" => return Some((Kind::Union, None)),
            b"query" | b"mutation" | b"subscription" => return Some((Kind::Function, None)),
            b"fragment" => return Some((Kind::Type, None)),
            _ => return None,
        };
        Some((kind, Some(scope)))
    }

    /// `optional group Name = 1 {`
    fn group(self, it: &Statement, outline: &mut Outline<'_>) -> Option<u32> {
        let before = it.find(b"=")?.checked_sub(2)?;
        let name = it.get(before + 1)?;
        (it.word(before, outline) == b"group")
            .then(|| outline.define(name.range(), Kind::Struct))?
    }

    /// Defines in a statement without braces: packages, aliases, constants.
    fn alone(self, it: &Statement, at: usize, outline: &mut Outline<'_>) -> bool {
        let before = |sign| it.find(sign).and_then(|sign| it.word_before(sign));
        let next = it.get(at + 1).filter(Token::is_word);
        let (name, kind) = match it.word(at, outline) {
            b"package" | b"namespace" => {
                let first = at + 1 + usize::from(self == Schema::Thrift);
                let path = it
                    .get(first)
                    .zip(it.last())
                    .filter(|(first, _)| first.is_word());
                path.and_then(|(first, last)| outline.define(first.start..last.end, Kind::Module));
                return true;
            }
            b"typedef" => (it.word_before(it.tokens().len()), Kind::Type),
            b"scalar" | b"callback" => (next, Kind::Type),
            b"union" if it.scope == Scope::Top => (next, Kind::Union),
            b"using" if !it.tokens().iter().any(|it| it.text(outline) == b"import") => {
                (next.filter(|_| it.is(at + 2, b'=')), Kind::Type)
            }
            b"annotation" if self == Schema::CapnProto => (next, Kind::Macro),
            b"const" if self == Schema::CapnProto => (next, Kind::Constant),
            b"const" => (before(b"="), Kind::Constant),
            b"directive" if it.scope == Scope::Top => {
                let name = it.get(at + 1).filter(|name| name.role == Role::Meta);
                name.and_then(|name| outline.define(name.start + 1..name.end, Kind::Macro));
                return true;
            }
            b"option" | b"reserved" | b"extensions" if self == Schema::Protobuf => {
                return it.word_before(it.find(b"=").unwrap_or(0)).is_none() || it.is(2, b'=');
            }
            _ => return false,
        };
        name.and_then(|name| outline.define(name.range(), kind));
        true
    }

    /// Defines the field or method of a statement.
    fn member(self, it: &Statement, at: usize, outline: &mut Outline<'_>) -> Option<u32> {
        let in_interface = it.scope == Scope::Methods;
        let kind = if in_interface {
            Kind::Method
        } else {
            Kind::Field
        };
        let name = match self {
            Schema::Protobuf if in_interface => it.get(at + 1).filter(Token::is_word)?,
            Schema::Protobuf => it.word_before(it.find(b"=")?)?,
            Schema::Thrift if in_interface => it.word_before(it.find(b"(")?)?,
            Schema::Thrift if is_cut(it) => return None,
            Schema::Thrift => it.word_before(it.find(b"=(").unwrap_or(it.tokens().len()))?,
            Schema::CapnProto | Schema::FlatBuffers => {
                let is_name = it.is(at + 1, b'@') || it.is(at + 1, b':') || it.is(at + 1, b'(');
                it.get(at).filter(|name| name.is_word() && is_name)?
            }
            Schema::WebIdl => return web_member(it, at, outline),
            Schema::GraphQl => return graph_fields(it, at, outline),
        };
        outline.define(name.range(), kind)
    }
}

/// Index behind modifiers, texts and attributes.
fn begin(it: &Statement, outline: &Outline<'_>) -> usize {
    let mut at = 0;
    loop {
        at = match it.get(at).map(|token| token.role) {
            Some(Role::String) => at + 1,
            Some(Role::Sign(b'[')) => it.behind(at),
            _ => match it.word(at, outline) {
                // Not a field that is named so.
                b"partial" | b"extend" | b"callback" | b"interface"
                    if matches!(
                        it.word(at + 1, outline),
                        b"type"
                            | b"input"
                            | b"interface"
                            | b"mixin"
                            | b"enum"
                            | b"union"
                            | b"dictionary"
                            | b"namespace"
                            | b"scalar"
                    ) =>
                {
                    at + 1
                }
                _ => return at,
            },
        };
    }
}

/// True for a part before the comma of `map<K, V>`.
fn is_cut(it: &Statement) -> bool {
    let count = |sign| it.tokens().iter().filter(|token| token.is(sign)).count();
    count(b'<') > count(b'>')
}

/// Member of WebIDL: attribute, field of a dictionary, or operation.
fn web_member(it: &Statement, at: usize, outline: &mut Outline<'_>) -> Option<u32> {
    let words = it.tokens().iter().skip(at).take(4);
    let is_attribute = words.clone().any(|word| word.text(outline) == b"attribute");
    if is_attribute || it.scope == Scope::Record {
        let end = it.find(b"=").unwrap_or(it.tokens().len());
        return outline.define(it.word_before(end)?.range(), Kind::Field);
    }
    // The type may be `(A or B)`.
    let mut open = it.behind(at);
    while !it.is(open, b'(') {
        it.get(open)?;
        open += 1;
    }
    let is_special = matches!(it.word(at, outline), b"getter" | b"setter" | b"deleter");
    let has_name = open > at + 1 + usize::from(is_special);
    let name = it.word_before(open).filter(|_| has_name)?;
    outline.define(name.range(), Kind::Method)
}

/// Fields of GraphQL: words before `:` or `(`.
fn graph_fields(it: &Statement, mut at: usize, outline: &mut Outline<'_>) -> Option<u32> {
    let mut last = None;
    while let Some(token) = it.get(at) {
        if token.is_word() && (it.is(at + 1, b':') || it.is(at + 1, b'(')) {
            last = outline.define(token.range(), Kind::Field);
            at += 1;
        }
        at = it.next(at);
    }
    last
}

#[cfg(test)]
mod tests {
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
}

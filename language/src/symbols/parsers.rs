//! Parsers of definitions, a module a family, and which language has which.

use super::blocks::Blocks;
use super::parser::Parser;
use crate::Language;
use schema::Schema;

mod antlr;
mod config;
mod go;
mod nim;
mod php;
mod rust;
mod schema;
mod sql;
mod zig;

/// Parser of a language. `None`: it has no definitions.
pub(super) fn of(language: &Language) -> Option<Box<dyn Parser>> {
    let parser: Box<dyn Parser> = match language.name {
        "Go" => Box::new(Blocks::of(go::Go)),
        "Rust" => Box::new(Blocks::of(rust::Rust)),
        "PHP" => Box::new(Blocks::of(php::Php)),
        "Zig" => Box::new(Blocks::of(zig::Zig)),
        "Nim" => Box::<nim::Nim>::default(),
        "ANTLR" => Box::new(Blocks::of(antlr::Antlr::default())),
        "SQL" => Box::new(Blocks::of(sql::Sql)),
        "HCL" => Box::new(Blocks::of(config::Hcl)),
        "Puppet" => Box::new(Blocks::of(config::Puppet)),
        "Nix" => Box::new(Blocks::of(config::Nix)),
        "Protocol Buffer" => Box::new(Blocks::of(Schema::Protobuf)),
        "Thrift" => Box::new(Blocks::of(Schema::Thrift)),
        "Cap'n Proto" => Box::new(Blocks::of(Schema::CapnProto)),
        "FlatBuffers" => Box::new(Blocks::of(Schema::FlatBuffers)),
        "WebIDL" => Box::new(Blocks::of(Schema::WebIdl)),
        "GraphQL" => Box::new(Blocks::of(Schema::GraphQl)),
        _ => return None,
    };
    Some(parser)
}

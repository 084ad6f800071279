//! `codegen SCHEMA OUTPUT_DIRECTORY` generates Rust from a schema of Cap'n Proto, or from
//! `zoekt/webserver/v1/webserver.proto` in a directory.

use std::fmt::Display;
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(schema), Some(output), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: codegen SCHEMA OUTPUT_DIRECTORY");
        std::process::exit(2);
    };
    let (schema, output) = (Path::new(&schema), Path::new(&output));
    let generate = if schema.is_dir() { protobuf } else { capnp };
    if let Err(message) = generate(schema, output) {
        eprintln!("codegen: {message}");
        std::process::exit(1);
    }
}

fn at(path: &Path) -> impl Fn(&dyn Display) -> String {
    move |error| format!("{}: {error}", path.display())
}

fn protobuf(include: &Path, output: &Path) -> Result<(), String> {
    let files = protox::compile(["zoekt/webserver/v1/webserver.proto"], [include]);
    let files = files.map_err(|error| at(include)(&error))?;
    let mut config = prost_build::Config::new();
    config.out_dir(output).disable_comments(["."]);
    config.compile_fds(files).map_err(|error| at(output)(&error))
}

fn capnp(schema: &Path, output: &Path) -> Result<(), String> {
    let prefix = schema.parent().unwrap_or(Path::new("."));
    let request = capnpc_embedded::CompileCommand::new()
        .src_prefix(prefix)
        .file(schema)
        .compile()
        .map_err(|error| at(schema)(&error))?;
    capnpc::codegen::CodeGenerationCommand::new()
        .output_directory(output)
        .run(&request[..])
        .map_err(|error| at(output)(&error))
}

//! `codegen SCHEMA OUTPUT_DIRECTORY` generates `schema/src/trawl_capnp.rs` from
//! `schema/trawl.capnp`.

use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(schema), Some(output), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: codegen SCHEMA OUTPUT_DIRECTORY");
        std::process::exit(2);
    };
    if let Err(message) = generate(Path::new(&schema), Path::new(&output)) {
        eprintln!("codegen: {message}");
        std::process::exit(1);
    }
}

fn generate(schema: &Path, output: &Path) -> Result<(), String> {
    let prefix = schema.parent().unwrap_or(Path::new("."));
    let request = capnpc_embedded::CompileCommand::new()
        .src_prefix(prefix)
        .file(schema)
        .compile()
        .map_err(|error| format!("{}: {error}", schema.display()))?;
    capnpc::codegen::CodeGenerationCommand::new()
        .output_directory(output)
        .run(&request[..])
        .map_err(|error| format!("{}: {error}", output.display()))
}

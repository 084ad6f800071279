//! The frontend over HTTP, against fake backends.

mod abandoned;
mod agents;
mod answers;
mod authorization;
mod base_path;
mod blame;
mod catalog;
mod commits;
mod compressed;
mod conditional;
mod connections;
mod copies;
mod damaged_answers;
mod dcs;
mod diff;
mod directories;
mod draining;
mod events;
mod export_found;
mod exports;
mod facets;
mod faults;
mod files;
mod filters;
mod full_disk;
mod github;
mod grpc;
mod in_process;
mod keys;
mod links;
mod narrowing;
mod nodes;
mod openapi;
mod pages;
mod persistence;
mod proof;
mod rendered;
mod requests;
mod results;
mod resumed;
mod shared_cache;
mod sharing;
mod site;
mod slow_readers;
mod sourcegraph;
mod symbols;
mod tls;
mod zoekt;

use testkit::backend::Document;

/// Documents with `arse`, and with hostile texts and paths.
pub(crate) fn corpus() -> Vec<Document> {
    (0..40_u32)
        .map(|number| {
            let lines = (0..number % 7 + 3).map(|line| match (number + line) % 3 {
                0 => format!("\tint parse_{line}(void); /* {number} */").into_bytes(),
                1 => b"nothing here <script>alert(1)</script> \x1b[31m \xff".to_vec(),
                _ => [
                    b"<b>arse</b> \xe2\x80\xae &amp; ".to_vec(),
                    b"arse ".repeat(80),
                ]
                .concat(),
            });
            Document {
                package: format!("package{}_1.{number}", number % 5).into_bytes(),
                path: match number % 4 {
                    0 => format!("src/<script>{number}.c").into_bytes(),
                    1 => [b"src/\xff\n\"".to_vec(), number.to_string().into_bytes()].concat(),
                    _ => format!("src/file{number}.c").into_bytes(),
                },
                lines: lines.collect(),
                split: number % 3 == 0,
            }
        })
        .collect()
}

pub(crate) fn shards(first: u8, count: usize) -> Vec<(u8, Vec<Document>)> {
    let mut shards: Vec<_> = (0..count)
        .map(|shard| (first + shard as u8, Vec::new()))
        .collect();
    for (number, document) in corpus().into_iter().enumerate() {
        shards[number % count].1.push(document);
    }
    shards
}

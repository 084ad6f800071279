//! Messages to the gRPC service of zoekt. The first byte chooses the method.

use super::site;
use axum::body::Body;
use axum::http::{Request, header};

const METHODS: [&str; 3] = ["Search", "StreamSearch", "List"];

pub(crate) fn calls(data: &[u8]) {
    let Some((method, message)) = data.split_first() else {
        return;
    };
    let method = METHODS[usize::from(*method) % METHODS.len()];
    let path = format!("/zoekt.webserver.v1.WebserverService/{method}");
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/grpc");
    let length = (message.len() as u32).to_be_bytes();
    let body = Body::from([&[0], &length[..], message].concat());
    let answer = site().ask(request.body(body).expect("a request"));
    answer.check_status();
    assert!(answer.status == 200 && answer.kind() == "application/grpc");
    let mut rest = &answer.body[..];
    while let Some((head, messages)) = rest.split_first_chunk::<5>() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        rest = &messages[length..];
    }
    assert!(rest.is_empty());
}

fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let tag = u16::from(number) << 3 | 2;
    let tag = match tag >> 7 {
        0 => vec![tag as u8],
        more => vec![tag as u8 | 0x80, more as u8],
    };
    [&tag[..], &[value.len() as u8], value].concat()
}

pub(crate) fn call_seeds() -> Vec<Vec<u8>> {
    let substring = field(13, &field(1, b"needle"));
    let regexp = field(2, &field(1, b"n(e|x)+d.*\\d"));
    let repository = field(6, &field(1, b"^alpha"));
    let set = field(
        10,
        &field(1, &[&field(1, b"beta_3")[..], &[0x10, 1]].concat()),
    );
    let branch = field(17, &[&field(1, b"HEAD")[..], &[0x10, 1]].concat());
    let both = [field(1, &substring), field(1, &set), field(1, &branch)].concat();
    let bitmap = [
        &[0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0][..],
        &[7, 0],
    ]
    .concat();
    let of_type = [&field(1, &regexp)[..], &[0x10, 3]].concat();
    let queries = [
        field(14, &both),
        field(15, &[field(1, &regexp), field(1, &repository)].concat()),
        field(16, &field(1, &field(4, &field(1, b"C")))),
        field(3, &field(1, &substring)),
        field(9, &field(1, &bitmap)),
        field(12, &of_type),
        vec![0x28, 1],
        substring,
    ];
    let seeds = queries.iter().flat_map(|query| {
        let request = [field(1, query), field(2, &[0x10, 1, 0x50, 1])].concat();
        let streamed = field(3, &request);
        [(0, request), (1, streamed), (2, field(1, query))]
    });
    seeds
        .map(|(method, message)| [&[method], &message[..]].concat())
        .collect()
}

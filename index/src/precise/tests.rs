use super::*;

fn precise() -> Vec<u8> {
    let mut builder = Builder::default();
    let symbol = builder.symbol(b"npm p 1 f().");
    builder.document(symbol, b"Documentation.");
    let occurrence = |line: u32, symbol: u32| Occurrence {
        line: line.into(),
        column: 4.into(),
        bytes: 1.into(),
        symbol: symbol.into(),
    };
    let uses = vec![occurrence(9, symbol), occurrence(1, symbol | DEFINITION)];
    builder.add([1; 32], b"p", b"a.c", uses);
    let local = builder.symbol(b"local 1");
    builder.add([2; 32], b"q", b"b.c", vec![occurrence(3, local)]);
    builder.finish().unwrap()
}

fn read(precise: &Precise) -> usize {
    let symbols: [&[u8]; 2] = [b"npm p 1 f().", b"local 1"];
    let places = symbols.map(|symbol| {
        precise.documentation(symbol);
        precise.places(symbol).count()
    });
    for text in [[1; 32], [2; 32], [3; 32]] {
        precise.symbol_at(&text, b"q", 3, 4);
        precise.has_text(&text);
    }
    precise.source(b"p");
    let mut kept = Builder::default();
    kept.keep(precise, |_| true);
    kept.finish();
    places.iter().sum()
}

#[test]
fn wrong_bytes_give_other_places_or_an_error() {
    let bytes = precise();
    let whole = Precise::of(Bytes::Owned(bytes.clone())).unwrap();
    assert_eq!(read(&whole), 3);
    for cut in 0..bytes.len() {
        if let Ok(cut) = Precise::of(Bytes::Owned(bytes[..cut].to_vec())) {
            read(&cut);
        }
    }
    for (at, bit) in (0..bytes.len()).flat_map(|at| [0, 3, 7].map(|bit| (at, bit))) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1 << bit;
        if let Ok(wrong) = Precise::of(Bytes::Owned(wrong)) {
            assert_ne!(wrong.hash, whole.hash);
            read(&wrong);
        }
    }
}

#[test]
fn a_kept_file_has_the_same_bytes() {
    let bytes = precise();
    let mut kept = Builder::default();
    kept.keep(&Precise::of(Bytes::Owned(bytes.clone())).unwrap(), |_| true);
    assert_eq!(kept.finish(), Some(bytes));
}

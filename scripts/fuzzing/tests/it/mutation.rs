//! Random mutations of seeds, without feedback.

const CHANGES_MAX: u64 = 4;

const EDGES: [u64; 10] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 63,
    u64::MAX,
];

pub(crate) struct Mutations {
    random: Random,
    seeds: Vec<Vec<u8>>,
}

impl Mutations {
    pub(crate) fn new(seed: u64, seeds: Vec<Vec<u8>>) -> Mutations {
        Mutations {
            random: Random(seed),
            seeds,
        }
    }

    /// Flips a bit, sets a number, or removes, repeats or inserts a piece of a seed.
    fn change(&mut self, input: &mut Vec<u8>) {
        let random = &mut self.random;
        let at = random.below(input.len());
        let end = at + random.below((input.len() - at).min(32) + 1);
        match random.below(7) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.next() as u8,
            2 => {
                let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
                let bytes = [1, 2, 4, 8][random.below(4)].min(input.len() - at);
                input[at..at + bytes].copy_from_slice(&edge[..bytes]);
            }
            3 => drop(input.drain(at..end)),
            4 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            5 => {
                let other = &self.seeds[random.below(self.seeds.len())];
                let start = random.below(other.len());
                let piece = &other[start..][..random.below((other.len() - start).min(64) + 1)];
                input.splice(at..end, piece.iter().copied());
            }
            _ => input.truncate(end),
        }
    }
}

impl Iterator for Mutations {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut input = self.seeds[self.random.below(self.seeds.len())].clone();
        let changes = 1 + self.random.next() % CHANGES_MAX;
        for _ in 0..changes {
            self.change(&mut input);
        }
        Some(input)
    }
}

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
/// 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

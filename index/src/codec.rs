//! Codecs of the content: raw, or zstd per block with a shared dictionary. Larger frames would be
//! read several times over, since blocks are verified one by one.
//! **Invariant:** encoding depends only on text and dictionary; decoding allocates nothing and
//! fails on a wrong length.

use zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentCodec {
    /// Fastest to read.
    #[default]
    Raw,
    /// Compressed by block, with a dictionary.
    Zstd,
}

impl ContentCodec {
    pub fn name(self) -> &'static str {
        match self {
            ContentCodec::Raw => "raw",
            ContentCodec::Zstd => "zstd",
        }
    }
}

/// Longer blocks (single lines) are stored raw, so that readers need no memory for them.
pub(crate) const ENCODED_BLOCK_BYTES_MAX: usize = 1 << 20;

/// Bytes of a dictionary. Twice as many would save 2 % of the content.
pub(crate) const DICTIONARY_BYTES_MAX: usize = 112 << 10;

/// Least ratio.
const TEXT_TO_DICTIONARY: u64 = 64;

/// Shorter dictionaries are not worth their time.
const DICTIONARY_BYTES_MIN: usize = 1 << 10;

/// Level 3 compresses to 0.31 of the text, level 1 to 0.34 in the same time, level 9 to 0.28 in
/// five times that.
const LEVEL: i32 = 3;

/// `None` if not worth its place.
pub(crate) fn train(samples: &[u8], lengths: &[usize], text_bytes: u64) -> Vec<u8> {
    let most = (text_bytes / TEXT_TO_DICTIONARY).min(DICTIONARY_BYTES_MAX as u64) as usize;
    if most < DICTIONARY_BYTES_MIN {
        return Vec::new();
    }
    let mut dictionary = Vec::with_capacity(most);
    // Fails on samples that are too few or too similar.
    match zstd_safe::train_from_buffer(&mut dictionary, samples, lengths) {
        Ok(_) => dictionary,
        Err(_) => Vec::new(),
    }
}

pub(crate) struct EncoderDictionary(Option<CDict<'static>>);

impl EncoderDictionary {
    pub(crate) fn new(dictionary: &[u8]) -> EncoderDictionary {
        EncoderDictionary((!dictionary.is_empty()).then(|| CDict::create(dictionary, LEVEL)))
    }

    /// Encoded blocks and their lengths; incompressible ones stay raw.
    pub(crate) fn encode(&self, text: &[u8], lengths: &[usize]) -> (Vec<u8>, Vec<usize>) {
        let (mut out, mut encoded_lengths) = (Vec::new(), Vec::new());
        let mut context = self.context();
        let mut frame = Vec::new();
        let mut rest = text;
        for &length in lengths {
            let block = rest.split_off(..length).expect("the text has all blocks");
            frame.clear();
            frame.reserve(zstd_safe::compress_bound(length));
            let encoded = context.compress2(&mut frame, block);
            let stored = if encoded.is_ok() && frame.len() < length {
                &frame[..]
            } else {
                block
            };
            out.extend_from_slice(stored);
            encoded_lengths.push(stored.len());
        }
        (out, encoded_lengths)
    }

    fn context(&self) -> CCtx<'_> {
        let mut context = CCtx::create();
        let mut set = |parameter| {
            let set = context.set_parameter(parameter);
            set.expect("the library has this parameter, and no frame has begun");
        };
        set(CParameter::CompressionLevel(LEVEL));
        // The shard's own tables have all of this.
        set(CParameter::ContentSizeFlag(false));
        set(CParameter::ChecksumFlag(false));
        set(CParameter::DictIdFlag(false));
        if let Some(dictionary) = &self.0 {
            let used = context.ref_cdict(dictionary);
            used.expect("no frame has begun");
        }
        context
    }
}

pub(crate) struct DecoderDictionary(Option<DDict<'static>>);

impl DecoderDictionary {
    pub(crate) fn new(dictionary: &[u8]) -> Option<DecoderDictionary> {
        if dictionary.is_empty() {
            return Some(DecoderDictionary(None));
        }
        DDict::try_create(dictionary).map(|dictionary| DecoderDictionary(Some(dictionary)))
    }
}

/// Memory for decoding blocks, about 100 KB.
pub(crate) struct Decoder(DCtx<'static>);

impl Default for Decoder {
    fn default() -> Self {
        Decoder(DCtx::create())
    }
}

impl Decoder {
    pub(crate) fn decode(
        &mut self,
        encoded: &[u8],
        dictionary: &DecoderDictionary,
        text: &mut [u8],
    ) -> Option<()> {
        let length = text.len();
        let decoded = match &dictionary.0 {
            Some(dictionary) => self.0.decompress_using_ddict(text, encoded, dictionary),
            None => self.0.decompress(text, encoded),
        };
        (decoded == Ok(length)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<u8>, Vec<usize>) {
        let (mut text, mut lengths) = (Vec::new(), Vec::new());
        for block in 0..400_u32 {
            let start = text.len();
            for line in 0..20 {
                let name = (block * 31 + line * 7) % 97;
                let line = format!("    if (value_{name} == NULL) return error_{block};\n");
                text.extend_from_slice(line.as_bytes());
            }
            lengths.push(text.len() - start);
        }
        (text, lengths)
    }

    fn check(text: &[u8], lengths: &[usize], dictionary: &[u8]) -> usize {
        let encoder = EncoderDictionary::new(dictionary);
        let (out, encoded) = encoder.encode(text, lengths);
        assert_eq!(encoded.iter().sum::<usize>(), out.len());
        let decoding = DecoderDictionary::new(dictionary).unwrap();
        let mut decoder = Decoder::default();
        let (mut text, mut stored) = (text, &out[..]);
        for (&length, &bytes) in lengths.iter().zip(&encoded) {
            let expected = text.split_off(..length).unwrap();
            let frame = stored.split_off(..bytes).unwrap();
            if bytes == length {
                assert_eq!(frame, expected);
                continue;
            }
            let mut decoded = vec![0; length];
            decoder.decode(frame, &decoding, &mut decoded).unwrap();
            assert_eq!(decoded, expected);
            let mut other = vec![0; length - 1];
            assert!(decoder.decode(frame, &decoding, &mut other).is_none());
            let mut other = vec![0; length + 1];
            assert!(decoder.decode(frame, &decoding, &mut other).is_none());
        }
        out.len()
    }

    #[test]
    fn blocks_are_what_they_were_and_a_dictionary_saves_much() {
        let (text, lengths) = sample();
        let dictionary = train(&text, &lengths, text.len() as u64);
        assert!(dictionary.len() > 1_000, "{}", dictionary.len());
        let without = check(&text, &lengths, &[]);
        let with = check(&text, &lengths, &dictionary);
        assert!(with < without && without < text.len(), "{with} {without}");
    }

    #[test]
    fn what_cannot_be_shorter_is_stored_as_it_is() {
        let noise: Vec<u8> = (0..200_u32).map(|n| (n * n * 7 + n) as u8).collect();
        assert_eq!(check(&noise[..40], &[40], &[]), 40);
        assert_eq!(check(b"", &[], &[]), 0);
    }

    #[test]
    fn few_or_equal_samples_give_no_dictionary() {
        assert_eq!(train(b"ab", &[1, 1], 1 << 30), b"");
        assert_eq!(train(&[b'a'; 4096], &[64; 64], 4096), b"");
    }

    #[test]
    fn damaged_dictionaries_and_frames_are_noticed() {
        let (text, lengths) = sample();
        let mut dictionary = train(&text, &lengths, text.len() as u64);
        // Probability tables, after magic number and id.
        dictionary[8..40].fill(0xff);
        assert!(DecoderDictionary::new(&dictionary).is_none());
        let none = DecoderDictionary::new(&[]).unwrap();
        assert!(Decoder::default().decode(b"", &none, &mut [0; 9]).is_none());
        assert!(
            Decoder::default()
                .decode(b"noise", &none, &mut [0; 9])
                .is_none()
        );
    }

    /// Kilobytes may decode to gigabytes.
    #[test]
    fn a_frame_is_decoded_to_the_length_of_its_block_at_most() {
        let mut bomb = vec![0; 64 << 10];
        let length = zstd_safe::compress(&mut bomb[..], &vec![0; 64 << 20], LEVEL).unwrap();
        let none = DecoderDictionary::new(&[]).unwrap();
        let mut text = [0; 4096];
        let decoded = Decoder::default().decode(&bomb[..length], &none, &mut text);
        assert!(decoded.is_none());
    }
}

//! Random mutations of bytes.

use rand::Rng;
use rand::rngs::StdRng;

/// The maximum length of an input.
const BYTES_MAX: usize = 4_096;
/// Bytes with a meaning in some format.
const INTERESTING: &[u8] =
    b"\0\x01\x02\x14\x15\x1D\x21\x33\x7F\x80\xC3\xFF\"\\/~[]{}(),:0-.eE#@!$&| \n";

/// Mutates a random element of `corpus`.
pub(crate) fn mutated(corpus: &[Vec<u8>], chance: &mut StdRng) -> Vec<u8> {
    let mut bytes = pick(corpus, chance).clone();
    for _ in 0..chance.random_range(1..6) {
        change(&mut bytes, corpus, chance);
    }
    bytes.truncate(BYTES_MAX);
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], chance: &mut StdRng) {
    let at = chance.random_range(0..=bytes.len());
    match chance.random_range(0..7) {
        0 => bytes.insert(at, chance.random()),
        1 => bytes.insert(at, INTERESTING[chance.random_range(0..INTERESTING.len())]),
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.random_range(0..8);
            }
        }
        3 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = INTERESTING[chance.random_range(0..INTERESTING.len())];
            }
        }
        4 => {
            let end = bytes.len().min(at + chance.random_range(1..9));
            bytes.drain(at..end);
        }
        5 => {
            // Repeats a part of it.
            let end = bytes.len().min(at + chance.random_range(1..9));
            let part = bytes[at..end].repeat(chance.random_range(1..200));
            bytes.splice(at..at, part);
        }
        _ => {
            let other = pick(corpus, chance);
            let begin = chance.random_range(0..=other.len());
            let end = chance.random_range(begin..=other.len());
            bytes.splice(at..at, other[begin..end].iter().copied());
        }
    }
}

fn pick<'c>(corpus: &'c [Vec<u8>], chance: &mut StdRng) -> &'c Vec<u8> {
    &corpus[chance.random_range(0..corpus.len())]
}

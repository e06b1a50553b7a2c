//! Splits documents in arguments into leaves, within a limit on the size of the leaves.

use super::leaves::{Leaves, Packer};
use super::measure::Measure;
use crate::document::flatten::Flattening;
use crate::error::{Error, Limit, Result};
use crate::limits::{ARGUMENT_LEAVES_BYTES_MAX, LEAVES_AT_A_TIME};

/// Splits a JSON text into leaves in steps.
pub struct LeavesReader<'t> {
    text: &'t str,
    flattening: Flattening<'t>,
    packer: Packer,
    measured: bool,
    measuring: Option<(Flattening<'t>, Measure)>,
}

impl<'t> LeavesReader<'t> {
    /// Starts at the beginning of an argument's text.
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            flattening: Flattening::new(text),
            packer: Packer::default(),
            measured: false,
            measuring: None,
        }
    }

    /// Processes at most `values_max` values. Returns the leaves at the end of the text.
    ///
    /// # Errors
    /// As [`Leaves::from_argument`].
    pub fn advance(&mut self, values_max: usize) -> Result<Option<Leaves>> {
        if let Some((flattening, measure)) = &mut self.measuring {
            let done = flattening.advance(measure, values_max)?;
            check_bytes(measure.bytes)?;
            if done {
                self.measuring = None;
            }
            return Ok(None);
        }
        let mut left = values_max;
        while left > 0 && self.measuring.is_none() {
            let some = left.min(VALUES_PER_LOOK);
            let done = self.flattening.advance(&mut self.packer, some)?;
            check_bytes(self.packer.leaves().bytes())?;
            if done {
                return Ok(Some(std::mem::take(&mut self.packer).finish()));
            }
            self.measure_if_it_grows();
            left -= some;
        }
        Ok(None)
    }

    /// If the leaves are much larger than the text, usually because of a long name above them,
    /// computes the size of all leaves before it builds more. Otherwise a small text could fill the
    /// memory before it is rejected.
    fn measure_if_it_grows(&mut self) {
        let bytes = self.packer.leaves().bytes();
        let grows = bytes / MEASURED_FROM_GROWTH > self.flattening.offset();
        if grows && bytes > MEASURED_FROM_BYTES && !self.measured {
            self.measured = true;
            self.measuring = Some((Flattening::new(self.text), Measure::default()));
        }
    }

    /// The memory that the leaves take so far, in bytes.
    pub fn held(&self) -> usize {
        self.packer.leaves().held()
    }
}

/// Values between two checks of the size.
const VALUES_PER_LOOK: usize = 256;
/// The size of the leaves from which all leaves may be measured in advance.
const MEASURED_FROM_BYTES: usize = 1 << 20;
/// The ratio of leaves to text from which all leaves are measured in advance.
const MEASURED_FROM_GROWTH: usize = 4;

fn check_bytes(bytes: usize) -> Result<()> {
    if bytes <= ARGUMENT_LEAVES_BYTES_MAX {
        return Ok(());
    }
    Err(Error::too_large(
        Limit::new("documentArgumentBytes", ARGUMENT_LEAVES_BYTES_MAX),
        format!(
            "its keys and values have more than {ARGUMENT_LEAVES_BYTES_MAX} bytes, which is the limit: \
         each value has a key with all the names on the way to it"
        ),
    ))
}

impl Leaves {
    /// As [`Leaves::from_json`], of a text that came in an argument.
    ///
    /// # Errors
    /// As [`flatten`](crate::document::flatten::flatten). `TOO_LARGE`: its keys and values have more than
    /// [`ARGUMENT_LEAVES_BYTES_MAX`].
    pub fn from_argument(text: &str) -> Result<Self> {
        let mut reader = LeavesReader::new(text);
        loop {
            if let Some(leaves) = reader.advance(LEAVES_AT_A_TIME)? {
                return Ok(leaves);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::flatten::flatten;
    use crate::limits::{LEAVES_AT_A_TIME, VALUE_BYTES_MAX};

    #[test]
    fn oversized_leaves_are_rejected_before_they_are_built() {
        for name_bytes in [4, 9_900] {
            let name = "k".repeat(name_bytes);
            let text = format!("{{\"{name}\":[{}1]}}", "1,".repeat(13_000_000));
            let mut reader = LeavesReader::new(&text);
            let error = loop {
                match reader.advance(LEAVES_AT_A_TIME) {
                    Ok(None) => {}
                    Ok(Some(_)) => panic!("its keys alone have more than the limit"),
                    Err(error) => break error,
                }
            };
            assert!(error.message().contains("134217728 bytes"), "{error}");
            assert!(reader.held() < 8 << 20, "{} bytes are made", reader.held());
        }
    }

    #[test]
    fn measured_sizes_do_not_exceed_the_built_leaves() {
        let wide: Vec<String> = (0..70_000).map(|at| format!("{at},")).collect();
        let wide = wide.concat();
        let split = "s".repeat(VALUE_BYTES_MAX + 1);
        for text in [
            "null",
            "{}",
            "[[],{\"a\\u0000b\":[-1,1.5,\"text\",true]}]",
            r#"{"a":{"b":1,"c":[2]},"a":3}"#,
            &format!("[{wide}0]"),
            &format!("\"{split}\""),
        ] {
            let mut measure = Measure::default();
            flatten(text, &mut measure).expect("valid JSON");
            let mut packer = Packer::default();
            flatten(text, &mut packer).expect("valid JSON");
            let made = packer.leaves().bytes();
            assert!(
                measure.bytes <= made,
                "{} of {made}: {text:.99}",
                measure.bytes
            );
        }
    }
}

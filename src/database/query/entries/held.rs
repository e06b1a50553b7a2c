//! The values in an index entry.

use crate::key::{IndexValue, NumberForm};

/// The values in an index entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldEntry {
    /// The packed values of all columns.
    pub(crate) packed: Vec<u8>,
    /// The value of the entry: the forms of the columns, or nothing if all are plain.
    pub(crate) forms: Vec<u8>,
}

impl HeldEntry {
    /// The values of the columns, in their forms.
    pub fn values(&self) -> Vec<IndexValue> {
        let plain = std::iter::repeat(&0);
        let forms = self.forms.iter().chain(plain);
        let values = IndexValue::split_all(&self.packed).zip(forms);
        let formed = |(value, form): (IndexValue, &u8)| {
            value.in_form(NumberForm::of_byte(*form).unwrap_or_default())
        };
        values.map(formed).collect()
    }
}

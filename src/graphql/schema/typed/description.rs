//! Descriptions from schemas, as the library prints them.

/// A description that block strings can hold as it is: the library does not escape it.
pub(super) fn printable(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace("\"\"\"", "'''");
    let text: String = text.chars().map(shown).collect();
    text.trim().to_owned()
}

/// A character of a GraphQL document (GraphQL specification, 2.1.1); a space for others, and for tabs,
/// which are indentation.
fn shown(character: char) -> char {
    match character {
        '\n' | '\r' => '\n',
        character if character.is_control() => ' ',
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_cannot_end_their_string() {
        for (text, expected) in [
            ("a \"\"\" type Query", "a ''' type Query"),
            ("\"\"\"\"\"\"", "''''''"),
            ("a\r\nb\rc\u{0}d\te", "a\nb\nc d e"),
            ("  a\\  ", "a\\"),
        ] {
            assert_eq!(printable(text), expected);
        }
    }
}

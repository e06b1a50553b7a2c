//! I-Regexp (RFC 9485) as the notation of `regex-syntax`.

use std::fmt::Write;

use crate::limits::REGEXP_LEVELS_MAX;

/// Why a text cannot be matched with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is no I-Regexp, so it matches nothing (RFC 9535 §2.4.6).
    NoRegexp,
    /// Its parentheses nest deeper than [`REGEXP_LEVELS_MAX`].
    TooDeep,
}

/// The same expression for `regex-syntax`. A `^` and a `$` are anchors there, as RFC 9485 §5 has it
/// for every engine it names, and as the compliance suite of RFC 9535 expects.
pub(super) fn translate(text: &str) -> Result<String, Refused> {
    let mut translation = Translation {
        rest: text,
        out: String::with_capacity(2 * text.len()),
    };
    translation.expression()?;
    Ok(translation.out)
}

struct Translation<'t> {
    rest: &'t str,
    out: String,
}

impl Translation<'_> {
    /// `i-regexp`, its parentheses counted instead of entered.
    fn expression(&mut self) -> Result<(), Refused> {
        let mut levels = 0;
        // Whether a quantifier may follow.
        let mut atom = false;
        while let Some(character) = self.next() {
            match character {
                '(' => {
                    levels += 1;
                    if levels > REGEXP_LEVELS_MAX {
                        return Err(Refused::TooDeep);
                    }
                    self.out.push_str("(?:");
                    atom = false;
                    continue;
                }
                ')' => {
                    levels = levels.checked_sub(1).ok_or(Refused::NoRegexp)?;
                    self.out.push(')');
                }
                '|' => {
                    self.out.push('|');
                    atom = false;
                    continue;
                }
                '*' | '+' | '?' | '{' => {
                    if !atom {
                        return Err(Refused::NoRegexp);
                    }
                    self.quantifier(character)?;
                    atom = false;
                    continue;
                }
                '.' => self.out.push_str(r"[^\n\r]"),
                '[' => self.class()?,
                '\\' => self.escape()?,
                ']' | '}' => return Err(Refused::NoRegexp),
                '^' | '$' => self.out.push(character),
                _ => self.literal(character),
            }
            atom = true;
        }
        if levels > 0 {
            return Err(Refused::NoRegexp);
        }
        Ok(())
    }

    fn next(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next();
        self.rest = rest.as_str();
        next
    }

    fn quantifier(&mut self, first: char) -> Result<(), Refused> {
        self.out.push(first);
        if first != '{' {
            return Ok(());
        }
        let (inside, rest) = self.rest.split_once('}').ok_or(Refused::NoRegexp)?;
        let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if least.is_empty() || !digits(least) || !digits(most) {
            return Err(Refused::NoRegexp);
        }
        self.out.push_str(inside);
        self.out.push('}');
        self.rest = rest;
        Ok(())
    }

    /// `charClassExpr` behind its `[`.
    fn class(&mut self) -> Result<(), Refused> {
        self.out.push('[');
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.rest = rest;
            self.out.push('^');
        }
        let begin = self.rest;
        loop {
            let first = self.rest.len() == begin.len();
            match self.next().ok_or(Refused::NoRegexp)? {
                ']' if !first => break,
                // A hyphen that is first or last is a literal.
                '-' if first || self.rest.starts_with(']') => self.literal('-'),
                '\\' if self.rest.starts_with(['p', 'P']) => self.escape()?,
                character => self.class_characters(character)?,
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// A character of a class, or a range of them.
    fn class_characters(&mut self, first: char) -> Result<(), Refused> {
        let first = self.class_character(first)?;
        self.literal(first);
        let Some(rest) = self.rest.strip_prefix('-') else {
            return Ok(());
        };
        if rest.starts_with(']') {
            return Ok(());
        }
        self.rest = rest;
        let last = self.next().ok_or(Refused::NoRegexp)?;
        let last = self.class_character(last)?;
        if last < first {
            return Err(Refused::NoRegexp);
        }
        self.out.push('-');
        self.literal(last);
        Ok(())
    }

    fn class_character(&mut self, character: char) -> Result<char, Refused> {
        match character {
            '\\' => self.escaped(),
            '-' | '[' | ']' => Err(Refused::NoRegexp),
            _ => Ok(character),
        }
    }

    /// `SingleCharEsc` or `charClassEsc` behind its `\`.
    fn escape(&mut self) -> Result<(), Refused> {
        if !self.rest.starts_with(['p', 'P']) {
            let character = self.escaped()?;
            self.literal(character);
            return Ok(());
        }
        let (property, rest) = self.rest.split_once('}').ok_or(Refused::NoRegexp)?;
        let category = property[1..].strip_prefix('{').ok_or(Refused::NoRegexp)?;
        if !CATEGORIES.contains(&category) {
            return Err(Refused::NoRegexp);
        }
        let _ = write!(self.out, "\\{property}}}");
        self.rest = rest;
        Ok(())
    }

    fn escaped(&mut self) -> Result<char, Refused> {
        match self.next().ok_or(Refused::NoRegexp)? {
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            it @ ('('..='+' | '-' | '.' | '?' | '['..='^' | '{'..='}') => Ok(it),
            _ => Err(Refused::NoRegexp),
        }
    }

    /// A literal character. What may mean something is written by its number.
    fn literal(&mut self, character: char) {
        if character.is_ascii_alphanumeric() || !character.is_ascii() {
            self.out.push(character);
        } else {
            let _ = write!(self.out, "\\x{{{:X}}}", u32::from(character));
        }
    }
}

/// `IsCategory`: Unicode's general categories.
const CATEGORIES: [&str; 37] = [
    "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc",
    "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs", "C",
    "Cc", "Cf", "Cn", "Co", "Cs",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_rfc_9485_are_translated() {
        for (text, expected) in [
            ("", ""),
            ("ab|c", "ab|c"),
            ("a.b", r"a[^\n\r]b"),
            ("(a*b+)?", "(?:a*b+)?"),
            ("a{2}b{2,}c{2,3}", "a{2}b{2,}c{2,3}"),
            (r"\.\\\n\-", r"\x{2E}\x{5C}\x{A}\x{2D}"),
            (r"\p{Lu}\P{L}", r"\p{Lu}\P{L}"),
            ("^a$", "^a$"),
            ("[a-c]", "[a-c]"),
            ("[^-a.&&]", r"[^\x{2D}a\x{2E}\x{26}\x{26}]"),
            ("[a-]", r"[a\x{2D}]"),
            ("[-]", r"[\x{2D}]"),
            (r"[\]-\^\p{Nd}]", r"[\x{5D}-\x{5E}\p{Nd}]"),
            ("é #/", r"é\x{20}\x{23}\x{2F}"),
        ] {
            assert_eq!(translate(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn expressions_outside_rfc_9485_are_rejected() {
        for text in [
            "*",
            "a**",
            "a+?",
            "(",
            ")",
            "(a",
            "a)",
            "[",
            "[]",
            "[^]",
            "[a",
            "a]",
            "{1}",
            "a{",
            "a{}",
            "a{,2}",
            "a{x}",
            "a}",
            r"\d",
            r"\w",
            r"\b",
            r"\",
            r"\p",
            r"\p{",
            r"\p{Greek}",
            r"\pL",
            "[a-b-c]",
            "[z-a]",
            "[[a]]",
            "(?i)a",
            "(?:a)",
            "a{-1}",
            r"[\d]",
            "[a--b]",
        ] {
            assert_eq!(translate(text), Err(Refused::NoRegexp), "{text}");
        }
        let levels = |levels| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
        translate(&levels(REGEXP_LEVELS_MAX)).expect("at the limit");
        assert_eq!(
            translate(&levels(REGEXP_LEVELS_MAX + 1)),
            Err(Refused::TooDeep)
        );
    }
}

//! Splits a query into tokens (GraphQL specification, 2.1) with their positions.

use async_graphql::Pos;

/// A lexical token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lexeme<'t> {
    /// One of `! $ & ( ) : = @ [ ] { | }`, or any other ASCII byte that begins no other token.
    Punctuator(u8),
    /// `...`
    Spread,
    Name(&'t str),
    Number(&'t str),
    /// The text between the quotes, with its escapes.
    String(&'t str),
    /// The text between the triple quotes.
    BlockString(&'t str),
    End,
}

pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// The offset of the last token, and its position.
    begin: usize,
    pos: Pos,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            begin: 0,
            pos: Pos { line: 1, column: 1 },
        }
    }

    /// The next token and its position; none if the text has no valid token there.
    pub(crate) fn next(&mut self) -> Option<(Lexeme<'t>, Pos)> {
        self.skip_ignored();
        self.move_to(self.at);
        let Some(first) = self.byte() else {
            return Some((Lexeme::End, self.pos));
        };
        let token = match first {
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                Lexeme::Name(&self.text[self.begin..self.at])
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b'"' if self.rest().starts_with(b"\"\"\"") => self.block_string()?,
            b'"' => self.string()?,
            b'.' if self.rest().starts_with(b"...") => {
                self.at += 3;
                Lexeme::Spread
            }
            0x80.. => return None,
            _ => {
                self.at += 1;
                Lexeme::Punctuator(first)
            }
        };
        Some((token, self.pos))
    }

    /// The offset of the end of the last token, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// Reads the rest of a type that begins with the last token, and returns the whole type. The
    /// last token of the type then is the last token.
    pub(crate) fn rest_of_type(&mut self) -> Option<&'t str> {
        let opened = self.text.as_bytes()[self.begin..].iter();
        let opened = opened.take_while(|byte| **byte == b'[').count();
        self.at = self.begin + opened;
        let name = self.at;
        if !matches!(self.byte(), Some(b'_' | b'a'..=b'z' | b'A'..=b'Z')) {
            return None;
        }
        self.skip_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        debug_assert!(self.at > name);
        for level in 0..=opened {
            self.at += usize::from(self.byte() == Some(b'!'));
            if level < opened {
                self.at += usize::from(self.byte() == Some(b']'));
            }
        }
        Some(&self.text[self.begin..self.at])
    }

    /// Whether white space follows the last token, without a comment before the next token.
    pub(crate) fn is_before_space(&self) -> bool {
        let behind = self.rest().iter();
        let mut behind = behind.skip_while(|byte| is_space(**byte));
        is_space(self.byte().unwrap_or_default()) && behind.next() != Some(&b'#')
    }

    fn number(&mut self) -> Option<Lexeme<'t>> {
        self.at += usize::from(self.byte() == Some(b'-'));
        match self.byte()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        match self.byte() {
            Some(b'.' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => None,
            _ => Some(Lexeme::Number(&self.text[self.begin..self.at])),
        }
    }

    fn digits(&mut self) -> Option<()> {
        let begin = self.at;
        self.skip_while(|byte| byte.is_ascii_digit());
        (self.at > begin).then_some(())
    }

    fn string(&mut self) -> Option<Lexeme<'t>> {
        let begin = self.at + 1;
        self.at = begin;
        loop {
            self.at += memchr::memchr3(b'"', b'\\', b'\n', self.rest())?;
            match self.byte()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => return None,
            }
        }
        let text = self.text.get(begin..self.at)?;
        self.at += 1;
        (!text.contains('\r')).then_some(Lexeme::String(text))
    }

    fn block_string(&mut self) -> Option<Lexeme<'t>> {
        let begin = self.at + 3;
        self.at = begin;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', self.rest())?;
            if self.rest().starts_with(b"\"\"\"") {
                break;
            }
            let escaped = self.rest().starts_with(b"\\\"\"\"");
            self.at += if escaped { 4 } else { 1 };
        }
        let text = &self.text[begin..self.at];
        self.at += 3;
        Some(Lexeme::BlockString(text))
    }

    fn skip_ignored(&mut self) {
        loop {
            match self.byte() {
                Some(byte) if is_space(byte) => self.at += 1,
                Some(0xEF) if self.rest().starts_with("\u{FEFF}".as_bytes()) => self.at += 3,
                Some(b'#') => {
                    let line = memchr::memchr2(b'\n', b'\r', self.rest());
                    self.at += line.unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Advances the position to the beginning of the next token.
    fn move_to(&mut self, begin: usize) {
        for byte in &self.text.as_bytes()[self.begin..begin] {
            match byte {
                b'\n' => {
                    self.pos.line += 1;
                    self.pos.column = 1;
                }
                b'\r' => self.pos.column = 1,
                // A continuation byte of the previous character.
                0x80..0xC0 => {}
                _ => self.pos.column += 1,
            }
        }
        self.begin = begin;
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        let belonging = self.rest().iter().take_while(|byte| belongs(**byte));
        self.at += belonging.count();
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b',' | b'\t' | b'\n' | b'\r')
}

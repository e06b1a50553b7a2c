//! `format`: the strings of a standard form.

use core::net::{Ipv4Addr, Ipv6Addr};

/// A format of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A date and time with an offset (RFC 3339 `date-time`).
    DateTime,
    /// A date (RFC 3339 `full-date`).
    Date,
    /// A UUID (RFC 4122), in the form with hyphens.
    Uuid,
    /// An email address (RFC 5321 `Mailbox`).
    Email,
    /// An absolute URI (RFC 3986).
    Uri,
}

impl Format {
    /// The formats with their names in JSON Schema.
    pub(in crate::types) const NAMED: [(&'static str, Self); 5] = [
        ("date-time", Self::DateTime),
        ("date", Self::Date),
        ("uuid", Self::Uuid),
        ("email", Self::Email),
        ("uri", Self::Uri),
    ];

    /// The name in JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::DateTime => "date-time",
            Self::Date => "date",
            Self::Uuid => "uuid",
            Self::Email => "email",
            Self::Uri => "uri",
        }
    }

    /// Whether a text has this form.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::DateTime => is_date_time(text),
            Self::Date => is_date(text),
            Self::Uuid => is_uuid(text),
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
        }
    }
}

/// `full-date "T" full-time` (RFC 3339 §5.6).
fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked("2026-01-01".len()) else {
        return false;
    };
    is_date(date) && rest.strip_prefix(['T', 't']).is_some_and(is_time)
}

/// `full-time`: hours, minutes and seconds, perhaps with a fraction, and an offset.
fn is_time(text: &str) -> bool {
    const DAY_MINUTES: i32 = 24 * 60;
    let Some((time, rest)) = text.split_at_checked("00:00:00".len()) else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (
        two_digits(time, 0, 23),
        two_digits(time, 3, 59),
        two_digits(time, 6, 60),
    ) else {
        return false;
    };
    let separated = time.as_bytes()[2] == b':' && time.as_bytes()[5] == b':';
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let offset = fraction.trim_start_matches(|it: char| it.is_ascii_digit());
            if offset.len() == fraction.len() {
                return false;
            }
            offset
        }
        None => rest,
    };
    let Some(offset) = offset_minutes(offset) else {
        return false;
    };
    // A leap second is the last one of a day in UTC.
    let utc = (hour * 60 + minute - offset).rem_euclid(DAY_MINUTES);
    separated && (second < 60 || utc == DAY_MINUTES - 1)
}

/// The minutes of `time-offset`.
fn offset_minutes(text: &str) -> Option<i32> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let has_form = text.len() == "+00:00".len() && text.as_bytes()[3] == b':';
    let minutes = two_digits(text, 1, 23)? * 60 + two_digits(text, 4, 59)?;
    has_form.then_some(sign * minutes)
}

/// `full-date`.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != "2026-01-01".len() || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(century), Some(year), Some(month), Some(day)) = (
        two_digits(text, 0, 99),
        two_digits(text, 2, 99),
        two_digits(text, 5, 12),
        two_digits(text, 8, 31),
    ) else {
        return false;
    };
    let year = century * 100 + year;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    month > 0 && (1..=last).contains(&day)
}

/// The number of the two digits at a byte of the text, if it is at most `max`.
fn two_digits(text: &str, at: usize, max: i32) -> Option<i32> {
    let digits = text.as_bytes().get(at..at + 2)?;
    let [tens, ones] = digits else {
        return None;
    };
    if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
        return None;
    }
    let number = i32::from(tens - b'0') * 10 + i32::from(ones - b'0');
    (number <= max).then_some(number)
}

/// 32 hexadecimal digits in five groups (RFC 4122 §3).
fn is_uuid(text: &str) -> bool {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    let mut bytes = text.bytes().enumerate();
    text.len() == 36
        && bytes.all(|(at, byte)| {
            if HYPHENS.contains(&at) {
                byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}

/// `Mailbox` (RFC 5321 §4.1.2), in ASCII, with the lengths of §4.5.3.1.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let quoted = local
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let is_local = match quoted {
        Some(quoted) => is_quoted(quoted),
        None => local.split('.').all(is_atom),
    };
    is_local && local.len() <= 64 && (is_domain(domain) || is_address_literal(domain))
}

fn is_atom(text: &str) -> bool {
    let is_atext =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_atext)
}

/// The inside of a `Quoted-string`.
fn is_quoted(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_text = match byte {
            b'\\' => bytes.next().is_some_and(|it| (b' '..=b'~').contains(&it)),
            b'"' => false,
            _ => (b' '..=b'~').contains(&byte),
        };
        if !is_text {
            return false;
        }
    }
    true
}

/// `Domain`: labels of letters, digits and hyphens.
fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_inside)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// `address-literal` of an IP address.
fn is_address_literal(text: &str) -> bool {
    let inside = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let Some(inside) = inside else {
        return false;
    };
    match inside.split_once(':') {
        Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6") => {
            address.parse::<Ipv6Addr>().is_ok()
        }
        _ => inside.parse::<Ipv4Addr>().is_ok(),
    }
}

/// `URI` (RFC 3986 §3), which begins with a scheme.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if !scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        || !scheme.bytes().all(is_inside)
    {
        return false;
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match hierarchy.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", hierarchy),
    };
    is_authority(authority)
        && are_uri_characters(path, b":@/")
        && are_uri_characters(query, b":@/?")
        && are_uri_characters(fragment, b":@/?")
}

/// `authority`: an optional user, a host and an optional port.
fn is_authority(text: &str) -> bool {
    let (user, rest) = text.rsplit_once('@').unwrap_or(("", text));
    let (is_host, port) = if let Some(literal) = rest.strip_prefix('[') {
        let Some((host, port)) = literal.split_once(']') else {
            return false;
        };
        (is_ip_literal(host), port)
    } else {
        let (host, port) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
        (are_uri_characters(host, b""), port)
    };
    let is_port = match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|it| it.is_ascii_digit()),
        None => port.is_empty(),
    };
    is_host && is_port && are_uri_characters(user, b":")
}

/// The inside of `IP-literal`.
fn is_ip_literal(text: &str) -> bool {
    let Some(future) = text.strip_prefix(['v', 'V']) else {
        return text.parse::<Ipv6Addr>().is_ok();
    };
    let Some((version, address)) = future.split_once('.') else {
        return false;
    };
    !version.is_empty()
        && version.bytes().all(|it| it.is_ascii_hexdigit())
        && !address.is_empty()
        && !address.contains('%')
        && are_uri_characters(address, b":")
}

/// Whether a text consists of `unreserved`, `pct-encoded`, `sub-delims` and these others.
fn are_uri_characters(text: &str, others: &[u8]) -> bool {
    const PLAIN: &[u8] = b"-._~!$&'()*+,;=";
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_character = match byte {
            b'%' => {
                let mut digit = || bytes.next().is_some_and(|it| it.is_ascii_hexdigit());
                digit() && digit()
            }
            _ => byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) || others.contains(&byte),
        };
        if !is_character {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, valid: &[&str], invalid: &[&str]) {
        for text in valid {
            assert!(format.accepts(text), "{text:?} is {format:?}");
        }
        for text in invalid {
            assert!(!format.accepts(text), "{text:?} is not {format:?}");
        }
    }

    #[test]
    fn dates_and_times_are_those_of_rfc_3339() {
        check(
            Format::DateTime,
            &[
                "1963-06-19T08:30:06.283185Z",
                "1990-12-31t15:59:50.123-08:00",
                "1998-12-31T23:59:60Z",
                "1998-12-31T15:59:60.123-08:00",
                "2026-02-28T00:00:00+00:00",
            ],
            &[
                "",
                "1998-12-31T23:59:61Z",
                "1998-12-31T23:58:60Z",
                "1998-12-31T22:59:60Z",
                "1990-02-31T15:59:59Z",
                "1990-12-31T15:59:59-24:00",
                "1990-12-31T15:59:59",
                "1990-12-31 15:59:59Z",
                "1963-06-19T08:30:06.28123+01:00Z",
                "2013-350T01:01:01Z",
                "1963-06-1\u{9ea}T00:00:00Z",
                "1963-06-11T0\u{9ea}:00:00Z",
                "1963-06-11T00:00:00.Z",
                "1963-06-11T00:00:00+0000",
            ],
        );
        check(
            Format::Date,
            &["2026-11-26", "2024-02-29", "2000-02-29", "0000-01-01"],
            &[
                "2026-02-29",
                "1900-02-29",
                "2026-04-31",
                "2026-13-01",
                "2026-00-10",
                "2026-1-1",
                "2026-10-00",
                "20261010",
                "2026-10-010",
                "+026-01-01",
            ],
        );
    }

    #[test]
    fn uuids_have_hyphens_in_their_places() {
        check(
            Format::Uuid,
            &[
                "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
                "00000000-0000-0000-0000-000000000000",
            ],
            &[
                "",
                "2eb8aa08aa9811eab4aa73b441d16380",
                "2eb8aa08-aa98-11ea-b4aa73b441d16380-",
                "2eb8aa08-aa98-11ea-b4ga-73b441d16380",
                "{2eb8aa08-aa98-11ea-b4aa-73b441d1638}",
            ],
        );
    }

    #[test]
    fn email_addresses_are_those_of_rfc_5321() {
        check(
            Format::Email,
            &[
                "joe.bloggs@example.com",
                "te~st@example.com",
                "\"joe bloggs\"@example.com",
                "\"joe..bloggs\"@example.com",
                "\"joe@bloggs\"@example.com",
                "\"a\\\"b\"@example.com",
                "joe@localhost",
                "joe@[127.0.0.1]",
                "joe@[IPv6:::1]",
            ],
            &[
                "",
                "2962",
                "@example.com",
                "joe@",
                ".joe@example.com",
                "joe.@example.com",
                "jo..e@example.com",
                "joe@invalid=domain.com",
                "joe@-example.com",
                "joe@[127.0.0.300]",
                "joe@[::1]",
                "jo\"e@example.com",
                "\"a\"b\"@example.com",
                "a@b@example.com",
                "joe@example.com, ann@example.com",
                "jo\u{e9}@example.com",
            ],
        );
    }

    #[test]
    fn email_addresses_have_a_greatest_length() {
        let address = |local: usize, labels: usize| {
            format!("{}@{}com", "a".repeat(local), "abcdefghi.".repeat(labels))
        };
        for (text, fits) in [
            (address(64, 1), true),
            (address(65, 1), false),
            (address(1, 25), true),
            (address(1, 26), false),
        ] {
            assert_eq!(Format::Email.accepts(&text), fits, "{text}");
        }
    }

    #[test]
    fn uris_are_those_of_rfc_3986() {
        check(
            Format::Uri,
            &[
                "https://foo.bar/?baz=qux#quux",
                "https://user:password@example.com:8080/a%20b;c=1?q=/?#f/?",
                "https://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
                "ftp://ftp.is.co.za/rfc/rfc1808.txt",
                "ldap://[2001:db8::7]/c=GB?objectClass?one",
                "http://[v7.a:b]/",
                "mailto:john@example.com",
                "tel:+1-816-555-1212",
                "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
                "file:///etc/hosts",
                "a:",
            ],
            &[
                "",
                "//foo.bar/?baz=qux",
                "/abc",
                "abc",
                ":// should fail",
                "http:// shouldfail.com",
                "bar,baz:foo",
                "1a:b",
                "https://example.com/<a>",
                "https://example.com/{a}",
                "https://example.com/^",
                "https://example.com/\u{e9}",
                "https://example.com/%4",
                "https://[@example.org/test.txt",
                "https://example.org/foobar\\.txt",
                "http://a:b:c/",
                "https://example.com/a#b#c",
                "http://[::1/",
                "https://[@a]/",
            ],
        );
    }
}

//! Dates: ISO 8601 texts, and milliseconds since 1970.

const DAY: i64 = 86_400_000;
/// Milliseconds of the first moment of the year 0, and of the year 10000.
const FIRST: i64 = -62_167_219_200_000;
const BEHIND_LAST: i64 = 253_402_300_800_000;

/// The date in UTC with milliseconds, so that the texts sort by time. `None` outside the years 0 to 9999.
pub(super) fn format(milliseconds: i64) -> Option<String> {
    if !(FIRST..BEHIND_LAST).contains(&milliseconds) {
        return None;
    }
    let (days, rest) = (milliseconds.div_euclid(DAY), milliseconds.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (seconds, fraction) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"
    ))
}

/// The milliseconds of a text `2020-01-31T23:59:59.999Z`. The fraction can be missing, and the offset can be
/// `Z`, `+01:00`, `+0100` or `+01`. `None` if the text is not a date.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let mut parts = date.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || date.len() != 10 {
        return None;
    }
    let days = days(year, month, day);
    if civil(days) != (year, month, day) {
        return None;
    }
    let at = time.find(['Z', '+', '-'])?;
    let (clock, offset) = time.split_at(at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':').map(digits);
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = match parts.next() {
        Some(second) => second?,
        None => 0,
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    digits(fraction)?;
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    let fraction = digits(&fraction)?;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset_seconds(offset)?;
    Some(seconds * 1000 + fraction)
}

fn offset_seconds(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, plain) = match text.strip_prefix('-') {
        Some(plain) => (-1, plain),
        None => (1, text.strip_prefix('+')?),
    };
    let plain = plain.replace(':', "");
    let (hours, minutes) = match plain.len() {
        2 => (digits(&plain)?, 0),
        4 => (digits(plain.get(..2)?)?, digits(plain.get(2..)?)?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok())?
}

/// The days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March, so that the leap day
/// is the last day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and day of a number of days from 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_calendar_round_trips() {
        // The calendar repeats after 400 years.
        let mut day = BEHIND_LAST - 146_097 * DAY;
        let mut before = "9599-12-31".to_owned();
        while day < BEHIND_LAST {
            let text = format(day + 1).expect("in range");
            assert_eq!(parse(&text), Some(day + 1), "{text}");
            assert!(text > before, "{before} {text}");
            before = text;
            day += DAY;
        }
        assert_eq!(before, "9999-12-31T00:00:00.001Z");
        assert_eq!(format(FIRST).as_deref(), Some("0000-01-01T00:00:00.000Z"));
        assert_eq!(format(FIRST - 1), None);
        assert_eq!(format(BEHIND_LAST), None);
    }

    #[test]
    fn texts_that_are_not_dates() {
        for text in [
            "",
            "T",
            "2020-01-01",
            "2020-01-01T00:00:00",
            "2020-13-01T00:00:00Z",
            "2020-00-01T00:00:00Z",
            "2020-01-32T00:00:00Z",
            "2020-01-00T00:00:00Z",
            "20-01-01T00:00:00Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01T00:60:00Z",
            "2020-01-01T00:00:60Z",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00:00+1",
            "2020-01-01T00:00:00Zx",
            "2020-01-01T00:00:00Z0100",
            "2020-01-01T00:00:00+24:00",
            "2020-01-01T00:00:00+é0",
            "+020-01-01T00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}

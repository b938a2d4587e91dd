//! Numbers and formats as C prints them.

/// A number as C's `%.12g` prints it.
pub fn general(value: f64) -> String {
    const DIGITS: i32 = 12;
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        let decimals = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
        return trim(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
}

/// A conversion: what stands between `%` and its letter.
#[derive(Default)]
struct Conversion {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// `h`, or none; longer ones make no difference.
    short: bool,
}

/// No field is wider, and no number longer, than this.
const WIDTH_MAX: usize = u16::MAX as usize;

struct Reader<'a> {
    format: std::iter::Peekable<std::str::Chars<'a>>,
    words: &'a str,
}

/// Formats words by a C format string: the first word. `None` if they do not fit together.
pub fn sprintf(arguments: &str) -> Option<String> {
    let mut words = arguments;
    let format = lang::conf::unquote(lang::conf::pop_space(&mut words));
    let mut reader = Reader { format: format.chars().peekable(), words };
    let mut out = String::new();
    while let Some(c) = reader.format.next() {
        if c == '%' { out.push_str(&reader.conversion()?) } else { out.push(c) }
    }
    reader.words.is_empty().then_some(out)
}

impl Reader<'_> {
    fn word(&mut self) -> &str {
        lang::conf::pop_space(&mut self.words)
    }

    fn integer(&mut self) -> Option<i128> {
        router::parse_integer(self.word())
    }

    fn digits(&mut self) -> usize {
        let mut value = 0;
        while let Some(digit) = self.format.peek().and_then(|c| c.to_digit(10)) {
            value = (value * 10 + digit as usize).min(WIDTH_MAX);
            self.format.next();
        }
        value
    }

    fn conversion(&mut self) -> Option<String> {
        let mut c = Conversion::default();
        while let Some(flag) = self.format.next_if(|c| "0#- +".contains(*c)) {
            match flag {
                '0' => c.zero = true,
                '#' => c.alternate = true,
                '-' => c.left = true,
                ' ' => c.space = true,
                _ => c.plus = true,
            }
        }
        if self.format.next_if_eq(&'*').is_some() {
            let width = self.integer()?;
            c.left |= width < 0;
            c.width = usize::try_from(width.unsigned_abs()).unwrap_or(WIDTH_MAX).min(WIDTH_MAX);
        } else {
            c.width = self.digits();
        }
        if self.format.next_if_eq(&'.').is_some() {
            if self.format.next_if_eq(&'*').is_some() {
                c.precision = Some(usize::try_from(self.integer()?).ok()?.min(WIDTH_MAX));
            } else if self.format.peek().is_some_and(char::is_ascii_digit) {
                c.precision = Some(self.digits()); // a dot alone means nothing
            }
        }
        while let Some(length) = self.format.next_if(|c| "hlLq".contains(*c)) {
            c.short = length == 'h';
        }
        match self.format.next()? {
            letter @ ('o' | 'x' | 'X' | 'u') => {
                let value = u64::try_from(self.integer()?).ok()?;
                Some(c.unsigned(if c.short { value & 0xffff } else { value }, letter))
            }
            'd' | 'i' => {
                let value = i64::try_from(self.integer()?).ok()?;
                Some(c.signed(if c.short { i64::from(value as i16) } else { value }))
            }
            's' => {
                let word = self.word();
                if word.is_empty() {
                    return None;
                }
                let text = lang::conf::unquote(word);
                let text: String = text.chars().take(c.precision.unwrap_or(usize::MAX)).collect();
                Some(c.pad(&text))
            }
            '%' => Some("%".to_owned()),
            _ => None,
        }
    }
}

impl Conversion {
    fn unsigned(&self, value: u64, letter: char) -> String {
        let digits = match letter {
            'o' => format!("{value:o}"),
            'x' => format!("{value:x}"),
            'X' => format!("{value:X}"),
            _ => value.to_string(),
        };
        let prefix = match letter {
            'x' if self.alternate && value != 0 => "0x",
            'X' if self.alternate && value != 0 => "0X",
            'o' if self.alternate && !digits.starts_with('0') => "0",
            _ => "",
        };
        self.number(prefix, &digits)
    }

    fn signed(&self, value: i64) -> String {
        let sign = match value {
            ..0 => "-",
            _ if self.plus => "+",
            _ if self.space => " ",
            _ => "",
        };
        self.number(sign, &value.unsigned_abs().to_string())
    }

    fn number(&self, prefix: &str, digits: &str) -> String {
        let least = match self.precision {
            Some(precision) => precision,
            None if self.zero && !self.left => self.width.saturating_sub(prefix.len()),
            None => 1,
        };
        // As in C, nothing remains of a zero that needs no digits.
        let digits = if self.precision == Some(0) && digits == "0" { "" } else { digits };
        self.pad(&format!("{prefix}{digits:0>least$}"))
    }

    fn pad(&self, text: &str) -> String {
        let width = self.width;
        if self.left { format!("{text:<width$}") } else { format!("{text:>width$}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_as_c() {
        for (value, expected) in [
            (0.0, "0"),
            (3.5, "3.5"),
            (1.0 / 3.0, "0.333333333333"),
            (1e12, "1e+12"),
            (123456789012.0, "123456789012"),
            (1e-5, "1e-05"),
            (-0.0001, "-0.0001"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(general(value), expected);
        }
    }

    #[test]
    fn formats_as_c() {
        for (arguments, expected) in [
            ("\"%05x\" 127", Some("0007f")),
            ("\"%-6d|\" 42", Some("42    |")),
            ("\"%+d % d\" 1 2", Some("+1  2")),
            ("%#x 255", Some("0xff")),
            ("%.3d 7", Some("007")),
            ("%*d 4 7", Some("   7")),
            ("\"%s is %5.2s\" \"a b\" xyz", Some("a b is    xy")),
            ("%hd 65535", Some("-1")),
            ("%.s|%.d ab 7", Some("ab|7")),
            ("100%% ", Some("100%")),
            ("%d x", None),
            ("%d", None),
            ("%d 1 2", None),
            ("%", None),
        ] {
            assert_eq!(sprintf(arguments).as_deref(), expected, "{arguments}");
        }
    }

    /// However wide a field is to be, there is a bound that formatting takes.
    #[test]
    fn the_width_is_bounded() {
        for format in
            ["%65536d 7", "%.65536d 7", "%-99999999999d 7", "%*d 1000000 7", "%0*x 65536 7", "%70000s a"]
        {
            assert_eq!(sprintf(format).map(|text| text.len()), Some(65_535), "{format}");
        }
    }
}

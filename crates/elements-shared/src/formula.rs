//! Formulas of one variable, as FastClick's arguments have them: the language of the library TinyExpr.
//!
//! Sums, products, `%`, powers (`^`, from left to right, and behind the sign: `-x^2` is `(-x)^2`), parentheses, `x`, `pi`, `e` and
//! functions. The argument of a function of one number needs no parentheses.

/// Parentheses, signs and functions inside each other.
const DEPTH_MAX: usize = 64;

/// A function of a number.
pub type OfOne = fn(f64) -> f64;
/// A function of two numbers.
pub type OfTwo = fn(f64, f64) -> f64;

/// A formula.
#[derive(Clone, Debug)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// The variable.
    Variable,
    /// A function of a formula's value.
    One(OfOne, Box<Formula>),
    /// A function of two.
    Two(OfTwo, Box<[Formula; 2]>),
}

/// Functions of a number.
const ONE: &[(&str, OfOne)] = &[
    ("abs", f64::abs),
    ("acos", f64::acos),
    ("asin", f64::asin),
    ("atan", f64::atan),
    ("ceil", f64::ceil),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("exp", f64::exp),
    ("floor", f64::floor),
    ("ln", f64::ln),
    ("log", f64::log10),
    ("log10", f64::log10),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("squarewave", |x| if x.sin() >= 0.0 { 1.0 } else { -1.0 }),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];

/// Functions of two.
const TWO: &[(&str, OfTwo)] =
    &[("atan2", f64::atan2), ("max", f64::max), ("min", f64::min), ("pow", f64::powf)];

impl Formula {
    /// Reads a formula; `None` if it is none.
    pub fn parse(text: &str) -> Option<Formula> {
        let mut parser = Parser { rest: text.trim_start(), depth: 0 };
        parser.sum().filter(|_| parser.rest.is_empty())
    }

    /// The value for `x`.
    pub fn value(&self, x: f64) -> f64 {
        match self {
            Formula::Number(number) => *number,
            Formula::Variable => x,
            Formula::One(function, a) => function(a.value(x)),
            Formula::Two(function, operands) => function(operands[0].value(x), operands[1].value(x)),
        }
    }

    fn two(function: OfTwo, a: Formula, b: Formula) -> Formula {
        Formula::Two(function, Box::new([a, b]))
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (word, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        word
    }

    /// Takes a sign if it comes next.
    fn takes(&mut self, sign: char) -> bool {
        let comes = self.rest.starts_with(sign);
        if comes {
            self.skip(sign.len_utf8());
        }
        comes
    }

    fn sum(&mut self) -> Option<Formula> {
        let mut left = self.product()?;
        loop {
            left = match () {
                () if self.takes('+') => Formula::two(|a, b| a + b, left, self.product()?),
                () if self.takes('-') => Formula::two(|a, b| a - b, left, self.product()?),
                () => return Some(left),
            };
        }
    }

    fn product(&mut self) -> Option<Formula> {
        let mut left = self.power()?;
        loop {
            left = match () {
                () if self.takes('*') => Formula::two(|a, b| a * b, left, self.power()?),
                () if self.takes('/') => Formula::two(|a, b| a / b, left, self.power()?),
                () if self.takes('%') => Formula::two(|a, b| a % b, left, self.power()?),
                () => return Some(left),
            };
        }
    }

    fn power(&mut self) -> Option<Formula> {
        let mut left = self.signed()?;
        while self.takes('^') {
            left = Formula::two(f64::powf, left, self.signed()?);
        }
        Some(left)
    }

    fn signed(&mut self) -> Option<Formula> {
        let mut negative = false;
        while self.rest.starts_with(['+', '-']) {
            negative ^= self.skip(1) == "-";
        }
        self.depth += 1;
        let base = if self.depth > DEPTH_MAX { None } else { self.base() }?;
        self.depth -= 1;
        Some(if negative { Formula::One(|x| -x, Box::new(base)) } else { base })
    }

    fn base(&mut self) -> Option<Formula> {
        if self.takes('(') {
            return self.sum().filter(|_| self.takes(')'));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let name = self.skip(end);
        let constant = match name {
            "x" => return Some(Formula::Variable),
            "pi" => Some(std::f64::consts::PI),
            "e" => Some(std::f64::consts::E),
            _ => None,
        };
        if let Some(number) = constant {
            // As in TinyExpr, these are functions without arguments.
            return (!self.takes('(') || self.takes(')')).then_some(Formula::Number(number));
        }
        if let Some((_, function)) = ONE.iter().find(|(known, _)| *known == name) {
            return Some(Formula::One(*function, Box::new(self.signed()?)));
        }
        let (_, function) = TWO.iter().find(|(known, _)| *known == name)?;
        let first = if self.takes('(') { self.sum()? } else { return None };
        let second = if self.takes(',') { self.sum()? } else { return None };
        self.takes(')').then(|| Formula::two(*function, first, second))
    }

    fn number(&mut self) -> Option<Formula> {
        let bytes = self.rest.as_bytes();
        let digits =
            |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let mut end = digits(0);
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + sign).min(bytes.len()));
            end += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        self.skip(end).parse().ok().map(Formula::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formulas_have_the_right_values() {
        for (text, expected) in [
            ("100", 100.0),
            (" 1 + 2*3 ", 7.0),
            ("10 - 4 - 3", 3.0),
            ("2^3^2", 64.0),
            ("-2^2", 4.0),
            ("10 + min(90, 10*x)", 40.0),
            ("7 % 4 / 2", 1.5),
            ("sqrt 16 + abs(-1)", 5.0),
            ("cos(pi) * e() / e", -1.0),
            ("1.5e1 + 1E-1", 15.1),
            ("--x", 3.0),
            ("squarewave(1) * 2", 2.0),
        ] {
            let value = Formula::parse(text).map(|formula| formula.value(3.0));
            assert!(value.is_some_and(|value| (value - expected).abs() < 1e-9), "{text}: {value:?}");
        }
        for bad in ["", "1 +", "(1", "1)", "y", "min(1)", "min 1, 2", "1 2", "1..2", "sin", "e(1)"] {
            assert!(Formula::parse(bad).is_none(), "{bad}");
        }
        assert!(Formula::parse(&"(".repeat(100_000)).is_none(), "no stack is that deep");
    }

    proptest! {
        #[test]
        fn whatever_comes(text in "[-+*/%^(),.0-9ex pisn]{0,40}") {
            if let Some(formula) = Formula::parse(&text) {
                formula.value(2.0);
            }
        }
    }
}

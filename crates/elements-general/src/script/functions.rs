//! What scripts compute with: functions of a space-separated list of words, offered as read handlers.

use elements_shared::sprintf::{general, sprintf};
use lang::conf::{pop_space, unquote};
use router::{parse_boolean, parse_integer};
use std::cmp::Ordering;

/// A function of the text that follows its name.
type Function = fn(&str) -> Result<String, String>;

/// All functions that depend on nothing but their arguments.
pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("add", |text| fold(text, 0, i64::wrapping_add, |a, b| a + b)),
    ("sub", |text| fold(text, 0, i64::wrapping_sub, |a, b| a - b)),
    ("min", |text| fold(text, 1, i64::min, f64::min)),
    ("max", |text| fold(text, 1, i64::max, f64::max)),
    ("mul", |text| fold(text, 1, i64::wrapping_mul, |a, b| a * b)),
    ("div", |text| quotient(text).map(general)),
    ("idiv", |text| quotient(text).map(|value| whole(value).to_string())),
    ("avg", average),
    ("count", |text| Ok(numbers(text, false)?.len().to_string())),
    ("popcount", |text| {
        Ok(numbers(text, false)?.iter().filter(|number| number.real() != 0.0).count().to_string())
    }),
    ("gt_vec", |text| {
        let all = numbers(text, false)?;
        let greater = |first: &Number| all[1..].iter().filter(|number| number.real() > first.real()).count();
        Ok(all.first().map_or(0, greater).to_string())
    }),
    ("mod", |text| remainder(text, false)),
    ("rem", |text| remainder(text, true)),
    ("neg", |text| one(text, i64::wrapping_neg, |x| -x)),
    ("abs", |text| one(text, i64::wrapping_abs, f64::abs)),
    ("ceil", |text| one(text, |n| n, f64::ceil)),
    ("floor", |text| one(text, |n| n, f64::floor)),
    ("round", |text| one(text, |n| n, f64::round)),
    ("eq", |text| compare(text, Ordering::is_eq)),
    ("ne", |text| compare(text, Ordering::is_ne)),
    ("gt", |text| compare(text, Ordering::is_gt)),
    ("ge", |text| compare(text, Ordering::is_ge)),
    ("lt", |text| compare(text, Ordering::is_lt)),
    ("le", |text| compare(text, Ordering::is_le)),
    ("not", |text| boolean(text).map(|x| (!x).to_string())),
    ("and", |text| junction(text, true).map(|x| x.to_string())),
    ("or", |text| junction(text, false).map(|x| x.to_string())),
    ("nand", |text| junction(text, true).map(|x| (!x).to_string())),
    ("nor", |text| junction(text, false).map(|x| (!x).to_string())),
    ("if", choose),
    ("in", |text| Ok(is_in(text).to_string())),
    ("first", |mut text| Ok(pop_space(&mut text).to_owned())),
    ("sprintf", |text| sprintf(text).ok_or_else(syntax_error)),
    ("length", |text| Ok(lang::bytes::of_text(text).len().to_string())),
    ("unquote", |text| Ok(unquote(text))),
    ("htons", |text| swap(text, |x| u64::from((x as u16).to_be()))),
    ("htonl", |text| swap(text, |x| u64::from((x as u32).to_be()))),
    ("ntohs", |text| swap(text, |x| u64::from(u16::from_be(x as u16)))),
    ("ntohl", |text| swap(text, |x| u64::from(u32::from_be(x as u32)))),
];

fn syntax_error() -> String {
    "syntax error".to_owned()
}

/// A number: an integer as long as it is one.
#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Real(f64),
}

/// An integer in any base.
fn integer(word: &str) -> Option<i64> {
    parse_integer(word).and_then(|n| i64::try_from(n).ok())
}

/// A number as C's `strtod` reads it: a leading zero says nothing, `0x` does.
fn real(word: &str) -> Option<f64> {
    let (negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let Some(hexadecimal) = hexadecimal else { return word.parse().ok() };
    let value = u64::from_str_radix(hexadecimal, 16).ok()? as f64;
    Some(if negative { -value } else { value })
}

/// Two numbers, integers if both are.
fn pair(a: &str, b: &str) -> Option<(Number, Number)> {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some((Number::Int(a), Number::Int(b))),
        _ => Some((Number::Real(real(a)?), Number::Real(real(b)?))),
    }
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Real(x) => x,
        }
    }

    fn print(self) -> String {
        match self {
            Number::Int(n) => n.to_string(),
            Number::Real(x) => general(x),
        }
    }
}

/// All numbers: integers up to the first word that is none, from there on floating-point numbers; or the latter only.
fn numbers(mut text: &str, mut reals: bool) -> Result<Vec<Number>, String> {
    let mut numbers = Vec::new();
    while !text.trim().is_empty() {
        let word = pop_space(&mut text);
        let whole = if reals { None } else { integer(word) };
        reals = whole.is_none();
        let number = whole.map(Number::Int).or_else(|| real(word).map(Number::Real));
        numbers.push(number.ok_or("expected list of numbers")?);
    }
    Ok(numbers)
}

/// Combines all numbers from left to right; `empty` if there are none.
fn fold(
    text: &str,
    empty: i64,
    int: fn(i64, i64) -> i64,
    real: fn(f64, f64) -> f64,
) -> Result<String, String> {
    let all = numbers(text, false)?.into_iter();
    Ok(all.reduce(|a, b| combine(a, b, int, real)).unwrap_or(Number::Int(empty)).print())
}

/// Combines two numbers, as integers if both are.
fn combine(a: Number, b: Number, int: fn(i64, i64) -> i64, real: fn(f64, f64) -> f64) -> Number {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Number::Int(int(a, b)),
        _ => Number::Real(real(a.real(), b.real())),
    }
}

fn quotient(text: &str) -> Result<f64, String> {
    Ok(numbers(text, true)?.into_iter().map(Number::real).reduce(|a, b| a / b).unwrap_or(1.0))
}

/// A number without its fraction; what no integer can be is the least one, as on the processors that Click runs on.
fn whole(value: f64) -> i64 {
    if value.is_nan() || value.abs() >= 9.3e18 { i64::MIN } else { value as i64 }
}

/// The mean of all numbers, an integer if they are; that of none is the greatest `int`, as in FastClick.
fn average(text: &str) -> Result<String, String> {
    let all = numbers(text, false)?;
    let sum = all.iter().copied().reduce(|a, b| combine(a, b, i64::wrapping_add, |a, b| a + b));
    Ok(match sum {
        None => i32::MAX.to_string(),
        Some(Number::Int(sum)) => (sum / all.len() as i64).to_string(),
        Some(Number::Real(sum)) => general(sum / all.len() as f64),
    })
}

/// The two words of a text that has no more.
fn two(mut text: &str) -> Result<(&str, &str), String> {
    let (a, b) = (pop_space(&mut text), pop_space(&mut text));
    if a.is_empty() || b.is_empty() || !text.is_empty() {
        Err("expected two numbers".to_owned())
    } else {
        Ok((a, b))
    }
}

fn remainder(text: &str, reals: bool) -> Result<String, String> {
    let (a, b) = two(text)?;
    match pair(a, b) {
        Some((Number::Int(_), Number::Int(0))) => Err("division by zero".to_owned()),
        Some((Number::Int(a), Number::Int(b))) => Ok(a.wrapping_rem(b).to_string()),
        Some((a, b)) if reals => Ok(general(a.real() % b.real())),
        _ => Err("expected two numbers".to_owned()),
    }
}

fn one(text: &str, int: fn(i64) -> i64, real: fn(f64) -> f64) -> Result<String, String> {
    match integer(text) {
        Some(n) => Ok(int(n).to_string()),
        None => self::real(text).map(|x| general(real(x))).ok_or_else(|| "expected one number".to_owned()),
    }
}

/// Compares two numbers, or bytewise two strings.
fn compare(text: &str, holds: fn(Ordering) -> bool) -> Result<String, String> {
    let (a, b) = two(text)?;
    let order = match pair(a, b) {
        Some((Number::Int(a), Number::Int(b))) => a.cmp(&b),
        // What is not a number counts as greater, as in Click.
        Some((a, b)) => a.real().partial_cmp(&b.real()).unwrap_or(Ordering::Greater),
        None => unquote(a).cmp(&unquote(b)),
    };
    Ok(holds(order).to_string())
}

fn boolean(word: &str) -> Result<bool, String> {
    parse_boolean(word).ok_or_else(syntax_error)
}

/// Whether all words are true, or else any; words after the one that decides are not looked at.
fn junction(mut text: &str, all: bool) -> Result<bool, String> {
    let mut value = all;
    while value == all && !text.is_empty() {
        value = boolean(pop_space(&mut text))?;
    }
    Ok(value)
}

fn choose(mut text: &str) -> Result<String, String> {
    let condition = boolean(pop_space(&mut text))?;
    let (yes, no) = (pop_space(&mut text), pop_space(&mut text));
    Ok(if condition { yes } else { no }.to_owned())
}

/// Whether the first word is among the others.
fn is_in(mut text: &str) -> bool {
    let word = unquote(pop_space(&mut text));
    let mut found = false;
    while !word.is_empty() && !text.is_empty() && !found {
        found = word == unquote(pop_space(&mut text));
    }
    found
}

fn swap(text: &str, convert: fn(i64) -> u64) -> Result<String, String> {
    let value = parse_integer(text).and_then(|n| i64::try_from(n).ok()).ok_or_else(syntax_error)?;
    Ok(convert(value).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_give_clicks_results() {
        for (call, expected) in [
            ("add 10 5 2", Ok("17")),
            ("add", Ok("0")),
            ("add 1 0.5", Ok("1.5")),
            ("sub 10 5 2", Ok("3")),
            ("mul 0x10 010", Ok("128")),
            ("div 7 2", Ok("3.5")),
            ("div 1 0", Ok("inf")),
            ("idiv 7 2", Ok("3")),
            ("div 010 2", Ok("5")),
            ("div 0x10 2", Ok("8")),
            ("idiv 017 2", Ok("8")),
            ("add 010 010", Ok("16")),
            ("add 010 0.5 010", Ok("18.5")),
            ("min 9.5 010", Ok("9.5")),
            ("idiv 1 0", Ok("-9223372036854775808")),
            ("mod 7 3", Ok("1")),
            ("mod 7 0", Err("division by zero")),
            ("mod 7.5 2", Err("expected two numbers")),
            ("rem 7.5 2", Ok("1.5")),
            ("neg 4", Ok("-4")),
            ("abs -2.5", Ok("2.5")),
            ("ceil 2.25", Ok("3")),
            ("ceil -2", Ok("-2")),
            ("floor 2.75", Ok("2")),
            ("floor -2.25", Ok("-3")),
            ("floor 7", Ok("7")),
            ("round 2.5", Ok("3")),
            ("round -2.5", Ok("-3")),
            ("round .25", Ok("0")),
            ("round x", Err("expected one number")),
            ("min 3 -1 2", Ok("-1")),
            ("max 3 3.5", Ok("3.5")),
            ("avg 5 10 3", Ok("6")),
            ("avg 5 10", Ok("7")),
            ("avg 5 10.0", Ok("7.5")),
            ("avg", Ok("2147483647")),
            ("count 5 0 2", Ok("3")),
            ("count a", Err("expected list of numbers")),
            ("popcount 5 0 2", Ok("2")),
            ("gt_vec 5 0 2 7", Ok("1")),
            ("gt_vec", Ok("0")),
            ("add x", Err("expected list of numbers")),
            ("eq 10 0xA", Ok("true")),
            ("eq 010 8", Ok("true")),
            ("eq 010 10.0", Ok("true")),
            ("rem 010 4.0", Ok("2")),
            ("le 9 8", Ok("false")),
            ("eq 10x \"10x\"", Ok("true")),
            ("lt 1 2 3", Err("expected two numbers")),
            ("ge 2 1.5", Ok("true")),
            ("not true", Ok("false")),
            ("not maybe", Err("syntax error")),
            ("and true yes 1", Ok("true")),
            ("and false maybe", Ok("false")),
            ("or false 0", Ok("false")),
            ("nand true false", Ok("true")),
            ("nor", Ok("true")),
            ("if true a b", Ok("a")),
            ("if 0 a b", Ok("b")),
            ("in foo bar foo", Ok("true")),
            ("in foo", Ok("false")),
            ("first a b", Ok("a")),
            ("length abcde", Ok("5")),
            ("unquote \"a\\n\"", Ok("a\n")),
            ("htons 1", Ok("256")),
            ("ntohl 1", Ok("16777216")),
            ("sprintf %03d 7", Ok("007")),
        ] {
            let (name, text) = call.split_once(' ').unwrap_or((call, ""));
            let (_, function) = FUNCTIONS.iter().find(|(known, _)| *known == name).expect("a function");
            assert_eq!(function(text), expected.map(str::to_owned).map_err(str::to_owned), "{call}");
        }
    }
}

//! Self-test: parsing of arguments.
//!
//! ```click
//! ConfParseTest
//! ```
//!
//! When the router starts, this tests how the program parses configuration strings: how they are split into arguments
//! and words, how comments and quotes are handled, and how each argument type parses valid and invalid text:
//! booleans, integers, times, bandwidths, strings, IPv4, IPv6 and Ethernet addresses, prefixes, ports, annotations,
//! and keywords. It prints `All tests pass!`, or the router does not start.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! ConfParseTest
//! ```
//!
//! # See also
//! BigintTest, ErrorTest, Message

use super::trial::{Trial, element};
use lang::conf;
use router::{Bandwidth, Bytes, Class, Config, ConfigError, Cx, Element, FromArg, IpPort, Residency};
use std::fmt::Debug;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use wire::ethernet::MacAddr;
use wire::net::Ipv4Net;

/// The class.
pub(crate) const CLASS: Class = Class::new("ConfParseTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("conf_parse_test.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, cx: &mut Cx<'_>) {
    splitting(trial);
    quotes(trial);
    plain_values(trial, cx);
    addresses(trial, cx);
    keywords(trial, cx);
}

fn splitting(trial: &mut Trial) {
    let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    for (text, arguments) in [
        ("a, b c ,d", &["a", "b c", "d"][..]),
        ("a,,b", &["a", "", "b"]),
        ("a, b,", &["a", "b"]),
        ("", &[]),
        ("\"a, b\", 'c, d'", &["\"a, b\"", "'c, d'"]),
        ("a /* , */ b, // , x\nc", &["a b", "c"]),
        ("\\<61, 62>, b", &["\\<61, 62>", "b"]),
    ] {
        trial.same(&format!("arguments of {text:?}"), conf::split_args(text), strings(arguments));
    }
    for (text, words) in [
        ("a b  c", &["a", "b", "c"][..]),
        ("\"a b\" c", &["\"a b\"", "c"]),
        (" /* x */ a\tb ", &["a", "b"]),
        ("", &[]),
    ] {
        trial.same(&format!("words of {text:?}"), conf::split_spaces(text), strings(words));
    }
    let mut rest = "first second third";
    trial.same("the first word", conf::pop_space(&mut rest), "first");
    trial.same("what is behind the first word", rest, "second third");
}

fn quotes(trial: &mut Trial) {
    for (text, bytes) in [
        ("abc", &b"abc"[..]),
        ("\"a b\"", b"a b"),
        ("'a\\n'", b"a\\n"),
        ("\"a\\tb\\x41\\101\\\"\"", b"a\tbAA\""),
        ("a\"b c\"'d'", b"ab cd"),
        ("\\<48 65 6c6C 6f>", b"Hello"),
    ] {
        trial.same(&format!("{text} without quotes"), conf::unquote_bytes(text), bytes.to_vec());
    }
    for bytes in [&b""[..], b"plain", b"two words", b"\"", b"a\\b", b"\0\xff\n", b"a,b"] {
        let again = conf::unquote_bytes(&conf::quote(bytes));
        trial.same("what was quoted without its quotes", again, bytes.to_vec());
    }
}

/// What texts come to as arguments of one type; `None` are wrong ones.
fn values<T: FromArg + PartialEq + Debug>(trial: &mut Trial, cx: &Cx<'_>, cases: &[(&str, Option<T>)]) {
    for (text, expected) in cases {
        let found: Option<T> = router::value(cx, text).ok();
        trial.same(&format!("'{text}' as an argument"), found.as_ref(), expected.as_ref());
    }
}

fn plain_values(trial: &mut Trial, cx: &Cx<'_>) {
    values(
        trial,
        cx,
        &[("true", Some(true)), ("0", Some(false)), ("yes", Some(true)), ("maybe", None), ("", None)],
    );
    values(
        trial,
        cx,
        &[("0x10", Some(16)), ("-010", Some(-8)), ("12a", None), ("1 2", None), ("2147483648", None::<i32>)],
    );
    values(trial, cx, &[("255", Some(255)), ("256", None), ("-1", None::<u8>)]);
    let ms = |ms| Some(Duration::from_millis(ms));
    values(
        trial,
        cx,
        &[("1.5", ms(1500)), ("20ms", ms(20)), ("2 min", ms(120_000)), ("-1", None), ("1 parsec", None)],
    );
    let rate = |bytes_per_second| Some(Bandwidth { bytes_per_second });
    values(
        trial,
        cx,
        &[("8kbps", rate(1000)), ("3 MBps", rate(3_000_000)), ("77", rate(77)), ("1 league", None)],
    );
    let text = |text: &str| Some(text.to_owned());
    values(trial, cx, &[("word", text("word")), ("\"two words\"", text("two words")), ("two words", None)]);
    values(trial, cx, &[("\\<00ff>", Some(Bytes(vec![0, 255]))), ("", None)]);
}

fn addresses(trial: &mut Trial, cx: &Cx<'_>) {
    let ip = |a, b, c, d| Ipv4Addr::new(a, b, c, d);
    values(
        trial,
        cx,
        &[("1.2.3.4", Some(ip(1, 2, 3, 4))), ("1.2.3", None), ("1.2.3.256", None), ("1.2.3.4.5", None)],
    );
    let net = |addr, len| Ipv4Net::new(addr, len);
    values(
        trial,
        cx,
        &[("10.0.0.0/8", net(ip(10, 0, 0, 0), 8)), ("10.0.0.0/255.0.0.0", net(ip(10, 0, 0, 0), 8))],
    );
    values(trial, cx, &[("10.0.0.0/33", None::<Ipv4Net>), ("10.0.0.0/", None)]);
    let loopback = Some(Ipv6Addr::LOCALHOST);
    values(
        trial,
        cx,
        &[
            ("::1", loopback),
            ("0:0::0:1", loopback),
            ("::ffff:1.2.3.4", Some(ip(1, 2, 3, 4).to_ipv6_mapped())),
        ],
    );
    values(trial, cx, &[("1::2::3", None::<Ipv6Addr>), ("12345::", None)]);
    let mac = Some(MacAddr([0, 1, 2, 0xa, 0xb, 0xff]));
    values(
        trial,
        cx,
        &[("00:01:02:0a:0B:ff", mac), ("0-1-2-A-B-FF", mac), ("0:1:2:3:4", None), ("0:1:2:3:4:100", None)],
    );
    values(
        trial,
        cx,
        &[("80", Some(IpPort(80))), ("0x50", Some(IpPort(80))), ("65536", None), ("no-such-service", None)],
    );
    let anno = |name| packet::Anno::named(name);
    values(trial, cx, &[("PAINT", anno("PAINT")), ("NO_SUCH_ANNO", None), ("48", None)]);
}

/// Positional arguments and keywords together.
fn keywords(trial: &mut Trial, cx: &Cx<'_>) {
    let read = |config: &str| {
        let (mut first, mut second, mut flag) = (0i32, 7i32, false);
        let args = router::arguments(cx, config);
        let result = args
            .required("FIRST", &mut first)
            .positional("SECOND", &mut second)
            .keyword("FLAG", &mut flag)
            .finish();
        result.ok().map(|()| (first, second, flag))
    };
    for (config, expected) in [
        ("1", Some((1, 7, false))),
        ("1, 2", Some((1, 2, false))),
        ("1, FLAG true", Some((1, 7, true))),
        ("FLAG 1, FIRST 3", Some((3, 7, true))),
        ("SECOND 4, FIRST 3", Some((3, 4, false))),
        ("", None),
        ("1, 2, 3", None),
        ("1, NOISE 3", None),
        ("x", None),
    ] {
        trial.same(&format!("arguments '{config}'"), read(config), expected);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("ConfParseTest; Script(stop)"), "All tests pass!\n");
    }
}

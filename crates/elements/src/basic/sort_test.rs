//! Sorts text, or tests sorting.
//!
//! ```click
//! SortTest([VALUE, ..., KEYWORDS])
//! ```
//!
//! Without VALUEs and FILE it is a self-test: when the router starts, it checks that sorted lists of text and
//! numbers, in both directions, are ordered and complete, and that equal values keep their order. It prints
//! `All tests pass!`, or the router does not start. With VALUEs or a FILE it sorts those.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! - `VALUE` (text, any number): a value to sort.
//! - `FILE` (file name): a file whose lines are sorted, after the values if there are any.
//! - `NUMERIC` (boolean, default false): whether to sort by the number at the start of each value; a value that does
//!   not start with a number counts as 0.
//! - `REVERSE` (boolean, default false): whether the largest comes first.
//! - `PERMUTE` (boolean): accepted. In Click it keeps equal values in their original order, which is always the case
//!   here.
//! - `STDC` (boolean): accepted. There is only one sorting algorithm.
//! - `OUTPUT` (boolean, default false): whether to print the result to standard output, one value per line.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! SortTest(10, 9, 100, NUMERIC true, OUTPUT true)
//! ```
//!
//! # See also
//! ConfParseTest, TimeSortedSched

use super::trial::{Trial, try_out};
use router::{Class, Config, ConfigError, Cx, Element, FileName, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("SortTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("sort_test.rs"));

#[derive(Clone, Copy, Default)]
struct Order {
    numeric: bool,
    reverse: bool,
}

struct SortTest {
    /// What is to be sorted; without, tests are run.
    values: Option<Vec<String>>,
    order: Order,
    output: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut words, mut file): (Vec<String>, Option<FileName>) = (Vec::new(), None);
    let (mut order, mut output, mut permute, mut stdc) = (Order::default(), false, false, false);
    config
        .args()
        .keyword("FILE", &mut file)
        .keyword("NUMERIC", &mut order.numeric)
        .keyword("REVERSE", &mut order.reverse)
        .keyword("PERMUTE", &mut permute)
        .keyword("STDC", &mut stdc)
        .keyword("OUTPUT", &mut output)
        .rest(&mut words)
        .finish()?;
    let mut values: Vec<String> = words.iter().map(|word| lang::conf::unquote(word)).collect();
    if let Some(FileName(name)) = &file {
        let text = std::fs::read(name).map_err(|error| format!("{name}: {}", device::plain(&error)))?;
        values.extend(String::from_utf8_lossy(&text).lines().map(str::to_owned));
    }
    let values = Some(values).filter(|values| !values.is_empty() || file.is_some());
    Ok(Box::new(SortTest { values, order, output }))
}

impl Element for SortTest {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let Some(mut values) = self.values.take() else { return try_out(cx, tests) };
        self.order.sort(&mut values);
        if self.output {
            cx.info().log.print(&values.iter().map(|value| format!("{value}\n")).collect::<String>());
        }
        Ok(())
    }
}

impl Order {
    /// Sorts; equal values stay in their order, also if the greatest comes first.
    fn sort(self, values: &mut [String]) {
        let compare = |a: &String, b: &String| match self.numeric {
            true => number(a).total_cmp(&number(b)),
            false => a.cmp(b),
        };
        values.sort_by(|a, b| if self.reverse { compare(b, a) } else { compare(a, b) });
    }
}

/// The number with which a text begins, or 0.
fn number(text: &str) -> f64 {
    let text = text.trim_start();
    let ends = (1..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    let mut numbers = ends.filter_map(|end| text[..end].parse::<f64>().ok());
    // Zeros are equal, whatever their sign.
    numbers.next().filter(|number| !number.is_nan()).unwrap_or(0.0) + 0.0
}

fn tests(trial: &mut Trial, cx: &mut Cx<'_>) {
    let cases = [
        (false, false, "", ""),
        (false, false, "one", "one"),
        (false, false, "b a c", "a b c"),
        (false, true, "b a c", "c b a"),
        (false, false, "10 9 100 1", "1 10 100 9"),
        (true, false, "10 9 100 1", "1 9 10 100"),
        (true, true, "10 9 100 1", "100 10 9 1"),
        (true, false, "0.5 -3 1e2 7", "-3 0.5 7 1e2"),
        (true, false, "2b x 2a 1z", "x 1z 2b 2a"),
        (true, true, "2b x 2a 1z", "2b 2a 1z x"),
        (true, false, "0 -0 +0", "0 -0 +0"),
        (false, false, "a A b B", "A B a b"),
        (false, false, "aa a aaa", "a aa aaa"),
    ];
    for (numeric, reverse, values, expected) in cases {
        let mut values: Vec<String> = values.split_whitespace().map(str::to_owned).collect();
        let what = format!("{values:?}, numeric {numeric}, reverse {reverse}");
        Order { numeric, reverse }.sort(&mut values);
        trial.same(&what, values.join(" ").as_str(), expected);
    }
    for length in [2, 17, 100, 5000] {
        at_random(trial, cx, length);
    }
}

/// Numbers at random are put into order, none is lost, and equal ones stay in their order.
fn at_random(trial: &mut Trial, cx: &mut Cx<'_>, length: usize) {
    let values: Vec<String> =
        (0..length).map(|place| format!("{} {place:05}", cx.rng().usize(0..length))).collect();
    let mut sorted = values.clone();
    Order { numeric: true, reverse: false }.sort(&mut sorted);
    let key = |value: &String| {
        let (number, place) = value.split_once(' ').unwrap_or_default();
        (number.parse::<usize>().unwrap_or(usize::MAX), place.to_owned())
    };
    trial.holds(&format!("{length} numbers are in order"), sorted.iter().map(key).is_sorted());
    let mut expected = values;
    expected.sort_by_key(key);
    trial.holds(&format!("{length} numbers are those that there were"), sorted == expected);
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    #[test]
    fn passes() {
        assert_eq!(run("SortTest; Script(stop)"), "All tests pass!\n");
    }

    #[test]
    fn sorts_arguments() {
        assert_eq!(run("SortTest(b, \"c d\", a, OUTPUT true); Script(stop)"), "a\nb\nc d\n");
        assert_eq!(
            run("SortTest(9, 10, 8, NUMERIC true, REVERSE true, OUTPUT true); Script(stop)"),
            "10\n9\n8\n"
        );
        assert_eq!(run("SortTest(b, a); Script(stop)"), "");
    }

    #[test]
    fn sorts_files() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("f").display().to_string();
        std::fs::write(&name, "pear\napple\nfig").unwrap();
        assert_eq!(
            run(&format!("SortTest(FILE {name}, OUTPUT true, PERMUTE true); Script(stop)")),
            "apple\nfig\npear\n"
        );
        std::fs::write(&name, "").unwrap();
        assert_eq!(run(&format!("SortTest(FILE {name}, OUTPUT true); Script(stop)")), "");
        assert!(errors("SortTest(FILE /nowhere)").contains("/nowhere: No such file"));
    }
}

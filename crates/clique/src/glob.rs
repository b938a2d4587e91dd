//! Patterns for element names: `*`, `?`, `[...]` and `[^...]` with single characters and ranges like `a-z`, and `\`
//! before a character that stands for itself.

/// Whether a text has any character that makes it a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a text matches a pattern. Takes time proportional to the product of their lengths at most.
pub(crate) fn matches(text: &str, pattern: &str) -> bool {
    let pattern = items(pattern);
    // The set of places in the pattern that can be reached with the text so far.
    let mut at = vec![false; pattern.len() + 1];
    at[0] = true;
    skip_stars(&pattern, &mut at);
    for c in text.chars() {
        let mut next = vec![false; at.len()];
        for (place, item) in pattern.iter().enumerate().filter(|&(place, _)| at[place]) {
            match item {
                Item::Star => next[place] = true,
                item if item.takes(c) => next[place + 1] = true,
                _ => {}
            }
        }
        skip_stars(&pattern, &mut next);
        at = next;
    }
    at[pattern.len()]
}

/// A star also stands for nothing.
fn skip_stars(pattern: &[Item], at: &mut [bool]) {
    for (place, item) in pattern.iter().enumerate() {
        if at[place] && matches!(item, Item::Star) {
            at[place + 1] = true;
        }
    }
}

enum Item {
    Star,
    Any,
    Literal(char),
    /// Characters from the first to the second of each pair.
    Set {
        members: Vec<(char, char)>,
        negated: bool,
    },
}

impl Item {
    fn takes(&self, c: char) -> bool {
        match self {
            Item::Star => false,
            Item::Any => true,
            Item::Literal(literal) => *literal == c,
            Item::Set { members, negated } => {
                members.iter().any(|&(from, to)| (from..=to).contains(&c)) != *negated
            }
        }
    }
}

fn items(pattern: &str) -> Vec<Item> {
    let chars: Vec<char> = pattern.chars().collect();
    let (mut items, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        match chars[i] {
            '*' => items.push(Item::Star),
            '?' => items.push(Item::Any),
            '\\' if i + 1 < chars.len() => {
                i += 1;
                items.push(Item::Literal(chars[i]));
            }
            '[' => match set(&chars, i) {
                Some((set, end)) => {
                    items.push(set);
                    i = end;
                }
                None => items.push(Item::Literal('[')),
            },
            c => items.push(Item::Literal(c)),
        }
        i += 1;
    }
    items
}

/// The set that starts at a bracket, and where its closing bracket is. The first member may be a bracket itself.
fn set(chars: &[char], open: usize) -> Option<(Item, usize)> {
    let negated = chars.get(open + 1) == Some(&'^');
    let first = open + 1 + usize::from(negated);
    let close = (first + 1..chars.len()).find(|&i| chars[i] == ']')?;
    Some((Item::Set { members: ranges(&chars[first..close]), negated }, close))
}

/// The ranges in a set; a single character is a range by itself.
fn ranges(mut chars: &[char]) -> Vec<(char, char)> {
    let mut ranges = Vec::new();
    while let Some((&from, rest)) = chars.split_first() {
        let (to, rest) = match rest {
            ['-', to, rest @ ..] => (*to, rest),
            _ => (from, rest),
        };
        ranges.push((from, to));
        chars = rest;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_the_shell() {
        let yes = [
            ("", "*"),
            ("abc", "***"),
            ("abc", "a*c"),
            ("abcbc", "a*bc"),
            ("c@3", "c@?"),
            ("x1", "x[123]"),
            ("x9", "x[^123]"),
            ("x2", "x[1-3]"),
            ("x-", "x[1-]"),
            ("x]", "x[]]"),
            ("a*", r"a\*"),
            ("a[", "a["),
        ];
        let no = [
            ("abc", "ab"),
            ("abc", "a?"),
            ("x4", "x[123]"),
            ("x1", "x[^123]"),
            ("x4", "x[^5a-z4]"),
            ("x-", "x[1-3]"),
            ("ab", r"a\*"),
            ("", "?"),
            ("ac", "a*b"),
        ];
        for (text, pattern) in yes {
            assert!(matches(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in no {
            assert!(!matches(text, pattern), "{text} {pattern}");
        }
    }

    #[test]
    fn many_stars_do_not_multiply_the_work() {
        assert!(!matches(&"a".repeat(2_000), &format!("{}b", "a*".repeat(200))));
    }
}

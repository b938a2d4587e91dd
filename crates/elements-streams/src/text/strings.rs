//! Strings that are looked for in packets, all at once.

use aho_corasick::AhoCorasick;
use router::ConfigError;

/// FastClick's bound.
const LONGEST: usize = 1024;

/// Strings, of which one pass through a packet finds the one that ends first.
#[derive(Clone, Debug)]
pub(super) struct Strings {
    automaton: AhoCorasick,
    /// The places of the strings among those that were given: equal ones count once.
    places: Vec<usize>,
}

impl Strings {
    /// The strings; `duplicate` is told the places of those that were there before.
    pub(super) fn new(given: &[Vec<u8>], duplicate: impl FnMut(usize)) -> Result<Strings, ConfigError> {
        let wrong = given.iter().enumerate().filter_map(|(place, string)| {
            let fault = match string.len() {
                0 => "has zero length",
                1..=LONGEST => return None,
                _ => "is too long",
            };
            Some(format!("Pattern #{place} {fault}"))
        });
        let messages: Vec<String> = wrong.collect();
        if !messages.is_empty() {
            return Err(ConfigError::from(messages));
        }
        let is_new = |place: &usize| !given[..*place].contains(&given[*place]);
        let (places, known): (Vec<usize>, Vec<usize>) = (0..given.len()).partition(is_new);
        known.into_iter().for_each(duplicate);
        let automaton = AhoCorasick::new(places.iter().map(|&place| &given[place]));
        let automaton = automaton.map_err(|error| error.to_string())?;
        Ok(Strings { automaton, places })
    }

    /// How many different strings there are.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// The place of the string that ends first in the data: of several, the longest.
    #[inline]
    pub(super) fn find(&self, data: &[u8]) -> Option<usize> {
        self.automaton.find(data).map(|found| self.places[found.pattern()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ends first counts, and the longest of what ends there; equal strings count once.
    #[test]
    fn first_end_counts() {
        let given = ["b", "ab", "a long one", "b", "long"].map(|text| text.as_bytes().to_vec());
        let mut again = Vec::new();
        let strings = Strings::new(&given, |place| again.push(place)).unwrap();
        assert_eq!((strings.count(), again), (4, vec![3]));
        for (data, found) in [("xb", Some(0)), ("xab", Some(1)), ("a long one", Some(4)), ("xyz", None)] {
            assert_eq!(strings.find(data.as_bytes()), found, "{data}");
        }
    }
}

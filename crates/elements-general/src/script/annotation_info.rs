//! Gives names to annotations.
//!
//! ```click
//! AnnotationInfo(NAME OFFSET [SIZE], ..., [CHECK_OVERLAP ANNO...])
//! ```
//!
//! Each name stands for a position in packets' annotations wherever elements expect one: in the compound element that
//! contains the AnnotationInfo, and in those within it. The annotations after CHECK_OVERLAP must not overlap.
//!
//! Ports: none. Workers: replicated.
//!
//! # Arguments
//! - `NAME`: a name that is not yet in use for an annotation.
//! - `OFFSET` (integer, or the name of another annotation): its first byte.
//! - `SIZE` (1, 2, 4, 8 or 16): its size in bytes. By default, the size required by the element that uses the name.
//!
//! # Example
//! ```click
//! AnnotationInfo(class 18 1, CHECK_OVERLAP class PAINT);
//! InfiniteSource -> Paint(3, class) -> CheckPaint(3, class) -> Discard;
//! ```
//!
//! # See also
//! AddressInfo, PortInfo, SetAnnoByte

use packet::{ANNO_BYTES, Anno};
use router::{Class, Config, ConfigError, Element, Value};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AnnotationInfo", create).ports("0/0").phase(-10).doc(router::manual!("annotation_info.rs"));

const CHECK: &str = "CHECK_OVERLAP";

struct AnnotationInfo;

impl Element for AnnotationInfo {}

/// A place that is known here: offset and size, which is 0 if it is not said.
fn place(config: &Config<'_>, text: &str) -> Option<(usize, usize)> {
    let named = Anno::named(text).map(|anno| (anno.offset, anno.size));
    let pick =
        |value: &Value| if let Value::Anno(offset, size) = value { Some((*offset, *size)) } else { None };
    let number =
        || router::parse_integer(text).and_then(|offset| usize::try_from(offset).ok()).map(|at| (at, 0));
    named
        .or_else(|| config.scope().lookup(text, pick))
        .or_else(number)
        .filter(|(offset, _)| *offset < ANNO_BYTES)
}

/// Defines a name.
fn define(config: &mut Config<'_>, name: &str, rest: &[String]) -> Result<(), String> {
    if !lang::conf::is_word(name) || Anno::named(name).is_some() {
        return Err(format!("bad NAME '{name}'"));
    }
    let bad = || format!("bad entry for '{name}'");
    let (offset, size) = match rest {
        [offset] => (place(config, offset).ok_or_else(bad)?.0, 0),
        [offset, size] => {
            let (offset, known) = place(config, offset).ok_or_else(bad)?;
            let size = router::parse_integer(size).and_then(|size| usize::try_from(size).ok());
            let fits = |size: &usize| {
                *size == 0 || Anno::new(offset, *size).is_some() && [0, *size].contains(&known)
            };
            (offset, size.filter(fits).ok_or_else(bad)?)
        }
        _ => return Err(bad()),
    };
    config.define(name, Value::Anno(offset, size));
    Ok(())
}

/// The pairs of these annotations that share bytes, and those that are none.
fn overlaps(config: &Config<'_>, names: &[String]) -> Vec<String> {
    let (mut places, mut errors) = (Vec::new(), Vec::new());
    for name in names {
        match place(config, name) {
            Some((offset, size)) => places.push((name, offset, offset + size.max(1))),
            None => errors.push(format!("bad ANNO '{name}'")),
        }
    }
    for (i, (a, start, end)) in places.iter().enumerate() {
        for (b, other_start, other_end) in &places[i + 1..] {
            if start < other_end && other_start < end {
                errors.push(format!("annotations '{a}' and '{b}' conflict"));
            }
        }
    }
    errors
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut messages, mut checks) = (Vec::new(), Vec::new());
    for argument in lang::conf::split_args(config.text()) {
        let words = lang::conf::split_spaces(&argument);
        match words.split_first() {
            None => {}
            Some((name, _)) if name.starts_with('#') => {}
            Some((name, rest)) if name == CHECK => checks.push(rest.to_vec()),
            Some((name, rest)) => messages.extend(define(config, name, rest).err()),
        }
    }
    for names in checks {
        messages.extend(overlaps(config, &names));
    }
    if messages.is_empty() { Ok(Box::new(AnnotationInfo)) } else { Err(ConfigError::from(messages)) }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn names_mean_annotations_and_wrong_entries_are_refused() {
        let config = "AnnotationInfo(a 18 1, b a, CHECK_OVERLAP a PAINT);
            InfiniteSource(LIMIT 3, STOP true) -> Paint(3, a) -> Paint(4) -> s :: PaintSwitch(b); s[0] -> Discard;
            s[1] -> Discard; s[2] -> Discard; s[3] -> d :: Discard";
        assert_eq!(run_and_read(config, &["d.count"]), ["3"]);
        for (arguments, message) in [
            ("PAINT 3", "bad NAME 'PAINT'"),
            ("a", "bad entry for 'a'"),
            ("a 47 2", "bad entry for 'a'"),
            ("a 18 4, b 20 1, CHECK_OVERLAP a b", "annotations 'a' and 'b' conflict"),
            ("CHECK_OVERLAP x", "bad ANNO 'x'"),
        ] {
            let said = errors(&format!("AnnotationInfo({arguments})"));
            assert!(said.contains(message), "{arguments}: {said}");
        }
    }
}

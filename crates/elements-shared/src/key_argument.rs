//! Keys among the arguments of elements, which handlers do not show.

use lang::conf::{join_args, keyword, split_args};

/// What is shown in the place of a key.
pub const HIDDEN: &str = "***";

/// A configuration string without its argument KEY: that with this keyword, or that at this place unless it has one of the other keywords of the
/// class. None if there is no such argument. For [`router::Class::hides`].
pub fn without_key(config: &str, place: usize, others: &[&str]) -> Option<String> {
    let (mut args, mut found) = (split_args(config), false);
    for (at, arg) in args.iter_mut().enumerate() {
        match keyword(arg).map(|(word, _)| word) {
            Some("KEY") => *arg = format!("KEY {HIDDEN}"),
            Some(word) if others.contains(&word) => continue,
            _ if at == place && !arg.is_empty() => HIDDEN.clone_into(arg),
            _ => continue,
        }
        found = true;
    }
    found.then(|| join_args(&args))
}

#[cfg(test)]
mod tests {
    use super::without_key;

    #[test]
    fn a_key_is_hidden_wherever_it_may_stand() {
        for (config, shown) in [
            (r"300, \<0011 2233>, ESN true", Some("300, ***, ESN true")),
            (r#"300,"sixteen octets..salt""#, Some("300, ***")),
            ("300, MY secret", Some("300, ***")),
            ("ESN true, KEY 0x0011, SPI 300", Some("ESN true, KEY ***, SPI 300")),
            (r"SPI 300, ESN true, KEY \<00>", Some("SPI 300, ESN true, KEY ***")),
            ("300,KEYFILE there.key", None),
            ("300", None),
            ("", None),
        ] {
            let found = without_key(config, 1, &["SPI", "KEYFILE", "ESN"]);
            assert_eq!(found.as_deref(), shown, "{config}");
        }
    }
}

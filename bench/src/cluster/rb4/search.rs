//! The highest rate at which nothing is lost (RFC 2544, section 26.1).

/// Looks for it from a guess on, as closely as `close` says; `passes` tries a rate.
pub(super) fn loss_free(
    guess: f64,
    close: f64,
    mut passes: impl FnMut(f64) -> Result<bool, String>,
) -> Result<f64, String> {
    let (mut low, mut high, mut rate) = (0.0, f64::INFINITY, guess);
    while high - low > close * high || high.is_infinite() {
        *if passes(rate)? { &mut low } else { &mut high } = rate;
        rate = match (low, high) {
            (low, high) if high.is_infinite() => 1.3 * low,
            (0.0, high) => high / 1.3,
            (low, high) => (low + high) / 2.0,
        };
        if !(1e3..1e10).contains(&rate) {
            return Err(format!(
                "no rate at which something is lost, and none at which nothing is: {rate:.0}"
            ));
        }
    }
    // Once may have been luck.
    while !passes(low)? {
        low *= 1.0 - close;
        if low < 1e3 {
            return Err("something is lost at every rate".to_owned());
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is found from both sides, and to within what is asked for.
    #[test]
    fn the_highest_rate_without_loss_is_found() {
        for guess in [1e4, 1e6, 9e6, 1e9] {
            let found = loss_free(guess, 0.02, |rate| Ok(rate < 3.3e6)).expect("a rate");
            assert!((3.2e6..3.3e6).contains(&found), "{guess}: {found}");
        }
    }

    /// A rate that passed once by luck is not the answer.
    #[test]
    fn a_rate_passes_twice() {
        let mut tried = 0;
        let found = loss_free(2e6, 0.02, |rate| {
            tried += 1;
            Ok(rate < 1e6 || tried == 1)
        });
        assert!(found.expect("a rate") < 1e6);
    }

    #[test]
    fn without_an_answer_it_ends() {
        assert!(loss_free(1e6, 0.02, |_| Ok(true)).is_err());
        assert!(loss_free(1e6, 0.02, |_| Ok(false)).is_err());
    }
}

//! Files that hold keys.

use router::Config;
use std::os::unix::fs::PermissionsExt;

/// Warns if others than a key file's owner may read or change it. A file that cannot be asked is for the reader to complain about.
pub fn warn_if_open(config: &mut Config<'_>, name: &str) {
    let Ok(file) = std::fs::metadata(name) else { return };
    if let Some(warning) = warning(name, file.permissions().mode()) {
        config.warn(warning);
    }
}

fn warning(name: &str, mode: u32) -> Option<String> {
    let open = mode & 0o077;
    (open != 0).then(|| {
        format!(
            "KEYFILE: {name}: others than its owner have access (mode {:03o}); 'chmod 600' keeps it secret",
            mode & 0o777
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_may_have_access() {
        for mode in [0o600, 0o400, 0o100_600] {
            assert_eq!(warning("k", mode), None, "{mode:o}");
        }
        for mode in [0o640, 0o604, 0o622, 0o100_644] {
            assert!(warning("k", mode).is_some_and(|text| text.contains("chmod 600")), "{mode:o}");
        }
    }
}

//! Drops the privileges of a set-uid program.
//!
//! ```click
//! ChangeUID()
//! ```
//!
//! Click's element sets the effective user and group to the real ones. This program is not meant to be installed
//! set-uid: if the effective and the real ones are the same there is nothing to do, and if they differ the router
//! does not start. Give the program the capabilities `CAP_NET_RAW` and `CAP_NET_ADMIN` instead, by setcap(8) or a
//! service manager.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Example
//! ```click
//! ChangeUID()
//! ```

use router::{Class, Config, ConfigError, Cx, Element, Residency};
use rustix::process::{getegid, geteuid, getgid, getuid};

/// The class.
pub(crate) const CLASS: Class = Class::new("ChangeUID", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("change_uid.rs"));

struct ChangeUid;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(ChangeUid))
}

/// Whether a program with these identities has a privilege that its user lacks.
fn check(real: (u32, u32), effective: (u32, u32)) -> Result<(), ConfigError> {
    if real == effective {
        return Ok(());
    }
    Err("could not drop privilege: the program runs set-uid or set-gid; give it capabilities instead".into())
}

impl Element for ChangeUid {
    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        check((getuid().as_raw(), getgid().as_raw()), (geteuid().as_raw(), getegid().as_raw()))
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn privilege_is_refused() {
        assert!(check((1000, 100), (1000, 100)).is_ok());
        assert!(check((1000, 100), (0, 100)).is_err());
        assert!(check((1000, 100), (1000, 0)).is_err());
    }
}

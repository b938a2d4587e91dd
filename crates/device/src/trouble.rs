//! Errors of the kernel, explained: what was tried, what the kernel said, what may help.

use crate::driver::driver;
use crate::sys;
use std::fmt;
use std::io;

/// Why an interface cannot be used, as sentences for the operator.
#[derive(Debug)]
pub struct Trouble {
    text: String,
    /// What the kernel said.
    pub error: io::Error,
}

impl Trouble {
    /// That `doing` failed at an interface. `hint` may know better than the general advice what helps.
    pub(crate) fn new(interface: &str, doing: &str, error: io::Error, hint: Option<&str>) -> Trouble {
        let advice = hint.map(str::to_owned).or_else(|| advice(interface, &error));
        let advice = advice.map_or(String::new(), |advice| format!("; {advice}"));
        let driver = driver(interface).map_or(String::new(), |name| format!(" (driver {name})"));
        Trouble { text: format!("{interface}{driver}: {doing}: {}{advice}", plain(&error)), error }
    }

    /// For use with `map_err`.
    pub(crate) fn at<'a>(interface: &'a str, doing: &'a str) -> impl Fn(io::Error) -> Trouble + 'a {
        move |error| Trouble::new(interface, doing, error, None)
    }
}

impl Trouble {
    /// That sending failed.
    pub fn while_sending(interface: &str, error: io::Error) -> Trouble {
        let hint = match error.raw_os_error() {
            Some(libc::EMSGSIZE) => Some("the packet is longer than the interface's MTU: ip link shows it"),
            Some(libc::EINVAL) => Some("the packet is shorter than a link-layer header"),
            Some(libc::ENOBUFS | libc::EAGAIN) => Some(
                "packets come faster than it sends: put a Queue in front, or make its queue longer (txqueuelen)",
            ),
            Some(libc::ENODEV | libc::ENXIO) => Some("waiting for it to come back"),
            _ if error.kind() == io::ErrorKind::WouldBlock => {
                Some("packets come faster than it sends: put a Queue in front")
            }
            _ => None,
        };
        Trouble::new(interface, "sending", error, hint)
    }

    /// That `doing` failed at a socket that belongs to no interface.
    pub fn at_socket(doing: &str, error: io::Error) -> Trouble {
        let hint = match error.raw_os_error() {
            Some(libc::ENETUNREACH | libc::EHOSTUNREACH) => {
                Some("the kernel has no route there: ip route get shows it")
            }
            Some(libc::EMSGSIZE) => Some("the packet is longer than the MTU of the way there"),
            Some(libc::EADDRINUSE) => {
                Some("another program has this address, or a file is left there: ss -lnp shows who listens")
            }
            Some(libc::EADDRNOTAVAIL) => {
                Some("this machine does not have this address: ip address shows those it has")
            }
            Some(libc::ECONNREFUSED) => {
                Some("no program listens there; CLIENT false waits for others to connect")
            }
            Some(libc::ENODEV) => Some("no interface has the address, or no route leads there"),
            Some(libc::ETIMEDOUT) => Some("no host answers there, or a firewall drops packets"),
            Some(libc::ENOENT) => Some("there is no such file, or no such directory"),
            Some(libc::EACCES) => Some(
                "ports below 1024 need root or CAP_NET_BIND_SERVICE; a file, the right to write where it is",
            ),
            Some(libc::EDESTADDRREQ) => Some("no peer has sent anything yet, so there is none to answer"),
            Some(libc::EINVAL) => Some("the packet has no sound IP header"),
            _ => None,
        };
        Trouble::new("socket", doing, error, hint)
    }

    /// Whether another part of this program holds what was wanted: it may let go.
    pub fn is_held_here(&self) -> bool {
        self.error.raw_os_error().is_none() && self.error.kind() == io::ErrorKind::ResourceBusy
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Trouble {}

/// What the operating system said, in words, without the number of the error.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// What usually helps.
fn advice(interface: &str, error: &io::Error) -> Option<String> {
    match error.raw_os_error()? {
        libc::EPERM | libc::EACCES => Some(
            "run as root, or give the program the capabilities: setcap cap_net_raw,cap_net_admin,cap_bpf+ep FILE"
                .to_owned(),
        ),
        libc::ENODEV | libc::ENXIO => Some(format!("the interfaces here are {}", sys::interfaces().join(", "))),
        libc::ENETDOWN => Some(format!("bring it up: ip link set {interface} up")),
        libc::ENOMEM | libc::ENOBUFS => {
            Some("less memory is left than the rings need, or the limit on locked memory (ulimit -l) is low".to_owned())
        }
        libc::EMFILE | libc::ENFILE => Some("too many files are open (ulimit -n)".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_helps() {
        let trouble = |code| {
            Trouble::new("nowhere0", "opening it", io::Error::from_raw_os_error(code), None).to_string()
        };
        assert!(trouble(libc::EPERM).contains("opening it: Operation not permitted; run as root"));
        assert!(trouble(libc::ENODEV).contains("the interfaces here are "));
        assert_eq!(trouble(libc::EIO), "nowhere0: opening it: Input/output error");
        let socket =
            |code| Trouble::at_socket("binding 10.0.0.1:53", io::Error::from_raw_os_error(code)).to_string();
        assert!(
            socket(libc::EADDRINUSE)
                .starts_with("socket: binding 10.0.0.1:53: Address already in use; another program")
        );
        assert!(socket(libc::EADDRNOTAVAIL).contains("does not have this address"));
        assert!(socket(libc::EACCES).contains("below 1024"));
    }
}

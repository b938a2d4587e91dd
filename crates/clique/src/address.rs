//! Which running router is meant.
//!
//! Each `clique run` listens at a socket of its own in the user's runtime directory, units at theirs under `/run/clique`. A client that is not
//! told where its router listens takes the only one that it finds in any of these places.

use crate::console::reason;
use clap::ValueHint;
use control::{Client, Failure, OwnSocket, ReloadService};
use router::Handle;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::ErrorKind::{ConnectionRefused, NotFound};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Where units have their directories, and programs of root their sockets.
const SYSTEM: &str = "/run/clique";
/// How names of sockets end; before it stands the number of the process.
const ENDING: &str = "socket";

/// The options that say which router is meant.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Address {
    /// The TCP port of the router's control socket.
    #[arg(short, long, value_name = "PORT", conflicts_with = "unix_socket")]
    port: Option<u16>,

    /// The machine that the router runs on.
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1", value_hint = ValueHint::Hostname, requires = "port")]
    host: String,

    /// The UNIX-domain socket of the router [default: that of the only router that runs].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    unix_socket: Option<PathBuf>,
}

impl Address {
    /// Connects to the router's control socket.
    ///
    /// # Errors
    /// Why that is not possible; a sentence for the user.
    pub(crate) fn connect(&self) -> Result<Client, String> {
        let (place, option, client) = match (&self.unix_socket, self.port) {
            (Some(path), _) => {
                (path.display().to_string(), format!("-u {}", path.display()), Client::unix(path))
            }
            (None, Some(port)) => {
                (format!("{}:{port}", self.host), format!("-p {port}"), Client::tcp(&self.host, port))
            }
            (None, None) => return only(&places()),
        };
        client.map_err(|failure| match failure {
            Failure::Connection(error) if matches!(error.kind(), NotFound | ConnectionRefused) => {
                format!(
                    "{place}: {}; no router listens there, as with 'clique run {option} ...'",
                    reason(&error)
                )
            }
            failure => format!("{place}: {failure}"),
        })
    }

    /// Finds out whether the router has the same interfaces as this program: whether it runs on this machine, in the same network namespace.
    /// Where that cannot be known, it is believed.
    ///
    /// # Errors
    /// That it has others.
    pub(crate) fn check_here(&self) -> Result<(), String> {
        if self.port.is_some() {
            // What answers there is in this namespace.
            let is_here =
                self.host == "localhost" || self.host.parse().is_ok_and(|host: IpAddr| host.is_loopback());
            return if is_here {
                Ok(())
            } else {
                Err(format!("the router's interfaces are those of {}", self.host))
            };
        }
        let namespace = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).ok();
        let theirs = self.connect()?.process().and_then(|process| namespace(&process.to_string()));
        match (theirs, namespace("self")) {
            (Some(theirs), Some(own)) if theirs != own => {
                Err("the router is in another network namespace, with other interfaces".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// What to call the router.
    pub(crate) fn name(&self) -> String {
        match (&self.unix_socket, self.port) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(port)) => format!("{}:{port}", self.host),
            (None, None) => "the running router".to_owned(),
        }
    }
}

/// Connects to a router of this machine, at a port, a socket, or wherever the only one listens.
///
/// # Errors
/// Why that is not possible; a sentence for the user.
pub(crate) fn connect(port: Option<u16>, unix_socket: Option<&Path>) -> Result<Client, String> {
    Address { port, host: "127.0.0.1".to_owned(), unix_socket: unix_socket.map(Path::to_owned) }.connect()
}

/// The directory in which this process listens.
fn own_place() -> Option<PathBuf> {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|value| !value.is_empty()) {
        Some(directory) => Some(PathBuf::from(directory).join("clique")),
        None if rustix::process::geteuid().is_root() => Some(PathBuf::from(SYSTEM)),
        None => None,
    }
}

/// Where sockets are looked for: in all of these. The variable is not set in all sessions of a user, nor in those of units.
fn places() -> Vec<PathBuf> {
    let variable = std::env::var_os("XDG_RUNTIME_DIR").filter(|value| !value.is_empty());
    all_places(variable.map(PathBuf::from), rustix::process::geteuid().as_raw())
}

/// The places of a user with this number and this directory for running programs.
fn all_places(directory: Option<PathBuf>, user: u32) -> Vec<PathBuf> {
    let usual = PathBuf::from(format!("/run/user/{user}"));
    let mut places = Vec::new();
    for place in [directory.map(|own| own.join("clique")), Some(usual.join("clique")), Some(SYSTEM.into())] {
        places.extend(place.filter(|place| !places.contains(place)));
    }
    places
}

/// Connects to the only router that listens in these directories.
fn only(places: &[PathBuf]) -> Result<Client, String> {
    let mut refused = None;
    // A router with two sockets is one.
    let mut routers: BTreeMap<Option<u32>, (PathBuf, Client)> = BTreeMap::new();
    for path in places.iter().flat_map(|place| sockets(place)) {
        match Client::unix(&path) {
            Ok(client) => drop(routers.insert(client.process(), (path, client))),
            Err(Failure::Connection(error)) if matches!(error.kind(), NotFound | ConnectionRefused) => {}
            Err(failure) => refused = Some(format!("{}: {failure}", path.display())),
        }
    }
    if routers.len() > 1 {
        let line = |(process, (path, _)): (&Option<u32>, &(PathBuf, Client))| {
            format!("\n  -u {}{}", path.display(), process.map(command).unwrap_or_default())
        };
        let list: String = routers.iter().map(line).collect();
        return Err(format!("several routers run; say which one is meant:{list}"));
    }
    if let Some((_, client)) = routers.into_values().next() {
        return Ok(client);
    }
    let searched: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    Err(refused.unwrap_or_else(|| {
        format!(
            "no router is found in {}; start one with 'clique run', or say where it listens with '-u FILE' or '-p PORT' (a router has no socket there if it cannot write to the directory)",
            searched.join(" or ")
        )
    }))
}

/// The command line of a process, for people.
fn command(process: u32) -> String {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<String> = (line.split(|byte| *byte == 0).filter(|word| !word.is_empty()))
        .map(|word| String::from_utf8_lossy(word).chars().filter(|c| !c.is_control()).take(60).collect())
        .collect();
    format!("    process {process}: {}", words.join(" "))
}

/// The sockets in a directory: `NUMBER.socket`, and the `socket` of each unit.
fn sockets(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| {
            let path = entry.path();
            match path.extension() {
                Some(ending) if ending == ENDING => Some(path),
                _ => Some(path.join(ENDING)).filter(|path| path.exists()),
            }
        })
        .collect();
    found.sort_unstable();
    found
}

/// The process whose socket has this name.
fn process(path: &Path) -> Option<u32> {
    path.file_stem()?.to_str()?.parse().ok()
}

/// Opens this process's socket in the user's directory, or goes on with the one that the program before has left; none where there is no such
/// directory, or it cannot be written to: a router that runs for a moment needs none.
pub(crate) fn listen(handle: Handle, reloads: ReloadService, left: Option<OwnedFd>) -> Option<OwnSocket> {
    let directory = own_place()?;
    let mode = if directory == Path::new(SYSTEM) { 0o755 } else { 0o700 };
    let path = directory.join(format!("{}.{ENDING}", std::process::id()));
    if let Some(left) = left {
        return OwnSocket::go_on(&path, left, handle, Some(reloads)).ok();
    }
    if !directory.is_dir() {
        DirBuilder::new().mode(mode).create(&directory).ok()?;
    }
    for path in sockets(&directory) {
        // Of a program that was killed.
        let is_gone = |id: u32| id == std::process::id() || !Path::new(&format!("/proc/{id}")).exists();
        if process(&path).is_some_and(is_gone) && UnixStream::connect(&path).is_err() {
            let _ = std::fs::remove_file(&path);
        }
    }
    OwnSocket::start(&path, handle, Some(reloads)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// Sockets of processes and of units are found, other files are not; one on which nothing listens is no router.
    #[test]
    fn sockets_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("edge")).unwrap();
        std::fs::create_dir(at("empty")).unwrap();
        std::fs::write(at("from-host.json"), "").unwrap();
        let (first, second) = (at("12.socket"), at("edge/socket"));
        drop((UnixListener::bind(&first).unwrap(), UnixListener::bind(&second).unwrap()));
        assert_eq!(sockets(directory.path()), [first.clone(), second]);
        assert_eq!(process(&first), Some(12));
        let places = |directory: Option<&str>| {
            let places = all_places(directory.map(PathBuf::from), 0);
            places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(places(None), ["/run/user/0/clique", "/run/clique"]);
        assert_eq!(places(Some("/run/user/0")), places(None));
        assert_eq!(places(Some("/x")), ["/x/clique", "/run/user/0/clique", "/run/clique"]);
        let message = only(&[directory.path().to_owned(), at("nowhere")]).err().unwrap();
        assert!(message.starts_with("no router is found in "), "{message}");
    }
}

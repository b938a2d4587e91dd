//! Takes a cluster's roster from etcd.
//!
//! ```click
//! EtcdRoster(NODE [, keywords SERVER, PREFIX, CACHE, CREDENTIALS, TTL, CAFILE, CERTFILE, KEYFILE])
//! ```
//!
//! Keeps the roster of a VLBNode or VLBFly (the nodes, their ports, and which of them should drain) in step with a
//! key in etcd, and registers this node in etcd. Changes are applied as they happen. To change the roster, put a text
//! with a higher version:
//!
//! ```text
//! etcdctl put /clique/roster -- "$(cat roster)"
//! etcdctl get --prefix /clique/members/
//! ```
//!
//! Forwarding does not depend on etcd: while it is unreachable, the last good roster stays in use, and the nodes
//! themselves detect failed links and nodes. A roster that VLBNode rejects (because it contains an error, or its
//! version is not higher) changes nothing. The last good roster is kept in the file CACHE, if one is given; a node
//! that cannot reach etcd starts from it.
//!
//! The key PREFIX`members/`N, where N is the number of the node, exists as long as this element runs and reaches
//! etcd: it has a lease, which is renewed three times per TTL. Its value contains the node's phase and the version of
//! its roster.
//!
//! The element uses etcd's JSON gateway over HTTP (etcd 3.4 and later), and with CAFILE over HTTPS (TLS 1.2 or 1.3).
//! An etcd that asks for certificates (`--client-cert-auth`) gets that in CERTFILE. Files are read whenever a server is
//! asked anew, so certificates may be renewed while the router runs. Name and password are read from a file, never from
//! an argument. Packages have TLS; without the feature `tls` CAFILE is an error.
//!
//! Ports: none. Workers: exclusive. A thread of its own asks and waits. Not in Click.
//!
//! # Arguments
//! - `NODE` (element): a VLBNode.
//! - `SERVER` (string, default 127.0.0.1:2379): host and port of an etcd server. May be given several times: if one
//!   is unreachable, the next is tried.
//! - `PREFIX` (string, default `/clique/`): the prefix of all keys. The roster is PREFIX`roster`.
//! - `CACHE` (file name): the file in which to keep the last good roster.
//! - `CREDENTIALS` (file name): a file with a line `USER:PASSWORD`.
//! - `TTL` (integer, default 10): seconds after which etcd considers this node gone.
//! - `CAFILE` (file name): certificates (PEM) of the authorities of which one has signed the servers'. The servers'
//!   certificates must be for the hosts or addresses that SERVER says, among their alternative names. Without it there
//!   is no TLS.
//! - `CERTFILE`, `KEYFILE` (file names): this node's certificate, with those between it and an authority behind it, and
//!   its key, without a passphrase (PEM both). A key that others than its owner can read is warned of.
//!
//! # Handlers
//! - `connected` (read): whether etcd is reachable.
//! - `stats` (read): one number per line: `connected`, `sessions` with etcd so far, rosters `taken` (including those
//!   that VLBNode already had) and `refused`.
//! - `error` (read): the last error; empty while etcd is reachable.
//!
//! # Example
//! ```click
//! vlb :: VLBNode(NODE 0, NODES 1, KEY secret);
//! EtcdRoster(vlb, SERVER 127.0.0.1:2379);
//! Idle -> vlb -> Discard;
//! ```
//!
//! # See also
//! VLBNode

use super::cache::Cache;
use super::etcd::{Client, Watch};
use super::tls::{self, Files, Tls};
use crate::feed::{Feed, Priority, Waiter, Wake};
use router::{
    Call, Class, Config, ConfigError, Cx, Element, ElementName, FileName, Handle, HandlerError, Handlers,
    Level, Residency,
};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The class.
pub(crate) const CLASS: Class = Class::new("EtcdRoster", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("etcd_roster.rs"));

/// Between two attempts to reach a server.
const RETRY: Duration = Duration::from_secs(1);

struct EtcdRoster {
    /// The VLBNode's place in the configuration.
    node: usize,
    settings: Settings,
    feed: Option<Feed<Shared>>,
}

#[derive(Clone)]
struct Settings {
    servers: Vec<String>,
    prefix: String,
    cache: Option<String>,
    credentials: Option<String>,
    ttl: u32,
    files: Option<Files>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut node, mut servers, mut prefix) = (ElementName::default(), Vec::new(), "/clique/".to_owned());
    let (mut cache, mut credentials, mut ttl) = (None::<FileName>, None::<FileName>, 10u32);
    let (mut authorities, mut certificate, mut key) = (None::<FileName>, None::<FileName>, None::<FileName>);
    config
        .args()
        .required("NODE", &mut node)
        .keywords("SERVER", &mut servers)
        .keyword("PREFIX", &mut prefix)
        .keyword("CACHE", &mut cache)
        .keyword("CREDENTIALS", &mut credentials)
        .keyword("TTL", &mut ttl)
        .keyword("CAFILE", &mut authorities)
        .keyword("CERTFILE", &mut certificate)
        .keyword("KEYFILE", &mut key)
        .finish()?;
    if servers.is_empty() {
        servers.push("127.0.0.1:2379".to_owned());
    }
    if let Some(wrong) = servers.iter().find(|server| !is_server(server)) {
        return Err(ConfigError::from(
            format!("SERVER: expected a host and a port, as in 127.0.0.1:2379, not '{wrong}'").as_str(),
        ));
    }
    if !(1..=86_400).contains(&ttl) {
        return Err(ConfigError::from("TTL: from 1 to 86400 seconds expected"));
    }
    let (cache, credentials) = (cache.map(|file| file.0), credentials.map(|file| file.0));
    let own = match (certificate, key) {
        (None, None) => None,
        (Some(certificate), Some(key)) => {
            elements_shared::key_file::warn_if_open(config, &key.0);
            Some((certificate.0, key.0))
        }
        _ => return Err(ConfigError::from("CERTFILE and KEYFILE: both or none are needed")),
    };
    let files = match (authorities, own) {
        (None, None) => None,
        (Some(authorities), own) => Some(Files { authorities: authorities.0, own }),
        (None, Some(_)) => return Err(ConfigError::from("CERTFILE: CAFILE is needed, too")),
    };
    if let (Some(_), Err(why)) = (&files, tls::is_there()) {
        return Err(ConfigError::from(format!("CAFILE: {why}").as_str()));
    }
    let settings = Settings { servers, prefix, cache, credentials, ttl, files };
    Ok(Box::new(EtcdRoster { node: node.index, settings, feed: None }))
}

/// Whether a text is a host and a port.
fn is_server(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

impl Element for EtcdRoster {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let nodes = &cx.info().nodes;
        let shared = Shared {
            handle: cx.handle(),
            element: cx.index(),
            node: nodes[self.node].name.clone(),
            connected: AtomicBool::new(false),
            sessions: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            error: Mutex::default(),
        };
        let follower = Follower {
            cache: self.settings.cache.as_ref().map(Cache::new),
            settings: self.settings.clone(),
            turn: 0,
            said: vec![String::new(); self.settings.servers.len()],
            refused: String::new(),
        };
        let start = |shared| {
            Feed::start("etcd", Priority::BehindPackets, shared, |shared, waiter| {
                follower.follow(shared, waiter)
            })
        };
        self.feed = Some(start(Arc::new(shared))?);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        fn of<T>(e: &EtcdRoster, read: impl FnOnce(&Shared) -> T) -> Option<T> {
            e.feed.as_ref().map(|feed| read(&feed.shared))
        }
        h.read("connected", |e: &mut EtcdRoster, _| of(e, |s| s.connected.load(Relaxed)).unwrap_or(false));
        h.read("stats", |e: &mut EtcdRoster, _| of(e, Shared::stats).unwrap_or_default());
        h.read("error", |e: &mut EtcdRoster, _| of(e, |s| s.error().clone()).unwrap_or_default());
    }
}

impl Drop for EtcdRoster {
    fn drop(&mut self) {
        // The thread may be waiting for a server; packets must not.
        if let Some(feed) = self.feed.take() {
            feed.let_go();
        }
    }
}

/// What the element and its thread have in common.
struct Shared {
    handle: Handle,
    /// The element, in whose name messages are.
    element: usize,
    /// The VLBNode.
    node: String,
    connected: AtomicBool,
    sessions: AtomicU64,
    taken: AtomicU64,
    refused: AtomicU64,
    error: Mutex<String>,
}

impl Shared {
    fn error(&self) -> std::sync::MutexGuard<'_, String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names and values, a line each.
    fn stats(&self) -> String {
        let numbers = [
            ("connected", u64::from(self.connected.load(Relaxed))),
            ("sessions", self.sessions.load(Relaxed)),
            ("taken", self.taken.load(Relaxed)),
            ("refused", self.refused.load(Relaxed)),
        ];
        numbers.map(|(name, value)| format!("{name} {value}\n")).concat()
    }

    /// Says what is odd, in the element's name.
    fn log(&self, what: &str) {
        self.say(Level::Warning, what);
    }

    fn say(&self, level: Level, what: &str) {
        self.handle.info().say(Some(self.element), level, what);
    }

    fn read(&self, handler: &str) -> String {
        self.handle.call(Call::read(format!("{}.{handler}", self.node), "")).unwrap_or_default()
    }

    /// Something went wrong with a server, of which `said` is the last that was said. It is said once.
    fn fail(&self, why: String, said: &mut String) {
        let was_connected = self.connected.swap(false, Relaxed);
        if was_connected || *said != why {
            self.log(&format!("{why}; the roster stays as it is"));
        }
        self.error().clone_from(&why);
        *said = why;
    }
}

/// The thread's part.
struct Follower {
    settings: Settings,
    cache: Option<Cache>,
    /// Which server is asked.
    turn: usize,
    /// What was said last of each server.
    said: Vec<String>,
    /// The last roster that was not taken: that is said once.
    refused: String,
}

/// What etcd knows of this node.
struct Registration {
    key: String,
    lease: i64,
    value: String,
}

impl Follower {
    fn follow(mut self, shared: &Shared, waiter: &Waiter) {
        self.start_from_cache(shared);
        loop {
            match self.session(shared, waiter) {
                Ok(()) => return,
                Err(why) => shared.fail(why, &mut self.said[self.turn]),
            }
            self.turn = (self.turn + 1) % self.settings.servers.len();
            let again_at = Instant::now() + RETRY;
            loop {
                match waiter.wait(&[], Some(again_at)) {
                    Wake::Stop => return,
                    Wake::Time => break,
                    Wake::Ready(_) | Wake::Target => {}
                }
            }
        }
    }

    fn start_from_cache(&mut self, shared: &Shared) {
        let Some(cache) = &mut self.cache else { return };
        match cache.read() {
            Ok(Some(text)) => {
                if let Err(why) = offer(shared, &text) {
                    shared.log(&format!("the roster that was kept is not taken: {why}"));
                }
            }
            Ok(None) => {}
            Err(error) => shared.log(&error),
        }
    }

    /// Follows a server until it goes away, or, which is no error, the element does.
    fn session(&mut self, shared: &Shared, waiter: &Waiter) -> Result<(), String> {
        let user = self.settings.credentials.as_deref().map(credentials).transpose()?;
        let tls = self.settings.files.as_ref().map(Tls::read).transpose()?;
        let client = Client::new(&self.settings.servers[self.turn], tls, user.as_ref())?;
        let key = format!("{}roster", self.settings.prefix);
        let found = client.get(&key)?;
        match &found.value {
            Some(text) => self.take(shared, text),
            None => shared.log(&format!("etcd has no key {key} yet")),
        }
        let number = shared.read("node");
        let key_of_node = format!("{}members/{}", self.settings.prefix, number.trim());
        let lease = client.grant(self.settings.ttl)?;
        let mut registration = Registration { key: key_of_node, lease, value: String::new() };
        tell(shared, &client, &mut registration)?;
        // From the next change on: none is missed between reading and watching.
        let watch = client.watch(&key, found.revision + 1)?;
        shared.connected.store(true, Relaxed);
        shared.error().clear();
        self.said[self.turn].clear();
        shared.sessions.fetch_add(1, Relaxed);
        shared.say(Level::Info, &format!("etcd is there ({})", self.settings.servers[self.turn]));
        self.stay(shared, waiter, &client, watch, registration)
    }

    fn stay(
        &mut self,
        shared: &Shared,
        waiter: &Waiter,
        client: &Client,
        mut watch: Watch,
        mut registration: Registration,
    ) -> Result<(), String> {
        let renew_after = Duration::from_secs(self.settings.ttl.into()) / 3;
        let mut renew_at = Instant::now() + renew_after;
        loop {
            if Instant::now() >= renew_at {
                if !client.keep_alive(registration.lease)? {
                    return Err("the lease has run out".to_owned());
                }
                tell(shared, client, &mut registration)?;
                renew_at = Instant::now() + renew_after;
            }
            let is_there = watch.has_changes()
                || match waiter.wait(&[watch.socket().as_fd()], Some(renew_at)) {
                    Wake::Stop => {
                        // If that fails, the lease runs out by itself.
                        let _ = client.revoke(registration.lease);
                        return Ok(());
                    }
                    Wake::Ready(ready) => ready == [true],
                    Wake::Time | Wake::Target => false,
                };
            if is_there && let Some(text) = watch.latest()? {
                self.take(shared, &text);
            }
        }
    }

    /// A roster that may be a newer one.
    fn take(&mut self, shared: &Shared, text: &str) {
        match offer(shared, text) {
            Ok(()) => {
                shared.taken.fetch_add(1, Relaxed);
                if let Some(Err(error)) = self.cache.as_mut().map(|cache| cache.write(text)) {
                    shared.log(&format!("the roster is not kept: {error}"));
                }
            }
            Err(why) => {
                shared.refused.fetch_add(1, Relaxed);
                if self.refused != text {
                    shared.log(&format!("the roster that etcd has is not taken: {why}"));
                    self.refused = text.to_owned();
                }
            }
        }
    }
}

fn offer(shared: &Shared, text: &str) -> Result<(), HandlerError> {
    shared.handle.call(Call::write(format!("{}.roster", shared.node), text)).map(drop)
}

/// Tells etcd how this node is, if it does not know.
fn tell(shared: &Shared, client: &Client, registration: &mut Registration) -> Result<(), String> {
    let roster = shared.read("roster");
    let value =
        format!("phase {}\n{}\n", shared.read("phase").trim(), roster.lines().next().unwrap_or_default());
    if value != registration.value {
        client.put(&registration.key, &value, registration.lease)?;
        registration.value = value;
    }
    Ok(())
}

/// Name and password from a file. Errors do not show them.
fn credentials(file: &str) -> Result<(String, String), String> {
    let text = device::files::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let line = text.lines().next().unwrap_or_default();
    let (user, password) = line.split_once(':').ok_or_else(|| format!("{file}: no line 'USER:PASSWORD'"))?;
    Ok((user.to_owned(), password.to_owned()))
}

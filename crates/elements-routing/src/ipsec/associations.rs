//! Security associations, as workers use them, and where they are found by their numbers (the SAD of RFC 4301, section 4.4.2).

use super::replay::{self, Replay};
use super::side_by_side;
use ciphers::{Cipher, Head};
use elements_shared::ipsec_port::{Association, Limits, Mode, Usage};
use packet::{BATCH_MAX, prefetch, prefetch_span};
use rcu::{Chains, Turn, Weigh};
use std::hash::{BuildHasher, Hash, Hasher};
use std::mem::offset_of;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The most that a window can be.
const WINDOW_MOST: u32 = 1 << 16;

/// An association with its cipher. It does not change; what it counts is in [`Live`].
///
/// What each packet reads comes first: two cache lines, with the beginning of the cipher.
#[repr(C, align(64))]
pub(crate) struct Sa {
    live: Arc<Live>,
    pub(crate) replay: Arc<Replay>,
    pub(crate) spi: u32,
    pub(crate) mode: Mode,
    pub(crate) extended: bool,
    pub(crate) ports: Option<(u16, u16)>,
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// What is reached before any other limit.
    first: Limits,
    pub(crate) cipher: Cipher,
    pub(crate) reqid: u32,
    soft: Limits,
    hard: Limits,
    /// What it was made of. A key is compared with another, and shown by nothing.
    pub(crate) of: Association,
}

// What says where the key lies is in the second line.
const _: () = assert!(offset_of!(Sa, cipher) <= 96 && size_of::<Live>() == 64);

/// What changes in an association with each packet: words that all workers write to, once for a run of packets. It stays when an association is made anew.
#[repr(align(64))]
struct Live {
    /// What is added to a sequence number so that nothing made of it comes twice under a key, after a restart of the program either.
    start: u64,
    /// Later ones are preferred.
    age: u64,
    sent: AtomicU64,
    packets: AtomicU64,
    bytes: AtomicU64,
    used_ns: AtomicU64,
    /// Bits of what was said of it: [`SOFT`], [`HARD`].
    said: AtomicU8,
    /// It has come to its end.
    over: AtomicBool,
    /// The longest packet of ESP that passes, as a router on the way said, until then, in nanoseconds since the epoch; 0 for none.
    mtu: AtomicU32,
    mtu_until_ns: AtomicU64,
}

/// How long what a router said of lengths counts (RFC 1191, section 6.3; RFC 8201, section 4).
const MTU_NS: i64 = 600_000_000_000;
/// No router is believed that packets must be shorter: IPv4, and IPv6, where it may not say so (RFC 8201, section 4).
const MTU_LEAST: [u32; 2] = [576, 1280];
/// How many numbers ago the packet was sent, at most, that a router complains of.
const RECENT: u64 = 1 << 20;

const SOFT: u8 = 1;
const HARD: u8 = 2;

impl Live {
    /// One of which so many numbers were used.
    fn new(sent: u64, start: u64, age: u64) -> Live {
        Live {
            start,
            age,
            sent: AtomicU64::new(sent),
            packets: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            used_ns: AtomicU64::new(0),
            said: AtomicU8::new(0),
            over: AtomicBool::new(false),
            mtu: AtomicU32::new(0),
            mtu_until_ns: AtomicU64::new(0),
        }
    }
}

/// Whether any of what was used reaches a limit.
#[inline]
fn reaches(used: &Limits, of: &Limits) -> bool {
    used.packets >= of.packets || used.bytes >= of.bytes || used.at_ns >= of.at_ns
}

/// What a run of packets has used up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Soft,
    Hard,
}

impl Sa {
    /// Makes one. `start` is any number, another one each time. It goes on where one before it has been, if that has the same key.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    pub(crate) fn new(of: Association, start: u64, age: u64, before: Option<&Sa>) -> Result<Sa, String> {
        if of.spi < 256 {
            return Err("SPI must be at least 256: those below are reserved".to_owned());
        }
        if of.window > WINDOW_MOST {
            return Err(format!("the window must be at most {}", WINDOW_MOST));
        }
        if of.source.is_ipv4() != of.destination.is_ipv4() {
            return Err("source and destination are of different families".to_owned());
        }
        let cipher = Cipher::new(of.algorithm, of.key.octets())?;
        let before = before.filter(|before| before.has_key_of(&of));
        let live =
            before.map_or_else(|| Arc::new(Live::new(of.used.0, start, age)), |before| before.live.clone());
        let replay = match before {
            Some(before) if before.of.window == of.window => before.replay.clone(),
            // What is late at this moment counts as come.
            Some(before) => Arc::new(Replay::new(of.window, before.replay.greatest())),
            None => Arc::new(Replay::new(of.window, of.used.1)),
        };
        let first = Limits {
            bytes: of.soft.bytes.min(of.hard.bytes),
            packets: of.soft.packets.min(of.hard.packets),
            at_ns: of.soft.at_ns.min(of.hard.at_ns),
        };
        Ok(Sa {
            first,
            source: of.source,
            destination: of.destination,
            spi: of.spi,
            reqid: of.reqid,
            mode: of.mode,
            ports: of.ports,
            extended: of.extended,
            cipher,
            soft: of.soft,
            hard: of.hard,
            live,
            replay,
            of,
        })
    }

    /// Of several associations later ones are preferred.
    #[inline]
    pub(crate) fn age(&self) -> u64 {
        self.live.age
    }

    /// Whether it is what is to be made.
    pub(crate) fn is(&self, of: &Association) -> bool {
        self.of == *of
    }

    /// Whether numbers that were used with it cannot be used with another: none may come twice under a key.
    fn has_key_of(&self, other: &Association) -> bool {
        let of = &self.of;
        (&of.key, of.algorithm, of.extended) == (&other.key, other.algorithm, other.extended)
    }

    /// Asks for what each packet reads of it, but for its key.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self);
        prefetch(&self.cipher);
    }

    /// Asks for what each packet changes.
    #[inline]
    pub(crate) fn prefetch_live(&self) {
        prefetch(&*self.live);
    }

    /// Asks for the key, for a packet of so many octets.
    #[inline]
    pub(crate) fn prefetch_key(&self, octets: usize) {
        let place = self.cipher.place(octets);
        prefetch_span(place.start, place.octets);
    }

    /// Takes so many sequence numbers; the first.
    #[inline]
    pub(crate) fn take_numbers(&self, count: usize) -> u64 {
        // Nothing else depends on them, so any order of memory will do.
        self.live.sent.fetch_add(count as u64, Relaxed) + 1
    }

    /// The last number: none may come twice (RFC 4303, section 3.3.3).
    #[inline]
    pub(crate) fn last_number(&self) -> u64 {
        if self.extended { replay::END - 1 } else { u64::from(u32::MAX) }
    }

    #[inline]
    pub(crate) fn head(&self, number: u64) -> Head {
        Head { spi: self.spi, number, extended: self.extended }
    }

    /// Protects a packet of ESP in its place, with a number of its own.
    #[inline]
    #[must_use]
    pub(crate) fn seal(&self, number: u64, packet: &mut [u8]) -> bool {
        self.cipher.seal(self.head(number), self.live.start.wrapping_add(number), packet)
    }

    /// Whether it protects packets at this time.
    #[inline]
    pub(crate) fn is_good(&self, now_ns: i64) -> bool {
        let now_ns = now_ns as u64;
        !self.live.over.load(Relaxed) && (now_ns < self.first.at_ns || now_ns < self.hard.at_ns)
    }

    /// Notes that a run of packets has used it; the limit that this reached, told once for each.
    #[inline]
    pub(crate) fn account(&self, packets: u64, bytes: u64, now_ns: i64) -> Option<Limit> {
        let live = &*self.live;
        let packets = live.packets.fetch_add(packets, Relaxed) + packets;
        let bytes = live.bytes.fetch_add(bytes, Relaxed) + bytes;
        if live.used_ns.load(Relaxed) != now_ns as u64 {
            live.used_ns.store(now_ns as u64, Relaxed);
        }
        let used = Limits { bytes, packets, at_ns: now_ns as u64 };
        if reaches(&used, &self.first) { self.reached(&used) } else { None }
    }

    /// A limit is reached, perhaps one that was told before.
    #[cold]
    fn reached(&self, used: &Limits) -> Option<Limit> {
        if reaches(used, &self.hard) {
            self.live.over.store(true, Relaxed);
            return self.say(HARD).then_some(Limit::Hard);
        }
        (reaches(used, &self.soft) && self.say(SOFT)).then_some(Limit::Soft)
    }

    /// Notes that it has come to its end; whether that is new.
    pub(crate) fn end(&self) -> bool {
        self.live.over.store(true, Relaxed);
        self.say(HARD)
    }

    fn say(&self, what: u8) -> bool {
        self.live.said.load(Relaxed) & what == 0 && self.live.said.fetch_or(what, Relaxed) & what == 0
    }

    /// How long its packets may be where the first link carries so many octets.
    #[inline]
    pub(crate) fn mtu(&self, link: usize, now_ns: i64) -> usize {
        match self.live.mtu.load(Relaxed) {
            0 => link,
            mtu => self.mtu_as_said(mtu, link, now_ns),
        }
    }

    #[cold]
    fn mtu_as_said(&self, mtu: u32, link: usize, now_ns: i64) -> usize {
        if now_ns as u64 >= self.live.mtu_until_ns.load(Relaxed) {
            self.live.mtu.store(0, Relaxed);
            return link;
        }
        link.min(mtu as usize)
    }

    /// What a router on the way said of how long packets may be, if that still counts.
    #[inline]
    pub(crate) fn said_mtu(&self, now_ns: i64) -> Option<usize> {
        Some(self.mtu(usize::MAX, now_ns)).filter(|mtu| *mtu < usize::MAX)
    }

    /// Whether a packet of it with these lower halves of a number was sent not long ago.
    pub(crate) fn has_sent(&self, low: u32) -> bool {
        let sent = self.live.sent.load(Relaxed);
        let ago = u64::from((sent as u32).wrapping_sub(low));
        ago < RECENT.min(sent)
    }

    /// Heeds a router that says how long packets may be; whether that is less than before. What it says is never more than that.
    pub(crate) fn lower_mtu(&self, mtu: u32, now_ns: i64) -> bool {
        let mtu = match (self.destination.is_ipv6(), mtu) {
            (true, mtu) if mtu < MTU_LEAST[1] => return false,
            (true, mtu) => mtu,
            (false, mtu) => mtu.max(MTU_LEAST[0]),
        };
        let before = self.mtu(usize::MAX, now_ns);
        if mtu as usize > before {
            return false;
        }
        self.live.mtu_until_ns.store((now_ns + MTU_NS) as u64, Relaxed);
        self.live.mtu.store(mtu, Relaxed);
        (mtu as usize) < before
    }

    /// Goes on where it was in another process: behind the last number that was sent, and the greatest that has come. Initialisation vectors
    /// start from another number than there.
    pub(super) fn go_on(&self, [sent, received]: [u64; 2], [packets, bytes]: [u64; 2]) {
        self.live.sent.fetch_max(sent, Relaxed);
        self.live.packets.fetch_max(packets, Relaxed);
        self.live.bytes.fetch_max(bytes, Relaxed);
        self.replay.go_on(received);
    }

    /// What it has done.
    pub(crate) fn usage(&self) -> Usage {
        let live = &*self.live;
        Usage {
            destination: self.destination,
            spi: self.spi,
            packets: live.packets.load(Relaxed),
            bytes: live.bytes.load(Relaxed),
            sent: live.sent.load(Relaxed),
            received: self.replay.greatest(),
            used_ns: live.used_ns.load(Relaxed),
        }
    }
}

/// An association in a table. What packets change is named here, too: it is asked for without waiting for the association.
pub(crate) struct Entry(pub(crate) Arc<Sa>, Arc<Live>);

impl Entry {
    pub(crate) fn new(sa: Arc<Sa>) -> Entry {
        let live = sa.live.clone();
        Entry(sa, live)
    }

    /// Asks for what each packet reads of the association and changes in it, but for its key.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.0.prefetch();
        prefetch(&*self.1);
    }
}

impl Weigh for Entry {
    /// That of a table is the last owner.
    fn heap_bytes(&self) -> usize {
        size_of::<Sa>() + size_of::<Live>() + 1024
    }
}

/// Associations by number and destination.
pub(crate) struct Sad(Chains<Key, Entry, Spread>);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Key(u32, IpAddr);

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.0);
        hash_address(self.1, state);
    }
}

/// An address in few steps.
#[inline]
fn hash_address<H: Hasher>(address: IpAddr, state: &mut H) {
    match address {
        IpAddr::V4(address) => state.write_u32(address.into()),
        IpAddr::V6(address) => state.write_u128(address.into()),
    }
}

impl Weigh for Key {
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// Spreads numbers over chains. Who fills the table is trusted, so that it needs no secret.
#[derive(Clone, Copy, Default)]
struct Spread(u64);

impl BuildHasher for Spread {
    type Hasher = Spread;

    fn build_hasher(&self) -> Spread {
        Spread(0)
    }
}

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.write_u64((number >> 64) as u64);
        self.write_u64(number as u64);
    }
}

/// Chains: more than there may well be associations, so that few have a second one.
const CHAINS: usize = 1 << 14;
/// As many as there may well be of transport mode.
const ENDS: usize = 1 << 11;

impl Sad {
    pub(crate) fn new() -> Sad {
        Sad(Chains::with_hasher(CHAINS, Spread(0)))
    }

    /// The association that a packet to an address names.
    #[inline]
    pub(crate) fn find<'t>(&'t self, spi: u32, destination: IpAddr, turn: Turn<'t>) -> Option<&'t Sa> {
        self.0.get(&Key(spi, destination), turn).map(|entry| &*entry.0)
    }

    /// The associations that packets name, if they name any: `name` says the number and the destination of each. They are looked up side by side.
    #[inline]
    pub(crate) fn find_all<'t>(
        &'t self,
        count: usize,
        name: impl Fn(usize) -> Option<(u32, IpAddr)>,
        turn: Turn<'t>,
    ) -> [Option<&'t Sa>; BATCH_MAX] {
        let key = |at: usize| name(at).map(|(spi, destination)| Key(spi, destination));
        let entries = side_by_side::get_all(&self.0, count, key, turn);
        entries.map(|entry| entry.map(|(_, entry)| &*entry.0))
    }

    /// Puts one in. False if there is no room at present.
    pub(crate) fn insert(&self, sa: &Arc<Sa>, updater: &rcu::Updater) -> bool {
        self.0.insert(Key(sa.spi, sa.destination), Entry::new(sa.clone()), updater).is_ok()
    }

    /// Takes one out. False if there is no room at present.
    pub(crate) fn remove(&self, spi: u32, destination: IpAddr, updater: &rcu::Updater) -> bool {
        self.0.remove(&Key(spi, destination), updater).is_ok()
    }
}

/// The youngest associations of transport mode by their ends, for packets whose policy names none; by a number that ties them to it, and by 0 for any.
pub(crate) struct Ends(Chains<End, Entry, Spread>);

/// Source, destination, and number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct End(pub(crate) IpAddr, pub(crate) IpAddr, pub(crate) u32);

impl Hash for End {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_address(self.0, state);
        hash_address(self.1, state);
        state.write_u32(self.2);
    }
}

impl Weigh for End {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Ends {
    pub(crate) fn new() -> Ends {
        Ends(Chains::with_hasher(ENDS, Spread(0)))
    }

    #[inline]
    pub(crate) fn find<'t>(&'t self, end: End, turn: Turn<'t>) -> Option<&'t Sa> {
        self.0.get(&end, turn).map(|entry| &*entry.0)
    }

    /// Puts one in, or takes out what is there. False if there is no room at present.
    pub(crate) fn set(&self, end: End, sa: Option<&Arc<Sa>>, updater: &rcu::Updater) -> bool {
        match sa {
            Some(sa) => self.0.insert(end, Entry::new(sa.clone()), updater).is_ok(),
            None => self.0.remove(&end, updater).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text;
    use super::*;

    fn made(from: &str, to: &str) -> Sa {
        let words = format!("{from} {to} 0x1001 aes-gcm key 000102030405060708090a0b0c0d0e0f10111213");
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Sa::new(text::association(&words, 0, true).expect("an association"), 0, 1, None).expect("a key")
    }

    /// A soft limit and a hard one are told once each, of packets and of octets.
    #[test]
    fn limits_are_told_once() {
        for limits in ["soft-packets 3 hard-packets 5", "soft-bytes 30 hard-bytes 50"] {
            let words = format!(
                "192.0.2.1 192.0.2.2 0x1001 aes-gcm key 000102030405060708090a0b0c0d0e0f10111213 {limits}"
            );
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let of = text::association(&words, 0, true).expect("an association");
            let sa = Sa::new(of, 0, 0, None).expect("an association");
            let told = [(); 6].map(|()| sa.account(1, 10, 0).map(|limit| limit == Limit::Hard));
            assert_eq!(told, [None, None, Some(false), None, Some(true), None], "{limits}");
            assert!(!sa.is_good(0));
        }
    }

    /// What routers say lowers lengths for ten minutes, not below what is sensible, and only for packets that were sent.
    #[test]
    fn routers_are_heeded() {
        let sa = made("192.0.2.1", "198.51.100.1");
        assert!(!sa.has_sent(0) && !sa.has_sent(1));
        sa.take_numbers(10);
        assert_eq!(
            (0..12).filter(|number| sa.has_sent(*number)).collect::<Vec<_>>(),
            (1..=10).collect::<Vec<_>>()
        );
        sa.take_numbers(RECENT as usize);
        assert!(!sa.has_sent(10) && sa.has_sent(11) && sa.has_sent(10 + RECENT as u32));
        assert_eq!((sa.mtu(1500, 0), sa.said_mtu(0)), (1500, None));
        assert!(sa.lower_mtu(1400, 5) && !sa.lower_mtu(1400, 6) && !sa.lower_mtu(1450, 7));
        assert_eq!((sa.mtu(1500, 7), sa.mtu(1300, 7), sa.said_mtu(7)), (1400, 1300, Some(1400)));
        assert!(sa.lower_mtu(0, 8));
        assert_eq!((sa.mtu(1500, 7 + MTU_NS), sa.mtu(1500, 8 + MTU_NS)), (576, 1500));
        assert!(sa.lower_mtu(1450, 9 + MTU_NS));
        let six = made("2001:db8::1", "2001:db8::2");
        assert!(!six.lower_mtu(1279, 0) && six.lower_mtu(1280, 0));
        assert_eq!(six.mtu(1500, 0), 1280);
    }
}

//! Encrypts IP packets for a tunnel (IPsec).
//!
//! ```click
//! ESPEncap(SPI, KEY [, KEYFILE, ESN])
//! ```
//!
//! Makes each IPv4 or IPv6 packet the contents of an encapsulating security payload (RFC 4303, tunnel mode):
//! encrypted and protected against changes by AES-GCM (RFC 4106) with a check value of 16 octets. The result starts
//! with the ESP header; IPEncap or IP6Encap with protocol `esp` puts the tunnel's IP header in front of it. Other
//! packets are dropped.
//!
//! An association needs a key of its own in each direction, and a new one before its sequence numbers are used up:
//! packets that would need more are dropped. There is no IKE; the operator should change the keys when the
//! router is started anew. Initialisation vectors start at another number each time, so that they do not come twice
//! with the same key before that.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; all count on from the same sequence number, once
//! for each batch. Not in Click.
//!
//! # Arguments
//! - `SPI` (integer, 256 or more): the number by which the receiver knows the association.
//! - `KEY` (string): 16 octets of key for AES-128, or 32 for AES-256, and 4 octets of salt. Handlers do not show it, but the
//!   configuration's file and the program's arguments do, so it is for trials; `KEYFILE` (file name) reads the same from a file, where it
//!   may stand in hexadecimal digits, too.
//! - `ESN` (boolean, default false): whether sequence numbers have 64 bits instead of 32, as both ends must have agreed.
//!
//! # Handlers
//! - `sequence` (read): the last sequence number that was used.
//!
//! # Example
//! ```click
//! ... -> ESPEncap(0x1001, KEYFILE there.key) -> IPEncap(esp, 192.0.2.1, 192.0.2.2) -> ...
//! ```
//!
//! # See also
//! ESPDecap, IPEncap, IP6Encap, IPFragmenter

use super::association::{Association, ICV_LEN, Settings, shown};
use elements_shared::ecn;
use elements_shared::esp_front::{FRONT, front};
use packet::{Batch, Packet};
use router::{
    BadState, Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Residency, Simple,
    StateReader, StateWriter, Verdict,
};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wire::{esp, ip_proto};

/// The class.
pub(crate) const CLASS: Class = Class::new("ESPEncap", create)
    .residency(Residency::Shared)
    .hides(shown)
    .doc(router::manual!("esp_encap.rs"));

/// The numbers that all workers give to packets.
struct Numbers {
    last: AtomicU64,
    seed: u64,
    /// What is added to a sequence number to make an initialisation vector.
    start: OnceLock<u64>,
}

impl Numbers {
    fn new(seed: u64) -> Numbers {
        Numbers { last: AtomicU64::new(0), seed, start: OnceLock::new() }
    }

    /// What initialisation vectors start from. The seed is another one in each run; if the operator has fixed it,
    /// the time is, and it goes on faster than there are packets.
    fn start(&self, now_ns: i64) -> u64 {
        *self.start.get_or_init(|| self.seed.wrapping_add(now_ns as u64))
    }

    /// The first of so many numbers. Nothing else depends on them, so any order of memory will do.
    fn take(&self, count: usize) -> u64 {
        self.last.fetch_add(count as u64, Ordering::Relaxed) + 1
    }
}

/// The form of what is left to another process.
const FORM: u8 = 1;

struct EspEncap {
    settings: Settings,
    /// There from the start on.
    association: Option<Association>,
    numbers: Arc<Numbers>,
    /// Theirs.
    start: u64,
    /// The numbers that all instances go by, also those that take over from none: no number may come twice under a key.
    common: Arc<Mutex<Arc<Numbers>>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let settings = Settings::read(config, None)?;
    let seed = config.seed();
    let common = config.shared(|| Ok(Mutex::new(Arc::new(Numbers::new(seed)))))?;
    let numbers = current(&common);
    Ok(Box::new(PerPacket(EspEncap { settings, association: None, numbers, start: 0, common })))
}

fn current(common: &Mutex<Arc<Numbers>>) -> Arc<Numbers> {
    common.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl EspEncap {
    fn encapsulate(&self, packet: &mut Packet, number: u64) -> Verdict {
        let Some(association) = &self.association else { return Verdict::Drop("no key") };
        if number > association.last_number() {
            return Verdict::Drop("sequence numbers are used up");
        }
        let next_header = match packet.data().first().map(|first| first >> 4) {
            Some(4) => ip_proto::IPIP,
            Some(6) => ip_proto::IPV6,
            _ => return Verdict::Drop("no IP packet"),
        };
        let (len, padding) = (packet.len(), esp::padding(packet.len(), esp::ALIGNMENT));
        if !packet.put(padding + esp::TRAILER_LEN + ICV_LEN) || !packet.prepend(FRONT) {
            return Verdict::Drop("no room");
        }
        let parts = packet.data_mut().split_first_chunk_mut::<FRONT>();
        let parts = parts.and_then(|(front, rest)| Some((front, rest.split_last_chunk_mut::<ICV_LEN>()?)));
        let Some((place, (text, check))) = parts else { return Verdict::Drop("no room") };
        let iv = self.start.wrapping_add(number).to_be_bytes();
        *place = front(association.spi, number as u32, iv);
        esp::fill_trailer(&mut text[len..], next_header);
        let mark = ecn::mark(text).unwrap_or(0);
        *check = association.seal(number, iv, text);
        packet.set_enclosed_ecn(mark);
        packet.clear_network();
        Verdict::Pass
    }
}

impl Simple for EspEncap {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let number = self.numbers.take(1);
        self.encapsulate(packet, number)
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let mut numbers = self.numbers.take(batch.len())..;
        cx.scatter(batch, |_, packet| self.encapsulate(packet, numbers.next().unwrap_or(u64::MAX)));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.association = Some(self.settings.associate(false)?);
        self.start = self.numbers.start(cx.now_ns());
        Ok(())
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.association.take()?, Arc::clone(&self.numbers))))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        // With another key, or for another association, numbers begin anew.
        if let Ok(state) = state.downcast::<(Association, Arc<Numbers>)>()
            && self.association.as_ref().is_some_and(|association| association.is_same(&state.0))
        {
            *self.common.lock().unwrap_or_else(PoisonError::into_inner) = state.1;
        }
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        self.numbers = current(&self.common);
        self.start = self.numbers.start(cx.now_ns());
    }

    /// The last number, and what initialisation vectors start from: none comes twice under a key. The key is not written; the configuration
    /// has it.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let workers = &cx.info().nodes[cx.index()].workers;
        if workers.first() != Some(&cx.worker()) {
            return false;
        }
        out.form(FORM);
        out.u64(self.numbers.last.load(Ordering::Relaxed));
        out.u64(self.numbers.start(cx.now_ns()));
        true
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        let (last, start) = (state.u64()?, state.u64()?);
        let numbers = Numbers { last: AtomicU64::new(last), seed: start, start: OnceLock::from(start) };
        *self.common.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(numbers);
        self.taken_over(cx);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("sequence", |e: &mut Self, _| e.numbers.last.load(Ordering::Relaxed)).merged(Merge::First);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use router::Call;

    /// No number comes twice after the element got another worker beside its own: instances without a former self go by the others'
    /// numbers, too.
    #[test]
    fn numbers_go_on_on_more_workers() {
        const KEY: &str = r"\<00112233 44556677 8899aabb ccddeeff 01020304>";
        let config = |second: u32| {
            format!(
                "s1 :: InfiniteSource(DATA \\<45>, LIMIT 100) -> e :: ESPEncap(300, {KEY}) -> Discard; s2 :: InfiniteSource(DATA \\<45>, LIMIT 100) -> e;
                 StaticThreadSched(s1 0, s2 {second}); Script(wait 1, stop)"
            )
        };
        let mut old = build(&config(0), 2, 8).expect("a good configuration");
        old.run();
        let mut new = build(&config(1), 2, 8).expect("a good configuration");
        new.take_over(&mut old).expect("taken over");
        new.run();
        assert_eq!(new.call(Call::read("e.sequence", "")), Ok("400".into()));
    }

    /// No number and no initialisation vector comes twice when another process goes on, and none of its packets is taken for one that has come.
    #[test]
    fn numbers_go_on_in_another_process() {
        const KEY: &str = r"\<00112233 44556677 8899aabb ccddeeff 01020304>";
        let config = format!(
            "s :: InfiniteSource(DATA \\<45>, LIMIT 100) -> e :: ESPEncap(300, {KEY}) -> t :: Tee -> d :: ESPDecap(300, {KEY}) -> c :: Counter -> Discard;
             d[1] -> w :: Counter -> Discard; t[1] -> q :: Queue(1000) -> Idle; Script(wait 1, stop)"
        );
        let mut seen = std::collections::BTreeSet::new();
        let mut estate = None;
        for round in 1..=3u64 {
            let mut router = build(&config, 1, 8).expect("a good configuration");
            if let Some(estate) = estate.take() {
                assert_eq!(router.read_state(&estate), Vec::<String>::new());
            }
            router.run();
            let mut read = |name: &str| router.call(Call::read(name, "")).expect("a value");
            assert_eq!(read("e.sequence"), (100 * round).to_string());
            assert_eq!(read("d.sequence"), (100 * round).to_string());
            assert_eq!((read("c.count"), read("w.count")), ((100 * round).to_string(), "0".to_owned()));
            let left = router.write_state();
            let of_encap =
                left.heirlooms.iter().find(|(left, _)| left.name == "e").expect("it has left something");
            seen.insert(of_encap.0.bytes[9..].to_vec());
            estate = Some(router::Estate {
                heirlooms: left.heirlooms.into_iter().map(|(left, _)| left).collect(),
            });
        }
        assert_eq!(seen.len(), 1, "initialisation vectors start from one number, and numbers go on");
    }

    /// Packets of two workers have numbers that come once, so that all of them get through.
    #[test]
    fn workers_share_numbers() {
        const KEY: &str = r"\<00112233 44556677 8899aabb ccddeeff 01020304>";
        let config = format!(
            "s1 :: InfiniteSource(DATA \\<45>, LIMIT 500) -> e :: ESPEncap(300, {KEY}); s2 :: InfiniteSource(DATA \\<45>, LIMIT 500) -> e
               -> Queue -> u :: Unqueue -> d :: ESPDecap(300, {KEY}) -> c :: Counter -> Discard; d[1] -> Discard;
             StaticThreadSched(s1 0, s2 1, u 0); Script(wait 1, stop)"
        );
        let mut router = build(&config, 2, 8).expect("a good configuration");
        router.run();
        let mut read = |name: &str| router.call(Call::read(name, ""));
        assert_eq!((read("e.sequence"), read("c.count")), (Ok("1000".into()), Ok("1000".into())));
    }
}

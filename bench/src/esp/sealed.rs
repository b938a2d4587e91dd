//! A source of packets that another gateway has protected, and a gateway that opens them.
//!
//! A gateway takes each packet once, so each of a run has a number of its own. All are sealed before the clock starts, by keys apart from the gateway's. They lie
//! one behind the other, and the source copies them.

use crate::assembly;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
use router::{Activity, Call, Class, Classes, Config, ConfigError, Cx, Element, Options};
use std::time::Instant;
use wire::ipv4::HEADER_LEN;
use wire::{esp, ip_proto};

/// The source alone.
pub(super) const SOURCE: &str = "source, sealed";

/// Octets that the packets of a run have together, at most.
const STORE: usize = 192 << 20;
/// Octets of the initialisation vector, and of the check value.
const IV_LEN: usize = 8;
const CHECK_LEN: usize = 16;
/// What is in front of the text.
const FRONT: usize = HEADER_LEN + esp::HEADER_LEN + IV_LEN;

/// Makes `LIMIT` packets of ESP of so many associations, in which packets of `OCTETS` from `ADDRESSES` addresses are, each as likely as any other.
const SEALED_SOURCE: Class =
    Class::new("SealedSource", source).ports("0/1").processing("/h").activity(Activity::Always);

struct SealedSource {
    /// All packets, each of `len` octets.
    store: Vec<u8>,
    len: usize,
    at: usize,
}

fn source(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut count, mut addresses, mut octets, mut limit) = (1u32, 1u32, 0u32, 0u32);
    config
        .args()
        .required("COUNT", &mut count)
        .required("ADDRESSES", &mut addresses)
        .required("OCTETS", &mut octets)
        .required("LIMIT", &mut limit)
        .finish()?;
    let len = sealed_len(octets as usize);
    Ok(Box::new(SealedSource {
        store: store(count, addresses, octets as usize, limit as usize)?,
        len,
        at: 0,
    }))
}

/// Octets of a packet of so many octets when it is protected.
fn sealed_len(octets: usize) -> usize {
    FRONT + octets + esp::padding(octets, esp::ALIGNMENT) + esp::TRAILER_LEN + CHECK_LEN
}

/// The packets of a run.
fn store(count: u32, addresses: u32, octets: usize, limit: usize) -> Result<Vec<u8>, &'static str> {
    let ciphers = (1..=count).map(|number| Aes128Gcm::new_from_slice(&number_octets(number)));
    let ciphers: Vec<Aes128Gcm> = ciphers.collect::<Result<_, _>>().map_err(|_| "a key of a wrong length")?;
    let (mut numbers, mut random) = (vec![0u32; ciphers.len()], 1u32);
    let mut all = vec![0; limit * sealed_len(octets)];
    for packet in all.chunks_exact_mut(sealed_len(octets)) {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let address = ((u64::from(random) * u64::from(addresses)) >> 32) as u32;
        let at = (address % count) as usize;
        numbers[at] += 1;
        seal(&ciphers[at], at as u32 + 1, numbers[at], address, octets, packet);
    }
    Ok(all)
}

/// The octets of a key: those of the association's number, again and again.
fn number_octets(number: u32) -> [u8; 16] {
    let mut key = [0; 16];
    key.as_chunks_mut::<4>().0.iter_mut().for_each(|part| *part = number.to_be_bytes());
    key
}

/// Writes a packet from an address, protected by an association.
fn seal(cipher: &Aes128Gcm, association: u32, number: u32, address: u32, octets: usize, packet: &mut [u8]) {
    let header = |place: &mut [u8], len: usize, protocol: u8, from: u32, to: u32| {
        place[..2].copy_from_slice(&[0x45, 0]);
        place[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        place[8..10].copy_from_slice(&[64, protocol]);
        place[12..16].copy_from_slice(&from.to_be_bytes());
        place[16..20].copy_from_slice(&to.to_be_bytes());
    };
    header(packet, packet.len(), ip_proto::ESP, 0xc000_0201, 0xc000_0202);
    if let Some(head) = packet[HEADER_LEN..].first_chunk_mut() {
        let mut head = esp::Header::new(head);
        head.set_spi(0x1000 + association);
        head.set_sequence(number);
    }
    packet[HEADER_LEN + 12..FRONT].copy_from_slice(&number.to_be_bytes());
    let mut nonce = [0; 12];
    nonce[..4].copy_from_slice(&association.to_be_bytes());
    nonce[4..].copy_from_slice(&packet[FRONT - IV_LEN..FRONT]);
    let (front, rest) = packet.split_at_mut(FRONT);
    let (text, check) = rest.split_at_mut(rest.len() - CHECK_LEN);
    header(text, octets, ip_proto::UDP, 0x0a02_0000 + address, 0x0a00_0109);
    esp::fill_trailer(&mut text[octets..], ip_proto::IPIP);
    let data = &front[HEADER_LEN..HEADER_LEN + esp::HEADER_LEN];
    if let Ok(value) = cipher.encrypt_inout_detached(&nonce.into(), data, InOutBuf::from(text)) {
        check.copy_from_slice(&value);
    }
}

impl Element for SealedSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.at == self.store.len() {
            return cx.info().please_stop();
        }
        let mut batch = cx.batch();
        for octets in self.store[self.at..].chunks_exact(self.len).take(cx.vector()) {
            let Some(packet) = cx.pool().packet(octets) else { break };
            batch.push(packet);
        }
        self.at += batch.len() * self.len;
        cx.tasks().schedule();
        cx.emit(0, batch);
    }
}

/// Nanoseconds a packet in a gateway with so many associations; with none, in the source alone.
pub(super) fn nanoseconds(count: u32, octets: usize, packets: u64) -> Result<f64, String> {
    let packets = packets.min((STORE / sealed_len(octets)) as u64);
    let associations = if count == 0 { 10_000 } else { count };
    let len = super::prefix_len(associations);
    let source = format!("SealedSource({associations}, {}, {octets}, {packets})", 1u32 << (32 - len));
    let config = match count {
        0 => format!("{source} -> d :: Discard;"),
        _ => {
            let arguments = super::arguments(count, len, "in");
            format!(
                "{source} -> [1]e :: IPsec({arguments}); Idle -> e; e[0] -> Discard; e[1] -> d :: Discard;"
            )
        }
    };
    let library = elements::classes();
    let known = Classes::new(library.iter().chain([&SEALED_SOURCE]));
    let options = Options { vector: 32, pin: Some(0), ..Options::default() };
    let mut router = assembly::build(("sealed", &config), &[], &known, options)?;
    let start = Instant::now();
    router.run();
    let elapsed = start.elapsed().as_nanos() as f64;
    router.finish();
    let count = router.call(Call::read("d.count", ""))?;
    // A figure over packets that went missing would say nothing.
    if count != packets.to_string() {
        return Err(format!("{count} of {packets} packets arrived: {:?}", router.drops()));
    }
    Ok(elapsed / packets as f64)
}

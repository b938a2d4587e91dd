//! Fragments large IP packets.
//!
//! ```click
//! IPFragmenter(MTU [, HONOR_DF, VERBOSE, KEYWORDS])
//! ```
//!
//! Expects IP packets with a marked header. Packets of at most MTU bytes, counted from the IP header, pass unchanged.
//! Larger ones are split into fragments of at most MTU bytes (RFC 791, section 3.2), sent first to last; the first
//! fragment carries all options, the others only those that must be copied. A packet that must not be fragmented, or
//! whose header leaves no room for eight bytes of data, leaves by output 1 or, if that is not connected, is dropped;
//! the first five are reported on standard error. Annotations are copied; bytes before the IP header stay with the
//! first fragment only.
//!
//! Ports: 1 input, 1-2 outputs. Processing: push. Workers: replicated; counts add up, and each has identifications of its own, which go on
//! when the configuration is replaced.
//!
//! # Arguments
//! - `MTU` (integer, at least 8): the maximum packet size, in bytes.
//! - `HONOR_DF` (boolean, default true): if false, packets are fragmented even if "don't fragment" is set; those that
//!   are no fragments themselves get a random identification, since such senders need not set one (RFC 6864; but see KEEP_ID).
//! - `VERBOSE` (boolean, default false): whether to report every packet that must not be fragmented.
//! - `KEEP_ID` (boolean, default false): whether packets with "don't fragment" keep their identification. With HONOR_DF false, and
//!   where all of them have one that their sender gives to no other packet.
//! - `NEW_ID` (boolean, default false): whether all packets that are split get an identification that this element has given to no other packet
//!   lately. Behind address translation, where several hosts have one source address, their own identifications can be the same, and the receiver
//!   would put their fragments together (RFC 6864, section 5.3). Not with KEEP_ID.
//! - `HEADROOM` (integer): free bytes before each fragment, for headers to be added later.
//!
//! # Handlers
//! - `drops` (read): packets that could not be fragmented.
//! - `fragments` (read): fragments made.
//!
//! # Example
//! ```click
//! ... -> fr :: IPFragmenter(1500) -> ...
//! fr[1] -> ICMPError(18.26.4.24, unreachable, needfrag) -> ...
//! ```
//!
//! # See also
//! ICMPError

use elements_shared::identification::Identification;
use elements_shared::ip_header::{NO_HEADER, header};
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{
    BadState, Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, StateReader,
    StateWriter, Then, Verdict,
};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use wire::ipv4::{self, FLAG_DF, FLAG_MF, HEADER_LEN, Header, MAX_HEADER_LEN, OFFSET_MASK};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPFragmenter", create)
    .ports("1/1-2")
    .processing("h/h")
    .makes("fragments")
    .doc(router::manual!("ip_fragmenter.rs"));

/// The form of its state, for another program.
const FORM: u8 = 1;
/// Packets reported without VERBOSE.
const REPORTS: u64 = 5;
/// Bytes that IP numbers can address; a fragment that reaches further cannot be put together.
const DATAGRAM_MAX: usize = 65_535;

/// Why packets are refused.
const REASON: &str = "too large, and not to be fragmented";

struct IpFragmenter {
    mtu: usize,
    honor_df: bool,
    verbose: bool,
    keep_id: bool,
    /// What packets that are split are given, if not their own.
    ids: Option<Identification>,
    former: Arc<Former>,
    headroom: usize,
    outputs: usize,
    drops: u64,
    fragments: u64,
}

/// How far identifications were before a swap, of all workers: some may have no worker any more, and some workers none.
#[derive(Default)]
struct Former(Mutex<Vec<Identification>>);

impl Former {
    fn with<R>(&self, f: impl FnOnce(&mut Vec<Identification>) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = IpFragmenter {
        mtu: 0,
        honor_df: true,
        verbose: false,
        keep_id: false,
        ids: None,
        former: config.shared(|| Ok(Former::default()))?,
        headroom: DEFAULT_HEADROOM,
        outputs: config.outputs(),
        drops: 0,
        fragments: 0,
    };
    let mut new_id = false;
    config
        .args()
        .required("MTU", &mut e.mtu)
        .positional("HONOR_DF", &mut e.honor_df)
        .positional("VERBOSE", &mut e.verbose)
        .keyword("KEEP_ID", &mut e.keep_id)
        .keyword("NEW_ID", &mut new_id)
        .keyword("HEADROOM", &mut e.headroom)
        .finish()?;
    if e.mtu < 8 {
        return Err("MTU must be at least 8".into());
    }
    if new_id && e.keep_id {
        return Err("KEEP_ID and NEW_ID contradict each other".into());
    }
    e.ids = new_id.then(|| Identification::from_anywhere(config, &[]));
    Ok(Box::new(e))
}

/// Collects packets for output 0 into batches that are not too large, in order.
struct Out {
    batch: Batch,
}

impl Out {
    fn push(&mut self, cx: &mut Cx<'_>, packet: Packet) {
        if self.batch.len() >= cx.vector() || self.batch.is_full() {
            self.flush(cx);
        }
        self.batch.push(packet);
    }

    fn flush(&mut self, cx: &mut Cx<'_>) {
        let next = cx.batch();
        cx.emit(0, std::mem::replace(&mut self.batch, next));
    }
}

/// A packet that is to be split.
struct Datagram<'a> {
    /// What lies in front of the header.
    lead: &'a [u8],
    header: &'a [u8],
    payload: &'a [u8],
    /// Flags and offset.
    field: u16,
}

impl<'a> Datagram<'a> {
    fn parse(packet: &'a Packet) -> Result<Self, &'static str> {
        let bytes = packet.network().ok_or(NO_HEADER)?;
        let header = ipv4::header_bytes(bytes).map_err(|_| NO_HEADER)?;
        let payload = ipv4::payload(bytes).map_err(|_| "bad IP length")?;
        let ip = Header::new_checked(header).map_err(|_| NO_HEADER)?;
        if header.len() + ip.fragment_offset() + payload.len() > DATAGRAM_MAX {
            return Err("fragment beyond the largest datagram");
        }
        let lead = packet.network_offset().and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
        Ok(Datagram { lead: &packet.data()[..lead], header, payload, field: ip.fragment_field() })
    }

    fn len(&self) -> usize {
        self.header.len() + self.payload.len()
    }
}

impl IpFragmenter {
    /// Whether a packet may be left as it is.
    #[inline]
    fn fits(&self, packet: &Packet) -> bool {
        packet.network().is_some_and(|bytes| bytes.len() <= self.mtu)
    }

    #[cold]
    fn fragment_some(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let mut out = Out { batch: cx.batch() };
        batch.drain(|packet| {
            if self.fits(&packet) {
                out.push(cx, packet);
            } else {
                self.fragment(cx, &mut out, packet);
            }
        });
        cx.consume(batch);
        cx.emit(0, out.batch);
    }

    fn fragment(&mut self, cx: &mut Cx<'_>, out: &mut Out, mut packet: Packet) {
        let datagram = match Datagram::parse(&packet) {
            Ok(datagram) => datagram,
            Err(reason) => return cx.drop(packet, reason),
        };
        if datagram.len() <= self.mtu {
            // Only its padding is too long.
            let len = datagram.lead.len() + datagram.len();
            let _ = packet.take(packet.len().saturating_sub(len));
            return out.push(cx, packet);
        }
        let Some(first) = self.first_len(&datagram) else { return self.refuse(cx, packet) };
        self.split(cx, out, &packet, &datagram, first);
        cx.pool().free(packet);
    }

    /// Bytes of payload in the first fragment; none if there may be no fragments.
    fn first_len(&self, datagram: &Datagram<'_>) -> Option<usize> {
        let first = self.mtu.saturating_sub(datagram.header.len()) & !7;
        let forbidden = self.honor_df && datagram.field & FLAG_DF != 0;
        (first >= 8 && !forbidden).then_some(first)
    }

    #[cold]
    fn refuse(&mut self, cx: &mut Cx<'_>, packet: Packet) {
        if (self.verbose || self.drops < REPORTS)
            && let Some(ip) = header(&packet)
        {
            let len = packet.len();
            cx.complain(
                format_args!("IPFragmenter({}) DF {} {} len={len}", self.mtu, ip.src(), ip.dst()),
                REASON,
            );
        }
        self.drops += 1;
        match elements_shared::verdict::fail(self.outputs, REASON) {
            Verdict::Drop(reason) => cx.drop(packet, reason),
            _ => cx.emit_packet(1, packet),
        }
    }

    /// Emits the fragments, the first of which has `first` bytes of payload.
    fn split(&mut self, cx: &mut Cx<'_>, out: &mut Out, packet: &Packet, whole: &Datagram<'_>, first: usize) {
        let mut head = [0; MAX_HEADER_LEN];
        let mut head_len = whole.header.len();
        head[..head_len].copy_from_slice(whole.header);
        if let Some(id) = self.new_id(cx, whole.field)
            && let Ok(mut ip) = Header::new_checked_mut(&mut head)
        {
            ip.set_id(id);
        }
        let (mut lead, mut at, mut len) = (whole.lead, 0, first);
        while at < whole.payload.len() {
            let last = at + len == whole.payload.len();
            let field = (whole.field & !FLAG_DF) + (at / 8) as u16;
            finish(&mut head[..head_len], len, if last { field } else { field | FLAG_MF });
            let parts = [lead, &head[..head_len], &whole.payload[at..at + len]];
            match self.build(cx, packet, parts) {
                Some(fragment) => {
                    self.fragments += 1;
                    out.push(cx, fragment);
                }
                None => cx.count_drops("no buffer for a fragment", 1),
            }
            if at == 0 {
                head_len = keep_copied_options(whole.header, &mut head);
                lead = &[];
            }
            at += len;
            len = ((self.mtu - head_len) & !7).min(whole.payload.len() - at);
        }
    }

    /// The identification that a packet with these flags gets; none if it keeps its own.
    fn new_id(&mut self, cx: &mut Cx<'_>, field: u16) -> Option<u16> {
        // A fragment has to have that of the others.
        if field & (FLAG_MF | OFFSET_MASK) != 0 {
            return None;
        }
        match &mut self.ids {
            Some(ids) => Some(ids.take_far(cx.unguessable().u16()).get()),
            None if field & FLAG_DF != 0 && !self.keep_id => Some(cx.unguessable().u16()),
            None => None,
        }
    }

    /// A packet of what lies in front of the header, the header and a payload, annotated like the original.
    fn build(&self, cx: &mut Cx<'_>, original: &Packet, parts: [&[u8]; 3]) -> Option<Packet> {
        let [lead, head, payload] = parts;
        let mut packet = cx.pool().alloc(self.headroom, lead.len() + head.len() + payload.len())?;
        packet.copy_annotations(original);
        let (front, back) = packet.data_mut().split_at_mut(lead.len() + head.len());
        back.copy_from_slice(payload);
        front[..lead.len()].copy_from_slice(lead);
        front[lead.len()..].copy_from_slice(head);
        packet.set_network(lead.len() as isize, head.len());
        if let Some(mac) = original.mac_offset().filter(|_| !lead.is_empty()) {
            packet.set_mac_offset(mac);
        }
        Some(packet)
    }
}

/// Completes the header of a fragment with this much payload.
fn finish(header: &mut [u8], payload: usize, field: u16) {
    let len = header.len();
    if let Ok(mut ip) = Header::new_checked_mut(header) {
        ip.set_version_and_header_len(len);
        ip.set_total_len((len + payload) as u16);
        ip.set_fragment_field(field);
    }
    // Cannot fail: the header is as long as it says.
    let _ = ipv4::fill_checksum(header);
}

/// Makes `head` the header of the later fragments, which have those options only that must be copied. Returns its length.
fn keep_copied_options(header: &[u8], head: &mut [u8; MAX_HEADER_LEN]) -> usize {
    let mut len = HEADER_LEN;
    let options = ipv4::options(header).into_iter().flatten().map_while(Result::ok);
    for option in options.filter(|option| option.copied()) {
        head[len..][..option.bytes.len()].copy_from_slice(option.bytes);
        len += option.bytes.len();
    }
    let end = len.next_multiple_of(4);
    head[len..end].fill(ipv4::option::END);
    end
}

impl Element for IpFragmenter {
    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        self.fits(packet).then_some(Verdict::Pass)
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if batch.iter().all(|packet| self.fits(packet)) {
            cx.emit(0, batch);
        } else {
            self.fragment_some(cx, batch);
        }
    }

    fn explain(&self, _look: &Look<'_>, _port: usize, packet: &mut Packet) -> Option<Decision> {
        if self.fits(packet) {
            return Some(Decision::new(Then::Output(0), format!("not larger than the MTU, {}", self.mtu)));
        }
        let len = packet.network()?.len();
        let may_not = packet.network()?.get(6).is_some_and(|flags| flags & 0x40 != 0) && self.honor_df;
        if !may_not {
            return Some(Decision::new(
                Then::Output(0),
                format!("{len} bytes, in fragments for MTU {}", self.mtu),
            ));
        }
        let because =
            format!("{len} bytes are more than the MTU, {}, and it may not be fragmented", self.mtu);
        let then = if self.outputs > 1 { Then::Output(1) } else { Then::Drop("larger than the MTU") };
        Some(Decision::new(then, because))
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.ids?))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(old) = state.downcast_ref() {
            self.former.with(|former| former.push(*old));
        }
    }

    /// Goes on behind all that were used, whichever worker used them.
    fn taken_over(&mut self, _cx: &mut Cx<'_>) {
        if let Some(ids) = &mut self.ids {
            self.former.with(|former| former.iter().for_each(|&old| ids.go_on(old)));
        }
    }

    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let Some(ids) = self.ids else { return false };
        out.form(FORM);
        out.u64(ids.to_bits());
        true
    }

    fn read_state(&mut self, _cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        let old = Identification::from_bits(state.u64()?);
        if let Some(ids) = &mut self.ids {
            ids.go_on(old);
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut IpFragmenter, _| e.drops).merged(Merge::Sum);
        h.read("fragments", |e: &mut IpFragmenter, _| e.fragments).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::{send, send_one};
    use elements_testing::samples::{edited, hostile, udp, with_options};
    use proptest::prelude::*;

    fn config(arguments: &str) -> String {
        format!("Inject -> MarkIPHeader -> f :: IPFragmenter({arguments}) -> Collect(0); f[1] -> Collect(1);")
    }

    fn ip(data: &[u8]) -> Header<&[u8; 20]> {
        Header::new_checked(data).unwrap()
    }

    /// Puts fragments together that arrived in order: the payload, and whether the last one was there.
    fn reassemble(fragments: &[Vec<u8>], mtu: usize) -> (Vec<u8>, bool) {
        let mut payload = Vec::new();
        let start = ip(&fragments[0]).fragment_offset();
        for data in fragments {
            assert_eq!(ipv4::check(data, true).map(|extent| extent.total_len), Ok(data.len()));
            assert!(data.len() <= mtu);
            assert_eq!(ip(data).fragment_offset(), start + payload.len());
            payload.extend_from_slice(ipv4::payload(data).unwrap());
        }
        let more: Vec<_> = fragments.iter().map(|data| ip(data).more_fragments()).collect();
        assert!(more[..more.len() - 1].iter().all(|&more| more));
        (payload, !more[more.len() - 1])
    }

    #[test]
    fn as_large_as_the_mtu_passes() {
        let mut flow = send_one(&config("300"), udp(272));
        assert_eq!((flow.data(0), flow.read("f.fragments")), (vec![udp(272)], "0".into()));
        let mut padded = udp(10);
        padded.resize(400, 0);
        assert_eq!(send_one(&config("300"), padded).data(0), [udp(10)]);
    }

    #[test]
    fn not_to_be_fragmented() {
        let df = edited(udp(400), |ip| ip.set_fragment_field(FLAG_DF));
        let mut flow = send(&config("300"), vec![df.clone(); 7]);
        assert_eq!((flow.data(0).len(), flow.data(1)), (0, vec![df.clone(); 7]));
        assert_eq!((flow.read("f.drops"), flow.read("f.fragments")), ("7".into(), "0".into()));
        assert_eq!(flow.log(), "IPFragmenter(300) DF 18.26.4.1 10.9.8.7 len=428\n".repeat(5));
        assert_eq!(send(&config("300, true, true"), vec![df.clone(); 7]).log().lines().count(), 7);
        let flow = send_one("Inject -> MarkIPHeader -> IPFragmenter(300) -> Collect(0)", df.clone());
        assert_eq!(flow.drops(), [("too large, and not to be fragmented", 1)]);

        let fragments = send_one(&config("300, HONOR_DF false"), df.clone()).data(0);
        assert_eq!(reassemble(&fragments, 300), (df[20..].to_vec(), true));
        assert!(
            fragments.iter().all(|data| !ip(data).dont_fragment() && ip(data).id() == ip(&fragments[0]).id())
        );
        let id = |data: &[u8]| ip(data).id();
        let marked = edited(df.clone(), |ip| ip.set_id(0x1234));
        let kept = send_one(&config("300, HONOR_DF false, KEEP_ID true"), marked.clone()).data(0);
        assert!(kept.len() == 2 && kept.iter().all(|data| id(data) == 0x1234 && !ip(data).dont_fragment()));
        let drawn = send(&config("300, HONOR_DF false"), vec![marked; 3]).data(0);
        assert!(drawn.iter().any(|data| id(data) != 0x1234));
        // Identifications of its own, also where packets have one, but not for fragments of fragments.
        let made = |field| {
            let packet = edited(udp(400), |ip| {
                ip.set_id(0x1234);
                ip.set_fragment_field(field);
            });
            let data = send(&config("300, NEW_ID true"), vec![packet; 50]).data(0);
            assert!(data.chunks(2).all(|pair| id(&pair[0]) == id(&pair[1])));
            data.iter().map(|data| id(data)).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!((made(0).len(), made(FLAG_MF), made(1)), (50, [0x1234].into(), [0x1234].into()));
        assert!(
            errors("Idle -> IPFragmenter(300, KEEP_ID true, NEW_ID true) -> Discard").contains("contradict")
        );
        // An MTU that leaves less than eight bytes of payload.
        assert_eq!(send_one(&config("27"), udp(20)).data(1), [udp(20)]);
        assert!(errors("Idle -> IPFragmenter(7) -> Discard").contains("MTU must be at least 8"));
    }

    #[test]
    fn options_and_link_header() {
        // Record route (first fragment only), source route (all), end.
        let options = [1, 7, 7, 4, 0, 0, 0, 0, 131, 7, 4, 9, 9, 9, 9, 0];
        let mut framed = vec![0xee; 14];
        framed.extend(with_options(&options, 100));
        let flow = send_one("Inject -> MarkIPHeader(14) -> IPFragmenter(84) -> Collect(0)", framed.clone());
        let packets: Vec<&Packet> = flow.seen.iter().map(|(_, packet)| packet).collect();
        assert_eq!(packets[0].data()[..14], framed[..14]);
        assert_eq!((packets[0].network_offset(), packets[0].transport_offset()), (Some(14), Some(50)));
        assert_eq!(packets[0].network().unwrap()[20..36], options);
        for packet in &packets[1..] {
            assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(0), Some(28)));
            assert_eq!(packet.data()[20..28], [131, 7, 4, 9, 9, 9, 9, 0]);
        }
        let networks: Vec<_> = packets.iter().map(|packet| packet.network().unwrap().to_vec()).collect();
        assert_eq!(reassemble(&networks, 84), (framed[50..].to_vec(), true));
    }

    /// What is a fragment already keeps the identification of its datagram.
    #[test]
    fn fragments_with_df_keep_their_identification() {
        for field in [FLAG_DF | FLAG_MF, FLAG_DF | 7] {
            let part = edited(udp(392), |ip| ip.set_fragment_field(field));
            let fragments = send_one(&config("300, HONOR_DF false"), part.clone()).data(0);
            let same = |data: &Vec<u8>| ip(data).id() == ip(&part).id() && !ip(data).dont_fragment();
            assert!(fragments.len() == 2 && fragments.iter().all(same), "{field:x}");
        }
    }

    #[test]
    fn cannot_reach_beyond_a_datagram() {
        let far = edited(udp(400), |ip| ip.set_fragment_field(0x1fff));
        assert_eq!(send_one(&config("300"), far).drops(), [("fragment beyond the largest datagram", 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn fragments_make_the_packet_again(
            payload in prop_oneof![0usize..300, 0usize..3000, 40_000usize..65_000],
            mtu in prop_oneof![68usize..300, 300usize..1500],
            words in 0usize..11,
            field in prop_oneof![Just(0), Just(FLAG_MF), Just(5), Just(FLAG_MF | 11)],
        ) {
            let options: Vec<u8> = [131, 4, 4, 0].repeat(words.min(3)).into_iter().chain([7, 4, 4, 0].repeat(words / 2))
                .take(40).collect();
            let data = edited(with_options(&options, payload), |ip| ip.set_fragment_field(field));
            let flow = send_one(&config(&mtu.to_string()), data.clone());
            let fragments = flow.data(0);
            let (whole, last) = reassemble(&fragments, mtu);
            prop_assert_eq!(ip(&fragments[0]).fragment_offset(), ip(&data).fragment_offset());
            prop_assert_eq!(&whole[..], ipv4::payload(&data).unwrap());
            prop_assert_eq!(last, field & FLAG_MF == 0);
            for data in &fragments {
                prop_assert_eq!((ip(data).id(), ip(data).ttl(), ip(data).protocol()), (0x4321, 64, 17));
            }
        }

        #[test]
        fn whatever_comes(packets in hostile(), mtu in 8usize..100) {
            let mut flow = send(&config(&mtu.to_string()), packets.clone());
            prop_assert!(flow.data(0).iter().all(|data| data.len() <= mtu));
            prop_assert_eq!(flow.read("f.drops"), flow.data(1).len().to_string());
        }
    }
}

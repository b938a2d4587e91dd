//! Lets active FTP pass through a network address translator.
//!
//! ```click
//! FTPPortMapper(CONTROL_REWRITER, DATA_REWRITER, DATA_REWRITER_INPUT)
//! ```
//!
//! Takes packets of FTP control connections before they reach CONTROL_REWRITER. If a packet contains a PORT command,
//! by which a client names the address and port for the server to connect to, the data connection's mapping is
//! created in DATA_REWRITER, according to the specification of its input DATA_REWRITER_INPUT, and the command is
//! changed to the address and port that the server will see. As this changes the command's length, CONTROL_REWRITER
//! is told to adjust later sequence numbers of the connection. All other packets pass unchanged.
//!
//! The control connection must already have a mapping. A command is recognised only if it is complete and at the
//! start of a packet. The server's data port is assumed to be its control port minus one.
//!
//! A retransmitted command is changed in the same way again.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `CONTROL_REWRITER` (element): the TCPRewriter or IPRewriter that control packets pass through next.
//! - `DATA_REWRITER` (element): the rewriter that data packets pass through.
//! - `DATA_REWRITER_INPUT` (integer): the input of DATA_REWRITER whose specification applies to data connections.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! rw :: TCPRewriter(pattern 1.0.0.1 9000-14000 - - 0 1, drop);
//! ftp_control -> FTPPortMapper(rw, rw, 0) -> [0]rw;
//! ```
//!
//! # See also
//! TCPRewriter, IPRewriter

use super::apply::{set_word, split};
use super::arguments::REWRITERS;
use super::flow_set::FlowMatch;
use super::nat::{Circumstances, Nat, Purpose};
use super::rewriter::now_ms;
use elements_shared::flow_id::FlowId;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Info, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::{checksum, ip_proto, ipv4, tcp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FTPPortMapper", create).doc(router::manual!("ftp_port_mapper.rs"));

/// The classes that can change sequence numbers.
const CONTROL: &[&str] = &["TCPRewriter", "IPRewriter"];

struct FTPPortMapper {
    control: ElementName,
    data: ElementName,
    input: usize,
    nats: Option<[Arc<Nat>; 2]>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut control, mut data, mut input) = (ElementName::default(), ElementName::default(), 0i32);
    config
        .args()
        .required("CONTROL_REWRITER", &mut control)
        .required("DATA_REWRITER", &mut data)
        .required("DATA_REWRITER_INPUT", &mut input)
        .finish()?;
    if !CONTROL.contains(&config.class_of(control.index)) {
        return Err("CONTROL_REWRITER: type mismatch, expected TCPRewriter".into());
    }
    if !REWRITERS.contains(&config.class_of(data.index)) {
        return Err("DATA_REWRITER: type mismatch, expected IPRewriterBase".into());
    }
    let input = usize::try_from(input).map_err(|_| OUT_OF_RANGE)?;
    Ok(Box::new(PerPacket(FTPPortMapper { control, data, input, nats: None })))
}

const OUT_OF_RANGE: &str = "DATA_REWRITER_INPUT out of range";

/// A PORT command.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    address: Ipv4Addr,
    port: u16,
    /// Where its argument begins and ends.
    begin: usize,
    end: usize,
}

/// Reads a PORT command: six numbers, separated by commas, and the end of the line.
fn command(data: &[u8]) -> Option<Command> {
    let (word, rest) = data.split_first_chunk::<5>()?;
    if !word.eq_ignore_ascii_case(b"PORT ") {
        return None;
    }
    let begin = 5 + rest.iter().take_while(|&&byte| byte == b' ').count();
    let argument = &data[begin..];
    let len = argument.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
    if !matches!(argument.get(len), Some(b'\r' | b'\n')) {
        return None;
    }
    let mut numbers = argument[..len].split(|&byte| byte == b',').map(number);
    let mut next = || numbers.next().flatten();
    let bytes = [next()?, next()?, next()?, next()?, next()?, next()?];
    if numbers.next().is_some() {
        return None;
    }
    let [a, b, c, d, high, low] = bytes;
    let address = Ipv4Addr::new(a, b, c, d);
    Some(Command { address, port: u16::from_be_bytes([high, low]), begin, end: begin + len })
}

/// A decimal number below 256; no digits at all are zero.
fn number(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0u8, |n, digit| n.checked_mul(10)?.checked_add(digit - b'0'))
}

impl FTPPortMapper {
    /// Treats a packet; false if it has to be dropped.
    fn treat(&self, cx: &mut Cx<'_>, packet: &mut Packet) -> Option<bool> {
        let [control, data] = self.nats.as_ref()?;
        let (ip, segment) = split(packet.network()?)?;
        if ip.protocol() != ip_proto::TCP || !ip.is_first_fragment() {
            return None;
        }
        let header = tcp::Header::new_checked(segment).ok()?;
        let payload = segment.get(header.header_len().max(tcp::HEADER_LEN)..)?;
        let command = command(payload)?;
        let id = FlowId::new(ip.src(), header.src_port(), ip.dst(), header.dst_port());
        let data_port = header.dst_port().wrapping_sub(1);
        let data_id = FlowId::new(command.address, command.port, ip.dst(), data_port);
        let next = header.sequence().wrapping_add(payload.len() as u32);
        let at = packet.network()?.len() - payload.len() + command.begin;

        let (turn, worker, now_ms) = (cx.turn(), cx.worker(), now_ms(cx));
        let mut random = |top: u32| cx.unguessable().up_to(top);
        let mut with = Circumstances { worker, now_ms, random: &mut random };
        let known = control.entry(turn, ip_proto::TCP, id, Purpose::Check, &mut with)?;
        let made = data.entry(turn, ip_proto::TCP, data_id, Purpose::Make(self.input), &mut with)?;
        made.flow.set_reply_anno(known.flow.reply_anno());
        let argument = argument(&made);
        let old_len = command.end - command.begin;
        let change = argument.len() as i32 - old_len as i32;
        if change != 0 && !control.set()?.edit(turn).add_delta(&known, next, change) {
            return Some(false);
        }
        Some(replace(packet, at, old_len, argument.as_bytes()))
    }
}

/// The argument of the command that names what a flow's packets become.
fn argument(made: &FlowMatch<'_>) -> String {
    let to = made.rewritten();
    let ([a, b, c, d], [high, low]) = (to.source().octets(), to.sport.to_be_bytes());
    format!("{a},{b},{c},{d},{high},{low}")
}

/// Replaces `old_len` bytes at an offset from the IP header, and corrects lengths and checksums. False if there is no room.
fn replace(packet: &mut Packet, at: usize, old_len: usize, new: &[u8]) -> bool {
    let resized = match new.len().checked_sub(old_len) {
        Some(more) => packet.put(more),
        None => true,
    };
    let less = old_len.saturating_sub(new.len());
    let Some(data) = packet.network_mut().filter(|data| resized && at + new.len() <= data.len()) else {
        return false;
    };
    let end = data.len() - new.len().saturating_sub(old_len);
    data.copy_within(at + old_len..end, at + new.len());
    data[at..at + new.len()].copy_from_slice(new);
    packet.take(less) && correct(packet).is_some()
}

/// Corrects the length and the checksums of a TCP packet.
fn correct(packet: &mut Packet) -> Option<()> {
    let data = packet.network_mut()?;
    let len = u16::try_from(data.len()).ok()?;
    let header = ipv4::Header::new_checked(data).ok()?;
    let (header_len, source, destination) = (header.header_len(), header.src(), header.dst());
    let sum = checksum::update_u16(header.checksum(), header.total_len(), len);
    set_word(data, 2, len);
    set_word(data, 10, sum);
    tcp::fill_checksum_v4(source, destination, data.get_mut(header_len..)?).ok()
}

/// Whether packets that leave an element may reach another one.
fn is_downstream(info: &Info, from: usize, to: usize) -> bool {
    let (mut seen, mut open) = (vec![false; info.nodes.len()], vec![from]);
    while let Some(element) = open.pop() {
        for &(peer, _) in info.nodes[element].outputs.iter().flat_map(|port| &port.peers) {
            if peer == to {
                return true;
            }
            if !std::mem::replace(&mut seen[peer], true) {
                open.push(peer);
            }
        }
    }
    false
}

impl Simple for FTPPortMapper {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.treat(cx, packet) {
            None | Some(true) => Verdict::Pass,
            Some(false) => Verdict::Drop("no room to change a PORT command"),
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let info = cx.info().clone();
        if self.input >= info.nodes[self.data.index].inputs.len() {
            return Err(OUT_OF_RANGE.into());
        }
        let nats = [self.control.index, self.data.index].map(|element| info.shared::<Nat>(element));
        if let [Some(control), Some(data)] = nats {
            self.nats = Some([control, data]);
        }
        if !is_downstream(&info, cx.index(), self.control.index) {
            let control = info.nodes[self.control.index].declaration();
            cx.warn(&format!("control packet rewriter '{control}' is not downstream"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::samples::{ends, tcp};
    use crate::testing::errors;
    use crate::testing::send;
    use wire::tcp::flag::{ACK, SYN};

    #[test]
    fn only_a_whole_port_command_is_read() {
        let read =
            |text: &str| command(text.as_bytes()).map(|c| (c.address.to_string(), c.port, c.begin, c.end));
        assert_eq!(read("PORT 1,0,0,2,3,9\r\n"), Some(("1.0.0.2".to_owned(), 777, 5, 16)));
        assert_eq!(read("port   1,0,0,2,3,9\n"), Some(("1.0.0.2".to_owned(), 777, 7, 18)));
        for bad in
            ["PORT 1,0,0,2,3,9", "PORT 1,0,0,2,3\r\n", "PORT 1,0,0,2,3,256\r\n", "PORT 1,0,0,2,3,9,1\r\n"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    fn numbers(packet: &[u8]) -> (u32, u32) {
        let header = tcp::Header::new_checked(&packet[20..]).unwrap();
        (header.sequence(), header.acknowledgement())
    }

    /// A connection's packets after its beginning, which fills a batch of its own, as it does in real life.
    fn begun(client: &str, server: &str, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut all = vec![tcp(client, server, SYN, (99, 0), b""); 32];
        all.extend(packets.iter().cloned());
        all
    }

    /// A whole active transfer: the command changes and grows, the server's connection finds the client, and later
    /// sequence numbers fit on both sides. All checksums hold.
    #[test]
    fn active_ftp() {
        let config = "rw :: TCPRewriter(pattern 101.102.103.104 10000-10009# - - 0 1, drop); Inject -> c :: Classifier(12/0a, -);
                      c[0] -> MarkIPHeader -> FTPPortMapper(rw, rw, 0) -> [0]rw; c[1] -> MarkIPHeader -> [1]rw;
                      rw[0] -> Collect(0); rw[1] -> Collect(1);";
        let (client, server, outside) = ("10.0.0.2:6587", "2.0.0.2:21", "101.102.103.104:10000");
        let port = b"PORT 10,0,0,2,3,9\r\n";
        let packets = [
            tcp(client, server, ACK, (100, 500), port),
            tcp(client, server, ACK, (100, 500), port), // once more
            tcp(server, outside, ACK, (500, 100 + 28), b"200\r\n"),
            tcp(client, server, ACK, (100 + 19, 505), b"RETR x\r\n"),
            tcp("2.0.0.2:20", "101.102.103.104:10001", SYN, (7, 0), b""),
        ];
        let mut flow = send(config, begun(client, server, &packets));
        let (out, back) = (flow.data(0)[31..].to_vec(), flow.data(1));
        assert_eq!(ends(&out), ["101.102.103.104:10000 2.0.0.2:21"; 4]);
        assert_eq!(&out[1][40..], b"PORT 101,102,103,104,39,17\r\n");
        assert_eq!(out[1], out[2]);
        assert_eq!([numbers(&out[1]), numbers(&out[3])], [(100, 500), (128, 505)]);
        assert_eq!(ends(&back), ["2.0.0.2:21 10.0.0.2:6587", "2.0.0.2:20 10.0.0.2:777"]);
        assert_eq!(numbers(&back[0]), (500, 119));
        assert!(flow.read("rw.table").contains(" seq +9 ["), "{}", flow.read("rw.table"));
    }

    /// Selective acknowledgements are renumbered like others.
    #[test]
    fn selective_acknowledgements() {
        let config = "rw :: IPRewriter(pattern 1.0.0.1 8-9# - - 0 1, drop); Inject -> c :: Classifier(12/0a, -);
                      c[0] -> MarkIPHeader -> FTPPortMapper(rw, rw, 0) -> [0]rw; c[1] -> MarkIPHeader -> [1]rw;
                      rw[0] -> Collect(0); rw[1] -> Collect(1);";
        let (client, server) = ("10.0.0.2:6587", "2.0.0.2:21");
        let mut sack = tcp(server, "1.0.0.1:8", ACK, (500, 100), b"\x01\x01\x05\x0a\0\0\0\x80\0\0\0\x90");
        sack[32] = 8 << 4;
        let (from, to) = ("2.0.0.2".parse().unwrap(), "1.0.0.1".parse().unwrap());
        tcp::fill_checksum_v4(from, to, &mut sack[20..]).unwrap();
        let packets = [tcp(client, server, ACK, (100, 500), b"PORT 10,0,0,2,3,9\r\n"), sack];
        let flow = send(config, begun(client, server, &packets));
        // One byte less than before.
        assert_eq!(&flow.data(0)[32][40..], b"PORT 1,0,0,1,0,9\r\n");
        assert_eq!(ends(&flow.data(1)), ["2.0.0.2:21 10.0.0.2:6587"]);
        assert_eq!(&flow.data(1)[0][40..], b"\x01\x01\x05\x0a\0\0\0\x81\0\0\0\x91");
    }

    #[test]
    fn bad_arguments() {
        let with = |args: &str| {
            errors(&format!(
                "InfiniteSource -> rw :: TCPRewriter(drop) -> d :: Discard; u :: UDPRewriter(drop); InfiniteSource -> u
                 -> Discard; InfiniteSource -> FTPPortMapper({args}) -> Discard;"
            ))
        };
        assert!(with("rw, rw, 1").contains("DATA_REWRITER_INPUT out of range"));
        assert!(with("u, rw, 0").contains("type mismatch, expected TCPRewriter"));
        assert!(with("rw, d, 0").contains("type mismatch, expected IPRewriterBase"));
    }
}

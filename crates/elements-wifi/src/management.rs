//! Management frames of wireless networks: making them, and reading them.
//!
//! Elements of information are in the order of the standard, of identifiers for the most part, since there are
//! stations that look no further once one is out of order.

use super::reasons::NO_HEADER;
use wire::MacAddr;
use wire::ieee80211::{self, Ends, HEADER_LEN, Header, capability, element, kind, management};

/// Octets of the longest frame that is made here: all elements of information, and as many rates as have room in two.
const MOST: usize = 384;
/// The bit of a rate that every station must have.
pub(super) const BASIC: u8 = 0x80;
/// How long a name can be.
pub(super) const NAME: usize = 32;
/// How many rates the first element of information for them can have.
const RATES: usize = 8;
/// Channels above this one are for orthogonal frequencies (5 GHz).
const LOW_CHANNELS: i32 = 15;

/// A frame that is being made.
pub(super) struct Frame {
    bytes: [u8; MOST],
    len: usize,
}

impl Frame {
    /// One without contents yet.
    pub(super) fn new(subtype: u8, dst: MacAddr, src: MacAddr, network: MacAddr) -> Frame {
        let mut frame = Frame { bytes: [0; MOST], len: HEADER_LEN };
        if let Ok(mut header) = Header::new_checked_mut(&mut frame.bytes) {
            header.set_management(subtype, Ends { dst, src, network });
        }
        frame
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Appends octets, as many as have room.
    pub(super) fn octets(&mut self, octets: &[u8]) -> &mut Frame {
        let room = &mut self.bytes[self.len..];
        let count = octets.len().min(room.len());
        room[..count].copy_from_slice(&octets[..count]);
        self.len += count;
        self
    }

    /// Appends a number.
    pub(super) fn number(&mut self, number: u16) -> &mut Frame {
        self.octets(&number.to_le_bytes())
    }

    /// Appends an element of information.
    fn element(&mut self, id: u8, contents: &[u8]) -> &mut Frame {
        let contents = &contents[..contents.len().min(255)];
        self.octets(&[id, contents.len() as u8]).octets(contents)
    }

    /// Appends the network's name.
    pub(super) fn name(&mut self, name: &str) -> &mut Frame {
        self.element(element::SSID, cut(name.as_bytes()))
    }

    /// Appends the first rates.
    pub(super) fn rates(&mut self, rates: &[i32], channel: i32) -> &mut Frame {
        let first = &rates[..rates.len().min(RATES)];
        self.rates_in(element::RATES, first, channel)
    }

    /// Appends the rates that have no room among the first, if there are any.
    pub(super) fn more_rates(&mut self, rates: &[i32], channel: i32) -> &mut Frame {
        match rates.get(RATES..) {
            None | Some([]) => self,
            Some(more) => self.rates_in(element::MORE_RATES, more, channel),
        }
    }

    fn rates_in(&mut self, id: u8, rates: &[i32], channel: i32) -> &mut Frame {
        let mut octets = [0; 255];
        for (octet, rate) in octets.iter_mut().zip(rates) {
            *octet = rate_octet(*rate, channel);
        }
        self.element(id, &octets[..rates.len().min(255)])
    }

    /// Appends the channel, if it is one.
    pub(super) fn channel(&mut self, channel: i32) -> &mut Frame {
        match u8::try_from(channel) {
            Err(_) | Ok(0) => self,
            Ok(channel) => self.element(element::CHANNEL, &[channel]),
        }
    }

    /// Appends that no station that sleeps has traffic waiting, and that each beacon says who has.
    pub(super) fn no_traffic(&mut self) -> &mut Frame {
        let (count, period, control, map) = (0, 1, 0, 0);
        self.element(element::TRAFFIC, &[count, period, control, map])
    }
}

/// A rate as frames have it: 1 Mbit/s is what every station must have, and 6 Mbit/s where 1 Mbit/s is none.
fn rate_octet(rate: i32, channel: i32) -> u8 {
    let basic = rate == 2 || rate == 12 && channel > LOW_CHANNELS;
    rate as u8 & !BASIC | if basic { BASIC } else { 0 }
}

/// The part of a name that has room.
fn cut(name: &[u8]) -> &[u8] {
    &name[..name.len().min(NAME)]
}

/// What a beacon or an answer to a probe says of its network.
pub(super) struct Announcement<'a> {
    pub(super) network: MacAddr,
    pub(super) name: &'a str,
    pub(super) channel: i32,
    pub(super) interval: i32,
    pub(super) encrypted: bool,
    pub(super) rates: &'a [i32],
}

impl Announcement<'_> {
    /// The frame: a beacon to all, or the answer to a station. Only beacons say whose traffic waits. When it is, the
    /// interface fills in.
    pub(super) fn frame(&self, to: Option<MacAddr>) -> Frame {
        const TIME: [u8; 8] = [0; 8];
        let (subtype, to) = match to {
            Some(station) => (management::PROBE_RESPONSE, station),
            None => (management::BEACON, MacAddr::BROADCAST),
        };
        let mut frame = Frame::new(subtype, to, self.network, self.network);
        frame.octets(&TIME).number(self.interval as u16).number(capabilities(self.encrypted));
        frame.name(self.name).rates(self.rates, self.channel).channel(self.channel);
        if subtype == management::BEACON {
            frame.no_traffic();
        }
        frame.more_rates(self.rates, self.channel);
        frame
    }
}

/// What those who speak with access points say of themselves, and these, too.
pub(super) fn capabilities(encrypted: bool) -> u16 {
    capability::INFRASTRUCTURE | if encrypted { capability::PRIVACY } else { 0 }
}

/// A frame that came.
pub(super) struct Management<'a> {
    pub(super) subtype: u8,
    pub(super) to: MacAddr,
    pub(super) from: MacAddr,
    pub(super) network: MacAddr,
    /// What is behind the header.
    pub(super) body: &'a [u8],
}

/// Reads a frame, or says why it is dropped.
pub(super) fn read(frame: &[u8]) -> Result<Management<'_>, &'static str> {
    let header = Header::new_checked(frame).map_err(|_| NO_HEADER)?;
    if header.kind() != kind::MANAGEMENT {
        return Err("no management frame");
    }
    let [to, from, network] = header.addresses();
    Ok(Management { subtype: header.subtype(), to, from, network, body: &frame[HEADER_LEN..] })
}

/// The numbers that a body begins with, and what is behind them; or says that it ends before.
pub(super) fn numbers<const N: usize>(body: &[u8]) -> Result<([u16; N], &[u8]), &'static str> {
    let (fixed, rest) = body.split_at_checked(2 * N).ok_or("truncated frame")?;
    Ok((std::array::from_fn(|at| u16::from_le_bytes([fixed[2 * at], fixed[2 * at + 1]])), rest))
}

/// What elements of information say of a network or a station.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Information<'a> {
    pub(super) name: &'a [u8],
    /// The rates of both elements of information for them.
    rates: [&'a [u8]; 2],
}

impl<'a> Information<'a> {
    /// Reads them, up to the first that is not whole.
    pub(super) fn read(bytes: &'a [u8]) -> Information<'a> {
        let mut information = Information::default();
        for (id, contents) in ieee80211::elements(bytes) {
            match id {
                element::SSID => information.name = cut(contents),
                element::RATES => information.rates[0] = contents,
                element::MORE_RATES => information.rates[1] = contents,
                _ => {}
            }
        }
        information
    }

    /// The rates, with the bits of those that every station must have.
    pub(super) fn rates(&self) -> impl Iterator<Item = u8> {
        self.rates.into_iter().flatten().copied()
    }

    /// The rates as numbers.
    pub(super) fn values(&self) -> Vec<i32> {
        self.rates().map(|rate| i32::from(rate & !BASIC)).collect()
    }

    /// Whether a network of this name, or any, is meant.
    pub(super) fn means(&self, name: &str) -> bool {
        self.name.is_empty() || self.name == cut(name.as_bytes())
    }

    /// The rates in words, basic ones in braces.
    pub(super) fn rates_in_words(&self) -> String {
        let (basic, other): (Vec<u8>, Vec<u8>) = self.rates().partition(|rate| rate & BASIC != 0);
        let words = |rates: &[u8]| rates.iter().map(|rate| format!("{} ", rate & !BASIC)).collect::<String>();
        format!("( {{ {}}} {})", words(&basic), words(&other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beacon_scanner as beacon;
    use proptest::prelude::*;

    const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

    fn announced<'a>(name: &'a str, channel: i32, rates: &'a [i32]) -> Announcement<'a> {
        Announcement { network: A, name, channel, interval: 100, encrypted: true, rates }
    }

    /// Byte for byte, in the standard's order: what is for all is a beacon, what is for a station has no word of traffic.
    #[test]
    fn announcements_have_the_order_of_the_standard() {
        let rates = [2, 4, 11, 22, 12, 18, 24, 36, 48, 108];
        let lab = announced("lab", 6, &rates);
        let fixed = [&[0; 8][..], &[100, 0, 0x11, 0], &[0, 3], b"lab"].concat();
        let first = [1, 8, 0x82, 4, 11, 22, 12, 18, 24, 36, 3, 1, 6];
        let more = [50, 2, 48, 108];
        let header = |kind: u8, to: MacAddr| {
            [&[kind, 0, 0, 0][..], &to.octets(), &A.octets(), &A.octets(), &[0, 0]].concat()
        };
        let beacon = [header(0x80, MacAddr::BROADCAST), fixed.clone()].concat();
        assert_eq!(
            lab.frame(None).bytes(),
            [&beacon[..], &first[..], &[5, 4, 0, 1, 0, 0], &more[..]].concat()
        );
        let answer = [header(0x50, B), fixed].concat();
        assert_eq!(lab.frame(Some(B)).bytes(), [&answer[..], &first[..], &more[..]].concat());
    }

    /// At 5 GHz 6 Mbit/s is what all must have; elsewhere it is a rate like others.
    #[test]
    fn basic_rates() {
        assert_eq!(
            [(12, 6), (12, 36), (2, 6), (24, 36)].map(|(r, c)| rate_octet(r, c)),
            [12, 0x8c, 0x82, 24]
        );
    }

    #[test]
    fn long_names_and_rates_are_cut() {
        let (name, rates) = ("x".repeat(300), [6; 500]);
        let frame = announced(&name, 300, &rates).frame(None);
        let read = beacon::read(frame.bytes()).unwrap();
        assert_eq!((read.name.len(), read.channel), (32, None));
        assert_eq!(frame.len, 24 + 12 + 34 + 10 + 6 + 257);
        let mut full = Frame::new(0, A, B, A);
        full.octets(&[7; 1000]).number(5);
        assert_eq!(full.bytes().len(), MOST);
    }

    #[test]
    fn information_and_headers_are_read() {
        let bytes = [0, 2, b'h', b'i', 1, 2, 0x82, 22, 50, 1, 108, 1, 9];
        let information = Information::read(&bytes);
        assert_eq!((information.name, information.values()), (&b"hi"[..], vec![2, 22, 108]));
        assert_eq!(information.rates_in_words(), "( { 2 } 22 108 )");
        assert!(information.means("hi") && !information.means("h") && !information.means(""));
        assert!(Information::default().means("hi"));
        assert_eq!(numbers::<2>(&[1, 2, 3, 4, 5]), Ok(([0x201, 0x403], &[5][..])));
        assert_eq!(numbers::<2>(&[1, 2, 3]), Err("truncated frame"));
        let mut frame = Frame::new(management::AUTHENTICATION, A, B, A);
        frame.number(7);
        let came = read(frame.bytes()).ok().unwrap();
        assert_eq!((came.subtype, came.to, came.from, came.network, came.body), (11, A, B, A, &[7, 0][..]));
    }

    proptest! {
        #[test]
        fn whatever_comes(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(came) = read(&bytes) {
                let information = Information::read(came.body);
                prop_assert!(information.name.len() <= NAME && information.values().len() <= came.body.len());
            }
        }
    }
}

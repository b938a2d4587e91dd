//! Generates Ethernet pause frames.
//!
//! ```click
//! EtherPauseSource(SRC, PAUSETIME [, DST, LIMIT, ACTIVE, INTERVAL])
//! ```
//!
//! Emits IEEE 802.3x frames that ask the other end of a link to pause: one every INTERVAL on a push output, one for
//! each pull on a pull output. Unlike in Click, `active false` also stops an element that has already started.
//!
//! Ports: no input, 1 output. Processing: agnostic. Workers: one.
//!
//! # Arguments
//! - `SRC` (Ethernet address): source.
//! - `PAUSETIME` (integer): how long to pause, in units of 512 bit times.
//! - `DST` (Ethernet address, default 01:80:c2:00:00:01): destination.
//! - `LIMIT` (integer, default -1): number of frames; negative for no limit.
//! - `ACTIVE` (boolean, default true): whether to emit frames.
//! - `INTERVAL` (seconds, default 1): time between frames on a push output.
//!
//! # Handlers
//! - `count` (read): frames emitted.
//! - `src`, `dst`, `pausetime`, `limit`, `active` (read, write): the arguments.
//! - `reset_counts` (write): sets `count` to 0.
//!
//! # Example
//! ```click
//! EtherPauseSource(1:1:1:1:1:1, 200, INTERVAL 10s) -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! RatedSource, TimedSource

use packet::{DEFAULT_HEADROOM, Packet};
use router::{
    Activity, Class, Config, ConfigError, Cx, Element, Flags, FromArg, Handlers, Pull, Residency, metric,
};
use std::time::Duration;
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, Header, ether_type, header};

/// The class.
pub(crate) const CLASS: Class = Class::new("EtherPauseSource", create)
    .ports("0/1")
    .processing("/a")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("ether_pause_source.rs"));

const FRAME_LEN: usize = 64;
/// The operation of a pause frame, and where the time is that follows it.
const PAUSE: u16 = 1;
const TIME_AT: usize = HEADER_LEN + 2;

struct EtherPauseSource {
    header: [u8; HEADER_LEN],
    time: u16,
    limit: i32,
    active: bool,
    interval: Duration,
    count: i32,
    push: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut src, mut time) = (MacAddr::ZERO, 0);
    let mut dst = MacAddr([0x01, 0x80, 0xc2, 0, 0, 1]);
    let (mut limit, mut active, mut interval) = (-1, true, Duration::from_secs(1));
    config
        .args()
        .required("SRC", &mut src)
        .required("PAUSETIME", &mut time)
        .keyword("DST", &mut dst)
        .keyword("LIMIT", &mut limit)
        .keyword("ACTIVE", &mut active)
        .keyword("INTERVAL", &mut interval)
        .finish()?;
    let header = header(dst, src, ether_type::MAC_CONTROL);
    let push = config.output_is_push(0);
    Ok(Box::new(EtherPauseSource { header, time, limit, active, interval, count: 0, push }))
}

/// Reads what was written to a handler.
fn written<T: FromArg>(cx: &Cx<'_>, text: &str) -> Result<T, String> {
    router::value(cx, text).map_err(|_| "type mismatch".to_owned())
}

impl EtherPauseSource {
    fn may_emit(&self) -> bool {
        self.active && (self.limit < 0 || self.count < self.limit)
    }

    fn frame(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let mut packet = cx.pool().alloc(DEFAULT_HEADROOM, FRAME_LEN)?;
        let data = packet.data_mut();
        data.fill(0);
        data[..HEADER_LEN].copy_from_slice(&self.header);
        data[HEADER_LEN..TIME_AT].copy_from_slice(&PAUSE.to_be_bytes());
        data[TIME_AT..TIME_AT + 2].copy_from_slice(&self.time.to_be_bytes());
        packet.set_mac_offset(0);
        packet.set_network_alone(HEADER_LEN as isize);
        self.count = self.count.saturating_add(1);
        Some(packet)
    }

    /// Goes on after a handler was written.
    fn wake(&mut self, cx: &mut Cx<'_>) {
        if !self.push {
            cx.signals().set(self.may_emit());
        } else if self.may_emit() && !cx.timers().is_set(0) {
            cx.timers().after(0, Duration::ZERO);
        }
    }
}

impl Element for EtherPauseSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if !self.push {
            cx.signals().provide();
            cx.signals().set(self.may_emit());
        } else if self.may_emit() {
            cx.timers().after(0, self.interval);
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if !self.may_emit() {
            return;
        }
        match self.frame(cx) {
            Some(packet) => cx.emit_packet(0, packet),
            None => cx.count_drops("no buffer", 1),
        }
        if self.may_emit() {
            cx.timers().after(0, self.interval);
        }
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let mut batch = cx.batch();
        while batch.len() < want && !batch.is_full() && self.may_emit() {
            let Some(packet) = self.frame(cx) else { break };
            batch.push(packet);
        }
        cx.signals().set(self.may_emit());
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = EtherPauseSource;
        h.read("count", |e: &mut E, _| e.count).measures(&metric::PACKETS);
        h.read("limit", |e: &mut E, _| e.limit);
        h.write("limit", |e: &mut E, cx, text| {
            e.limit = written(cx, text)?;
            e.wake(cx);
            Ok(())
        });
        h.read("active", |e: &mut E, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut E, cx, text| {
            e.active = written(cx, text)?;
            e.wake(cx);
            Ok(())
        });
        h.read("src", |e: &mut E, _| Header::new(&e.header).src());
        h.write("src", |e: &mut E, cx, text| {
            Header::new(&mut e.header).set_src(written(cx, text)?);
            Ok(())
        });
        h.read("dst", |e: &mut E, _| Header::new(&e.header).dst());
        h.write("dst", |e: &mut E, cx, text| {
            Header::new(&mut e.header).set_dst(written(cx, text)?);
            Ok(())
        });
        h.read("pausetime", |e: &mut E, _| e.time);
        h.write("pausetime", |e: &mut E, cx, text| written(cx, text).map(|time| e.time = time));
        h.write("reset_counts", |e: &mut E, cx, _| {
            e.count = 0;
            e.wake(cx);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn pushes_in_time() {
        let config = "EtherPauseSource(1:2:3:4:5:6, 0x1234, INTERVAL 2, LIMIT 3)
                      -> c :: Classifier(0/0180c2000001 6/010203040506 12/8808 14/0001 16/1234 18/0000, -);
                      c[0] -> d :: Counter -> Discard; c[1] -> Discard; DriverManager(wait 5s, stop);";
        assert_eq!(run_and_read(config, &["d.count", "d.byte_count"]), ["2", "128"]);
        let config = config.replace("wait 5s", "wait 50s");
        assert_eq!(run_and_read(&config, &["d.count"]), ["3"]);
    }

    #[test]
    fn gives_when_asked() {
        let config = "s :: EtherPauseSource(1:2:3:4:5:6, 9, DST 1:1:1:1:1:1, LIMIT 5) -> Unqueue -> d :: Counter -> Discard;
                      DriverManager(wait 1s, stop);";
        assert_eq!(run_and_read(config, &["d.count", "s.count", "s.dst"]), ["5", "5", "01-01-01-01-01-01"]);
    }
}

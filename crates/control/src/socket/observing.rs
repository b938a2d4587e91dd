//! What a client of a control socket is told of packets, line by line.

use super::patient::Flowing;
use super::shared::Shared;
use crate::observe::{Question, captured, costs, drops, edge, step, way};
use router::{Handle, HandlerError, Observer};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a thread looks for news of a trace or a capture.
const LOOK_AROUND: Duration = Duration::from_millis(10);
/// How long the last packets of a trace are given to come to their ends.
const LINGER: Duration = Duration::from_millis(500);
/// Seconds that a trace or a capture runs, at most.
const SECONDS_MAX: u64 = 3_600;
/// Lines that are written at once, at most, before the client is looked at again.
const LINES: usize = 1_024;

/// A trace or a capture that a client asks for.
#[derive(Clone, Debug)]
pub(super) enum Stream {
    /// `TRACE PACKETS SECONDS [FILTER]`
    Trace { packets: u32, seconds: u64, filter: String },
    /// `CAPTURE EDGE PACKETS SECONDS SNAPLEN [FILTER]`
    Capture { edge: String, packets: u64, seconds: u64, snaplen: usize, filter: String },
}

impl Stream {
    /// The time that is asked for.
    fn seconds(&self) -> u64 {
        match self {
            Stream::Trace { seconds, .. } | Stream::Capture { seconds, .. } => *seconds,
        }
    }

    /// What a command asks for; `None` of another command.
    pub(super) fn parse(line: &str) -> Option<Result<Stream, &'static str>> {
        let verb = line.split_ascii_whitespace().next()?.to_ascii_uppercase();
        let fields = match verb.as_str() {
            "TRACE" => 3,
            "CAPTURE" => 5,
            _ => return None,
        };
        let mut words: Vec<&str> = line.trim().splitn(fields + 1, ' ').collect();
        let filter =
            if words.len() > fields { words.pop().unwrap_or_default().to_owned() } else { String::new() };
        Some(match words[..] {
            [_, packets, seconds] if verb == "TRACE" => match (packets.parse(), seconds.parse()) {
                (Ok(packets), Ok(seconds)) => Ok(Stream::Trace { packets, seconds, filter }),
                _ => Err("TRACE wants numbers of packets and seconds"),
            },
            [_, edge, packets, seconds, snaplen] => match (packets.parse(), seconds.parse(), snaplen.parse())
            {
                (Ok(packets), Ok(seconds), Ok(snaplen)) => {
                    Ok(Stream::Capture { edge: edge.to_owned(), packets, seconds, snaplen, filter })
                }
                _ => Err("CAPTURE wants numbers of packets, seconds and bytes"),
            },
            _ => Err("Wrong number of arguments"),
        })
    }

    /// Writes a line for each step or packet, and a last one, until the client sends something, the packets or the time are used up, or
    /// another configuration runs. `begun` is written once it is known that nothing is wrong with the command.
    pub(super) fn run(
        &self,
        shared: &Shared,
        output: &mut Flowing<'_>,
        begun: &str,
        has_sent: impl Fn() -> bool,
    ) -> io::Result<Result<(), HandlerError>> {
        let target = shared.target();
        let observer = Observer::new(target.handle.clone());
        output.end_after(within(self.seconds()));
        let goes_on = || !shared.is_closed() && !has_sent() && Arc::ptr_eq(&shared.target(), &target);
        match self {
            Stream::Trace { packets, seconds, filter } => {
                trace(&observer, *packets, within(*seconds), filter, output, begun, goes_on)
            }
            Stream::Capture { edge: name, packets, seconds, snaplen, filter } => {
                let edge = match edge(observer.info(), name) {
                    Ok(edge) => edge,
                    Err(wrong) => return Ok(Err(HandlerError::from(wrong.0))),
                };
                let capture = match observer.capture(edge, filter, *snaplen, within(*seconds)) {
                    Ok(capture) => capture,
                    Err(error) => return Ok(Err(error)),
                };
                let most = if *packets == 0 { u64::MAX } else { *packets };
                output.write_all(begun.as_bytes())?;
                output.flush()?;
                let mut told = 0;
                loop {
                    let is_over = capture.is_over() || !goes_on();
                    let mut some = false;
                    for _ in 0..LINES {
                        let Some(view) = (told < most).then(|| capture.next()).flatten() else { break };
                        event(output, &captured(observer.info(), edge, &view))?;
                        capture.give_back(view);
                        (told, some) = (told + 1, true);
                    }
                    output.flush()?;
                    if told >= most || is_over {
                        break;
                    }
                    if !some {
                        std::thread::sleep(LOOK_AROUND);
                    }
                }
                let (_, lost) = capture.counts();
                event(output, &json!({ "end": true, "packets": told, "lost": lost }))?;
                output.flush()?;
                Ok(Ok(()))
            }
        }
    }
}

fn within(seconds: u64) -> Duration {
    Duration::from_secs(seconds.clamp(1, SECONDS_MAX))
}

fn trace(
    observer: &Observer,
    packets: u32,
    within: Duration,
    filter: &str,
    output: &mut impl Write,
    begun: &str,
    goes_on: impl Fn() -> bool,
) -> io::Result<Result<(), HandlerError>> {
    let trace = match observer.trace(filter, packets, within) {
        Ok(trace) => trace,
        Err(error) => return Ok(Err(error)),
    };
    output.write_all(begun.as_bytes())?;
    output.flush()?;
    let mut last = Instant::now();
    loop {
        let is_over = trace.is_over() || !goes_on();
        for _ in 0..LINES {
            let Some(next) = trace.next() else { break };
            event(output, &step(observer.info(), &next))?;
            last = Instant::now();
        }
        output.flush()?;
        if is_over || trace.is_full() && last.elapsed() > LINGER {
            break;
        }
        std::thread::sleep(LOOK_AROUND);
    }
    event(output, &json!({ "end": true, "packets": trace.begun(), "lost": trace.lost() }))?;
    output.flush()?;
    Ok(Ok(()))
}

/// A line: JSON has its own marks for what would end it.
fn event(output: &mut impl Write, value: &Value) -> io::Result<()> {
    write!(output, "EVENT {value}\r\n")
}

/// Answers a question about packets: `DROPS`, `RUNTIME` or `EXPLAIN`.
pub(super) fn answer(handle: &Handle, verb: &str, rest: &str) -> Result<String, HandlerError> {
    let observer = Observer::new(handle.clone());
    let info = observer.info();
    let value = match verb {
        "DROPS" => drops(info, &observer.drops()?),
        "RUNTIME" => costs(info, &observer.costs()?),
        _ => {
            let wrong = |wrong: crate::observe::Wrong| HandlerError::from(wrong.0);
            let question = Question::parse(rest).map_err(wrong)?;
            let place = question.place(info).map_err(wrong)?;
            let bytes = question.bytes(info, &place).map_err(wrong)?;
            way(info, &place, &observer.explain(&bytes, place.element, place.input)?)
        }
    };
    Ok(value.to_string())
}

//! What an operator's instruments want to know, as a text.
//!
//! It is collected when a client asks: from the workers by a survey ([`router::Surveyor`]), from RCU and the pools of packets by
//! reading counters. Elements say themselves what their handlers measure ([`router::metric`]); nothing here knows a class.

mod exposition;
mod process;
mod sections;

pub(crate) use exposition::Format;

use exposition::Exposition;
use router::{Handle, HandlerResult, Surveyor};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long workers may take to answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often workers are asked, at most: a client that asks more often waits, so that they are not kept from their packets.
const PAUSE: Duration = Duration::from_millis(20);

/// Collects metrics for those who ask at one place.
#[derive(Default)]
pub(crate) struct Collector {
    surveyor: Option<Surveyor>,
    /// What was collected last.
    last: Option<Last>,
}

struct Last {
    /// When collecting began and ended.
    began: Instant,
    ended: Instant,
    format: Format,
    text: String,
}

impl Collector {
    /// The metrics of a router, as they are now or were at some moment since `asked`: those who waited for each other are told the same.
    ///
    /// # Errors
    /// That it has stopped.
    pub(crate) fn read(&mut self, handle: &Handle, format: Format, asked: Instant) -> HandlerResult {
        let same = self.surveyor.as_ref().is_some_and(|known| Arc::ptr_eq(known.info(), handle.info()));
        match &self.last {
            Some(last) if same && last.began >= asked && last.format == format => {
                return Ok(last.text.clone());
            }
            Some(last) => std::thread::sleep(PAUSE.saturating_sub(last.ended.elapsed())),
            None => {}
        }
        let surveyor = match &mut self.surveyor {
            Some(surveyor) if same => surveyor,
            other => other.insert(Surveyor::new(handle.clone())),
        };
        let began = Instant::now();
        let survey = surveyor.survey(PATIENCE)?;
        let ended = Instant::now();
        let mut out = Exposition::new(format);
        sections::program(&mut out, handle.info(), ended - began);
        sections::workers(&mut out, &survey);
        sections::packets(&mut out, &survey);
        sections::rcu(&mut out, &rcu::Domain::global().stats());
        sections::elements(&mut out, handle.info(), &survey);
        process::write(&mut out);
        let text = out.finish();
        self.last = Some(Last { began, ended, format, text: text.clone() });
        Ok(text)
    }
}

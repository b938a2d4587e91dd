//! Where readings come from: the control socket of a router, which may go and come back.

use super::associations::{self, Association};
use super::flows::{self, Flow};
use super::samples::Samples;
use crate::address::Address;
use control::Client;
use std::time::Instant;

/// A router's metrics at a moment.
pub(super) struct Reading {
    pub(super) at: Instant,
    pub(super) samples: Samples,
    /// The largest flows, where elements know them.
    pub(super) flows: Vec<Flow>,
    /// The busiest associations, where elements have some.
    pub(super) associations: Vec<Association>,
}

/// A connection that is made anew when it is lost.
pub(super) struct Source {
    address: Address,
    client: Option<Client>,
}

impl Source {
    pub(super) fn new(address: Address) -> Source {
        Source { address, client: None }
    }

    /// Asks for metrics.
    ///
    /// # Errors
    /// Why there are none: no router listens, the connection is lost, or the program that answers knows no metrics.
    pub(super) fn read(&mut self) -> Result<Reading, String> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => self.address.connect()?,
        };
        let reply = client.metrics().map_err(|failure| failure.to_string())?;
        let at = Instant::now();
        if reply.code == UNKNOWN {
            return Err("this router tells no metrics".to_owned());
        }
        let text = crate::reply::data(Ok(reply))?;
        let samples = Samples::parse(&text);
        let flows = flows::ask(&mut client, &samples);
        let associations = associations::ask(&mut client, &samples);
        self.client = Some(client);
        Ok(Reading { at, samples, flows, associations })
    }
}

/// The code of a response to a command that is not known.
const UNKNOWN: u32 = 501;

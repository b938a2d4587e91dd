//! Which addresses have a route, for elements that have nothing else to do with routes.

use router::{Config, ConfigError, Cx};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Whether a table has a route for an address.
type Has = dyn Fn(&Cx<'_>, Ipv4Addr) -> bool + Send + Sync;

/// The addresses that an IPv4 lookup element has a route for: a shared part of the element, beside its table.
pub struct Membership(Box<Has>);

impl Membership {
    /// Offers it to other elements.
    ///
    /// # Errors
    /// As those of [`Config::shared`].
    pub fn offer(
        config: &mut Config<'_>,
        has: impl Fn(&Cx<'_>, Ipv4Addr) -> bool + Send + Sync + 'static,
    ) -> Result<(), ConfigError> {
        config.shared(|| Ok(Membership(Box::new(has))))?;
        Ok(())
    }

    /// That of the element with a name, seen from the element that asks.
    ///
    /// # Errors
    /// There is no such element, or it has no routes.
    pub fn of(cx: &Cx<'_>, name: &str) -> Result<Arc<Membership>, String> {
        cx.shared_of(name, "IPRouteTable").map_err(|error| match cx.info().find(name, Some(cx.index())) {
            Some(_) => format!("{name} is not an IPRouteTable"),
            None => error,
        })
    }

    /// Whether there is a route for an address.
    pub fn has(&self, cx: &Cx<'_>, address: Ipv4Addr) -> bool {
        (self.0)(cx, address)
    }
}

//! Associations by what templates ask for, so that neither the search for one nor its coming and going takes longer if there are more of them.
//!
//! A template names a destination and a mode, and perhaps a source, a reqid, or the association's own number. An association stands under
//! each of the kinds, four at most, by which a template without a number can mean it, the youngest behind the others.

use super::associations::Sa;
use elements_shared::ipsec_port::{Mode, Template};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// What a template asks for that names no number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    destination: IpAddr,
    is_tunnel: bool,
    /// None: any.
    source: Option<IpAddr>,
    /// 0: any.
    reqid: u32,
}

/// Associations by kind and age.
#[derive(Default)]
pub(super) struct Kinds(BTreeMap<(Kind, u64), Arc<Sa>>);

impl Kinds {
    /// Adds an association. It is the only one of its age.
    pub(super) fn insert(&mut self, sa: &Arc<Sa>) {
        self.0.extend(kinds(sa).map(|kind| ((kind, sa.age()), sa.clone())));
    }

    /// Takes an association away.
    pub(super) fn remove(&mut self, sa: &Sa) {
        for kind in kinds(sa) {
            self.0.remove(&(kind, sa.age()));
        }
    }

    /// The youngest association that a template without a number asks for.
    pub(super) fn youngest(&self, template: &Template) -> Option<&Arc<Sa>> {
        let kind = Kind {
            destination: template.destination,
            is_tunnel: template.mode == Mode::Tunnel,
            source: Some(template.source).filter(|source| !source.is_unspecified()),
            reqid: template.reqid,
        };
        self.0.range((kind, 0)..=(kind, u64::MAX)).next_back().map(|(_, sa)| sa)
    }
}

fn kinds(sa: &Sa) -> impl Iterator<Item = Kind> {
    let (destination, is_tunnel) = (sa.destination, sa.mode == Mode::Tunnel);
    let (source, reqid) = (sa.source, sa.reqid);
    let kind = move |source, reqid| Kind { destination, is_tunnel, source, reqid };
    [Some(source), None]
        .into_iter()
        .flat_map(move |source| numbers(reqid).map(move |reqid| kind(source, reqid)))
}

/// All templates that an association with their destination fits, as [`super::policies::fits`] has it.
pub(super) fn templates(sa: &Sa) -> impl Iterator<Item = Template> {
    let (source, destination, mode, spi, reqid) = (sa.source, sa.destination, sa.mode, sa.spi, sa.reqid);
    let sources = [source, Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()].into_iter();
    let template = move |source, reqid, spi| Template { source, destination, spi, reqid, mode };
    sources.flat_map(move |source| {
        numbers(reqid).flat_map(move |reqid| numbers(spi).map(move |spi| template(source, reqid, spi)))
    })
}

/// By which numbers a template can mean one: by 0, which means all, and by itself.
fn numbers(own: u32) -> impl Iterator<Item = u32> {
    [0, own].into_iter().take(if own == 0 { 1 } else { 2 })
}

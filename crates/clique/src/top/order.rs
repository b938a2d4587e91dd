//! Which rows are shown, and in which order.

use super::associations::Association;
use super::flows::Flow;
use super::view::View;
use clap::ValueEnum;
use std::cmp::Ordering;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum SortKey {
    /// Most packets a second first; of queues, the fullest.
    #[default]
    Packets,
    /// Most drops a second first, then most drops.
    Drops,
    /// By name.
    Name,
}

impl SortKey {
    /// The next one.
    pub(super) fn next(self) -> SortKey {
        match self {
            SortKey::Packets => SortKey::Drops,
            SortKey::Drops => SortKey::Name,
            SortKey::Name => SortKey::Packets,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            SortKey::Packets => "packets",
            SortKey::Drops => "drops",
            SortKey::Name => "name",
        }
    }
}

/// By figures, the largest first.
fn falling(a: &[Option<f64>], b: &[Option<f64>]) -> Ordering {
    let known = |figure: &Option<f64>| figure.unwrap_or(-1.0);
    let pairs = a.iter().zip(b).map(|(a, b)| known(b).total_cmp(&known(a)));
    pairs.fold(Ordering::Equal, Ordering::then)
}

/// Leaves rows that have `filter` in one of their names, whatever the case, and sorts them.
pub(super) fn arrange(mut view: View, order: SortKey, filter: &str) -> View {
    let wanted = filter.to_lowercase();
    let fits = |texts: &[&str]| texts.iter().any(|text| text.to_lowercase().contains(&wanted));
    view.elements.retain(|row| fits(&[&row.element, &row.class]));
    view.queues.retain(|row| fits(&[&row.element, &row.class]));
    view.drops.retain(|row| fits(&[&row.element, &row.class, &row.reason]));
    view.interfaces.retain(|row| fits(&[&row.interface]));
    view.tables.retain(|row| fits(&[&row.element, &row.class, row.kind]));
    view.flows.retain(|row| fits(&[&row.element, &row.protocol, &row.source, &row.destination]));
    let largest =
        |a: &Flow, b: &Flow| falling(&[a.octets_rate, Some(a.octets)], &[b.octets_rate, Some(b.octets)]);
    view.flows.sort_by(largest);
    view.associations.retain(|row| fits(&[&row.element, &row.source, &row.destination, &row.spi]));
    let busiest = |a: &Association, b: &Association| {
        falling(&[a.packets_rate, Some(a.packets)], &[b.packets_rate, Some(b.packets)])
    };
    view.associations.sort_by(busiest);
    // Sorts are stable, and rows come by name.
    match order {
        SortKey::Name => {}
        SortKey::Packets => {
            view.elements.sort_by(|a, b| falling(&[a.packets_rate, a.packets], &[b.packets_rate, b.packets]));
            view.queues.sort_by(|a, b| falling(&[fill(a), Some(a.packets)], &[fill(b), Some(b.packets)]));
        }
        SortKey::Drops => {
            view.elements
                .sort_by(|a, b| falling(&[a.drops_rate, Some(a.drops)], &[b.drops_rate, Some(b.drops)]));
            view.queues.sort_by(|a, b| falling(&[a.drops_rate, a.drops], &[b.drops_rate, b.drops]));
        }
    }
    if order != SortKey::Name {
        view.drops
            .sort_by(|a, b| falling(&[a.packets_rate, Some(a.packets)], &[b.packets_rate, Some(b.packets)]));
        view.interfaces.sort_by(|a, b| {
            let all = |i: &super::view::Interface| Some(i.received_rate? + i.sent_rate?);
            falling(&[all(a)], &[all(b)])
        });
        view.tables.sort_by(|a, b| falling(&[Some(a.entries)], &[Some(b.entries)]));
    }
    view
}

/// How full a queue is.
pub(super) fn fill(queue: &super::view::Queue) -> Option<f64> {
    queue.capacity.filter(|capacity| *capacity > 0.0).map(|capacity| (queue.packets / capacity).min(1.0))
}

//! From what was kept to sections: tables, charts, the published figures beside ours, and what it means.

mod cluster;
mod flows;
mod lookups;
mod papers;
mod rcu;
mod readme;
mod router;
pub(super) mod section;
mod server;

use super::kept::Results;
pub(super) use readme::readme;
pub(crate) use section::PUBLISHED;
use section::Section;
use serde_json::Value;

/// The sections of a report, in the page's order.
pub(super) fn sections(results: &Results) -> Vec<Section> {
    type Show<'s> = &'s dyn Fn(&Value) -> Section;
    // Two sections show figures of other topics, too.
    let forward = |value: &Value| router::forward(value, results.of("predict"));
    let model = |value: &Value| rcu::model(value, results.of("rcu-hash"));
    let shows: &[(&'static str, Show<'_>)] = &[
        ("forward", &forward),
        ("peers", &router::peers),
        ("demo", &flows::demo),
        ("server", &server::server),
        ("predict", &flows::predict),
        ("esp", &flows::esp),
        ("rewriter", &router::rewriter),
        ("flows", &flows::flows),
        ("bsd", &flows::bsd),
        ("filter", &router::filter),
        ("lpm-lookups", &lookups::lookups),
        ("lpm-changes", &lookups::changes),
        ("lpm-load", &lookups::load),
        ("fpm", &lookups::fpm),
        ("rcu-thesis", &papers::thesis),
        ("rcu-ap", &papers::ap_rcu),
        ("rcu-read", &rcu::read),
        ("rcu-update", &rcu::update),
        ("rcu-grace", &rcu::grace),
        ("rcu-costs", &rcu::costs),
        ("rcu-hash", &rcu::hash),
        ("rcu-model", &model),
        ("cluster", &cluster::cluster),
        ("devices", &router::devices),
    ];
    shows
        .iter()
        .filter_map(|(topic, show)| results.of(topic).map(|value| (topic, show(value))))
        .map(named)
        .collect()
}

fn named((topic, section): (&&'static str, Section)) -> Section {
    Section { topic, ..section }
}

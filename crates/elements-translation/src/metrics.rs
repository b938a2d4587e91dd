//! What elements that remember flows of all workers together count.

use router::Metric;

/// Flows that were made.
pub(crate) static MADE: Metric = Metric::counter("clique_flow_made_total", "Flows that were made.");
/// Flows that gave way to others in a full table.
pub(crate) static EVICTIONS: Metric =
    Metric::counter("clique_flow_evictions_total", "Flows that gave way to others in a full table.");
/// Flows whose time was over.
pub(crate) static EXPIRIES: Metric =
    Metric::counter("clique_flow_expiries_total", "Flows that ended after their timeout.");
/// Flows that could not be made.
pub(crate) static FAILURES: Metric =
    Metric::counter("clique_flow_failures_total", "Flows that could not be made.");
/// Flows that were refused because their source's prefix has as many as it may.
pub(crate) static QUOTA_REFUSALS: Metric =
    Metric::counter("clique_flow_quota_refusals_total", "Flows that were too many of one prefix.");

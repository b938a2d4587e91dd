//! Small configurations in the tests of element crates.
//!
//! A crate says once which classes its tests may use ([`harness!`]); its tests then run configurations, send chosen packets
//! through them, and read what came of it. The crate also has packets to send ([`samples`] and others), and elements that only
//! tests need. It is for tests alone: no product depends on it.

#![forbid(unsafe_code)]

mod build;
mod inject;

pub mod flow_samples;
pub mod ip6_samples;
pub mod samples;
pub mod transport_samples;

mod sched_order_test;
mod timer_test;

pub use build::{assert_balanced, build_at, errors, run, run_and_read, run_to_end};
pub use inject::{Flow, Sent, send, send_singly};
use router::{Class, Classes};

/// Elements that only tests need: the order of tasks, and timers.
pub static FAMILIES: &[&[&Class]] = &[&[&sched_order_test::CLASS, &timer_test::CLASS]];

/// The classes of some families, and other names of theirs.
pub fn library(families: &[&[&[&'static Class]]], aliases: &[&'static [Class]]) -> Classes {
    let classes = families.iter().copied().flatten().copied().flatten().copied();
    Classes::new(classes.chain(aliases.iter().copied().flatten()))
}

/// Defines the functions by which a crate's tests run configurations, with the classes of the crates that are named, and with the
/// other names of some.
///
/// The functions are [`build_at`], [`run`], [`run_and_read`], [`errors`], [`send`] and [`send_singly`] without their first
/// parameter, `build` and `build_with` with a simulated clock, and `send_one` for one packet.
#[macro_export]
macro_rules! harness {
    (families: $($with:tt),*; aliases: $($named:tt),*) => {
        pub(crate) use $crate::{Flow, Sent};
        use router::{Clock, Resources, Router};
        use std::sync::LazyLock;

        static LIBRARY: LazyLock<router::Classes> =
            LazyLock::new(|| $crate::library(&[$($with::FAMILIES),*], &[$(&$named::ALIASES),*]));

        pub(crate) fn library() -> router::Classes {
            LIBRARY.clone()
        }

        pub(crate) fn build(config: &str, workers: usize, vector: usize) -> Result<Router, String> {
            build_with(config, workers, vector, Resources::default())
        }

        pub(crate) fn build_with(
            config: &str,
            workers: usize,
            vector: usize,
            resources: Resources,
        ) -> Result<Router, String> {
            build_at(config, workers, vector, Clock::simulated(), resources)
        }

        pub(crate) fn build_at(
            config: &str,
            workers: usize,
            vector: usize,
            clock: Clock,
            resources: Resources,
        ) -> Result<Router, String> {
            $crate::build_at(&LIBRARY, config, workers, vector, clock, resources)
        }

        pub(crate) fn run(config: &str) -> String {
            $crate::run(&LIBRARY, config)
        }

        pub(crate) fn run_and_read(config: &str, handlers: &[&str]) -> Vec<String> {
            $crate::run_and_read(&LIBRARY, config, handlers)
        }

        pub(crate) fn errors(config: &str) -> String {
            $crate::errors(&LIBRARY, config)
        }

        pub(crate) fn send<P: Into<Sent>>(config: &str, packets: impl IntoIterator<Item = P>) -> Flow {
            $crate::send(&LIBRARY, config, packets)
        }

        pub(crate) fn send_singly<P: Into<Sent>>(config: &str, packets: impl IntoIterator<Item = P>) -> Flow {
            $crate::send_singly(&LIBRARY, config, packets)
        }

        pub(crate) fn send_one(config: &str, packet: impl Into<Sent>) -> Flow {
            send(config, [packet])
        }
    };
}

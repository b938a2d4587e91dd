//! The proving ground: whole routers in a small world, under one seed and simulated time.
//!
//! A [`story::Story`] names a *family* of configurations ([`family`]), a seed, and steps: traffic, changes of routes and neighbours,
//! hot swaps right and wrong, links that fail, a clock that leaps. [`story::run`] builds the world, which has hosts ([`host`]) and links
//! ([`link`]) of its own and real routers ([`machine`]), takes the steps, and has oracles watch ([`oracle`]): every packet arrives once and
//! in order where the family's [`model`] says that it does, with a right TTL and right checksums, and nowhere else; errors and answers
//! go back to who asked; swaps lose nothing; packet buffers all come back; every run ends. A story that goes wrong shrinks
//! ([`story::shrink`]) to a few lines of text, which become a test (`stories/`).
//!
//! Hosts read and write packets with code of their own ([`datagram`]), so that they do not share the router's mistakes. The crate is for
//! tests alone: no product depends on it. The modules stand in the order in which they may use each other, the ground first, but for
//! families and stories.

#![forbid(unsafe_code)]

pub mod datagram;
pub mod message;
pub mod pace;

pub mod contents;

pub mod capture;
pub mod collector;
pub mod host;
pub mod link;
pub mod machine;
pub mod memory;
pub mod trace;

pub mod excuses;
pub mod ledger;
pub mod model;

pub mod conservation;
pub mod oracle;
pub mod world;

pub mod storm;
pub mod wrong;

pub mod family;
pub mod story;

//! `clique upgrade`: another program takes the place of the one that runs a router, in the same process, while packets wait.
//!
//! The router's keeper (`reload/keeper.rs`) gets the request and tries the new program as a child ([`trial`]): it has to know the form of
//! what is handed over, the command line, and the configuration. Then the workers stop at the end of a turn, and the driver's thread
//! writes what the elements leave into a sealed file in memory ([`image`]), and calls execve(2) ([`order`]). So process number, terminal, cgroup and
//! rights stay. Sockets of interfaces with their rings, TUN and TAP interfaces, listening sockets and the client's connection stay open, and
//! frames wait in the kernel. The new program finds the file by an environment variable ([`arrival`]), builds the configuration that ran, has
//! elements read what was left, forwards, and answers the client. If anything fails before, it calls execve(2) with the old program, which
//! is still open, and with the same file. `estate.rs` of the router has the form of elements' states.

pub(crate) mod arrival;
mod image;
pub(crate) mod order;
pub(crate) mod trial;

pub(crate) use image::{FORM, Keepsake};

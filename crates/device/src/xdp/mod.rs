//! Frames through AF_XDP sockets: past the kernel's network stack, a socket for each queue.
//!
//! A small program ([`program`]), put together here and loaded by the bpf system call, takes the frames of an interface from
//! the kernel into the socket of the queue on which they arrived ([`socket`]), except those that it leaves to the kernel.
//! Frames lie in the packet pool's own memory, which socket and kernel share; four rings ([`ring`]) say whose each buffer is.

mod attic;
mod program;
mod ring;
mod socket;

pub use crate::rule::Rule;
pub(crate) use program::take_from_kernel;
pub(crate) use socket::ROOM;
pub use socket::{Options, XdpRx, XdpTx, buffers_are_due, queues};

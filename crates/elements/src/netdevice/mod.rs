//! Packets from and to the kernel's interfaces.

mod from_device;
mod to_device;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&from_device::CLASS, &from_device::POLL, &to_device::CLASS];

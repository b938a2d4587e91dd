//! IPsec: the encapsulating security payload in tunnel mode (RFC 4303), with AES-GCM (RFC 4106).

mod association;
mod esp_decap;
mod esp_encap;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&esp_decap::CLASS, &esp_encap::CLASS];

//! Click's own elements for IPsec, for old configurations. DES and SHA-1 are weak: ESPEncap and ESPDecap are for new ones.

#![forbid(unsafe_code)]

mod association;
mod chain;
mod check;
mod ipsec_aes;
mod ipsec_auth_hmac_sha1;
mod ipsec_auth_sha1;
mod ipsec_des;
mod ipsec_esp_encap;
mod ipsec_esp_unencap;
mod radix_ipsec_lookup;
mod replay;
mod table;
#[cfg(test)]
mod tests;
mod words;

#[cfg(test)]
mod testing;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &ipsec_aes::CLASS,
    &ipsec_auth_hmac_sha1::CLASS,
    &ipsec_auth_sha1::CLASS,
    &ipsec_des::CLASS,
    &ipsec_esp_encap::CLASS,
    &ipsec_esp_unencap::CLASS,
    &radix_ipsec_lookup::CLASS,
];

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[CLASSES];

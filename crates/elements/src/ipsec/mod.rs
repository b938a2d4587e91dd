//! IPsec: the encapsulating security payload in tunnel mode (RFC 4303), with AES-GCM (RFC 4106); and Click's own elements for it, in
//! [`classic`].

mod association;
mod classic;
mod esp_decap;
mod esp_encap;
mod front;
mod window;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &esp_decap::CLASS,
    &esp_encap::CLASS,
    &classic::ipsec_aes::CLASS,
    &classic::ipsec_auth_hmac_sha1::CLASS,
    &classic::ipsec_auth_sha1::CLASS,
    &classic::ipsec_des::CLASS,
    &classic::ipsec_esp_encap::CLASS,
    &classic::ipsec_esp_unencap::CLASS,
    &classic::radix_ipsec_lookup::CLASS,
];

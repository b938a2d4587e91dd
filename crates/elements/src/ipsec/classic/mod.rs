//! Click's own IPsec elements, for configurations that have them: one element for each step that a packet takes, and a route table that
//! says whose keys it is for. [`table`] holds the associations, [`association`] is one of them.

mod association;
mod chain;
mod check;
pub(super) mod ipsec_aes;
pub(super) mod ipsec_auth_hmac_sha1;
pub(super) mod ipsec_auth_sha1;
pub(super) mod ipsec_des;
pub(super) mod ipsec_esp_encap;
pub(super) mod ipsec_esp_unencap;
pub(super) mod radix_ipsec_lookup;
mod replay;
mod table;
mod words;

#[cfg(test)]
mod tests;

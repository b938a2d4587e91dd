//! The kernel's messages about security associations and policies (`linux/xfrm.h`).
//!
//! Reading is total: whatever the bytes are, there is a message or none, and no message is longer than its header says. Numbers are in the machine's
//! byte order; addresses, SPIs and ports in the network's. What is read has keys in it, which print as nothing.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{Known, Message, messages};
pub(super) use write::{Numbers, acquire, expire, get_all, usage};

/// Octets of a message's header.
const HEADER: usize = 16;
const NEWSA: u16 = 0x10;
const DELSA: u16 = 0x11;
/// Asks for associations.
pub(super) const GETSA: u16 = 0x12;
const NEWPOLICY: u16 = 0x13;
const DELPOLICY: u16 = 0x14;
/// Asks for policies.
pub(super) const GETPOLICY: u16 = 0x15;
const ACQUIRE: u16 = 0x17;
const EXPIRE: u16 = 0x18;
const UPDPOLICY: u16 = 0x19;
const UPDSA: u16 = 0x1a;
const FLUSHSA: u16 = 0x1c;
const FLUSHPOLICY: u16 = 0x1d;
const NEWAE: u16 = 0x1e;

// Attributes.
const ALG_CRYPT: u16 = 2;
const ENCAP: u16 = 4;
const TMPL: u16 = 5;
const POLICY: u16 = 7;
const LTIME_VAL: u16 = 9;
const REPLAY_VAL: u16 = 10;
const ALG_AEAD: u16 = 18;
const ALG_AUTH_TRUNC: u16 = 20;
const REPLAY_ESN_VAL: u16 = 23;
const IF_ID: u16 = 31;
const MARK: u16 = 21;

/// `struct xfrm_selector`, `xfrm_usersa_info`, `xfrm_userpolicy_info`, `xfrm_user_tmpl`.
const SELECTOR: usize = 56;
const SA_INFO: usize = 224;
const POLICY_INFO: usize = 168;
const TEMPLATE: usize = 64;

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const ESP: u8 = 50;
/// Groups of messages, as bits: associations that expire, associations, policies.
pub(super) const GROUPS: u32 = 2 | 4 | 8;

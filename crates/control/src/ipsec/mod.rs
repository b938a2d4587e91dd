//! Security associations and policies of the kernel, which IKE daemons and `ip xfrm` change.
//!
//! [`xfrm`] reads and writes messages; [`kernel_ipsec`] has the thread that listens to them and brings them into the tables of an IPsec element,
//! by its port.

pub(crate) mod kernel_ipsec;

mod xfrm;

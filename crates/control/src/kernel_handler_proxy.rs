//! Would read and write handlers of a router inside the kernel; rejected here.
//!
//! ```click
//! KernelHandlerProxy([KEYWORDS])
//! ```
//!
//! Click's element accesses the handlers of Click's kernel module. There is no such module here: a configuration with
//! this element does not start. To access another router in user space, connect to its ControlSocket, for instance
//! with `clique ctl`.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Example
//! ```click
//! KernelHandlerProxy()   // refused
//! ```
//!
//! # See also
//! ControlSocket, KernelFilter

use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("KernelHandlerProxy", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("kernel_handler_proxy.rs"));

fn create(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Err("there is no router in the kernel; use a ControlSocket to reach another router in user space".into())
}

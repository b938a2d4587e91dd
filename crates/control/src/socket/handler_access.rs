//! Handlers that clients name.

use router::{Call, Info};

/// A handler that was found.
pub(super) struct HandlerAccess {
    pub(super) path: String,
    pub(super) readable: bool,
    pub(super) writable: bool,
    pub(super) private: bool,
}

impl HandlerAccess {
    pub(super) fn new(info: &Info, path: String) -> Option<HandlerAccess> {
        let readable = Call::read(path.as_str(), "").check(info).is_ok();
        let writable = Call::write(path.as_str(), "").check(info).is_ok();
        let own = || {
            let (element, handler) = path.split_once('.')?;
            let handlers = info.handlers(info.find(element, None)?)?;
            handlers.find(handler).map(|at| handlers.list()[at].private)
        };
        let private = own().unwrap_or(false);
        (readable || writable).then_some(HandlerAccess { path, readable, writable, private })
    }
}

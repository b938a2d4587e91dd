//! Discards packets that Click's kernel module would pass to sniffers.
//!
//! ```click
//! ToHostSniffers([DEVNAME, KEYWORDS])
//! ```
//!
//! In Click's kernel module these packets go to sniffers, but not to the kernel's protocol stack. Here sniffers see
//! the packets of FromDevice and ToDevice anyway, so packets are discarded. Use ToDump to store them in a file.
//!
//! ToLinuxSniffers is another name for it.
//!
//! Ports: 1 input, no outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `DEVNAME`, `TYPE`, `SNIFFERS`, `ALLOW_NONEXISTENT`: accepted.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> c :: Classifier(12/0800, -) -> Discard; c[1] -> ToHostSniffers(eth0)
//! ```
//!
//! # See also
//! ToHost, ToDump, Discard

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Raw};

/// The class.
pub(crate) const CLASS: Class = Class::new("ToHostSniffers", create)
    .ports("1/0")
    .processing("h/")
    .absorbs("all packets")
    .doc(router::manual!("to_host_sniffers.rs"));
struct ToHostSniffers;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut name, mut kind) = (Raw::default(), Raw::default());
    let (mut sniffers, mut nonexistent) = (true, false);
    config
        .args()
        .positional("DEVNAME", &mut name)
        .keyword("TYPE", &mut kind)
        .keyword("SNIFFERS", &mut sniffers)
        .keyword("ALLOW_NONEXISTENT", &mut nonexistent)
        .finish()?;
    config.warn("packets are discarded; sniffers see what FromDevice and ToDevice receive and send");
    Ok(Box::new(ToHostSniffers))
}

impl Element for ToHostSniffers {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.consume(batch);
    }
}

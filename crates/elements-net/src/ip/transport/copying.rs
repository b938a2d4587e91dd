//! Elements that notice something about packets at input 0 and write it into packets at input 1.

use packet::{Batch, Packet};
use router::{Cx, Element, Handlers, Pull};

/// What is noticed.
pub(super) trait CopyRule: Default + Send + 'static {
    /// A packet passes at input 0.
    fn notice(&mut self, packet: &Packet);
    /// A packet passes at input 1.
    fn apply(&self, packet: &mut Packet);
}

/// The element.
pub(super) struct Copying<W>(pub(super) W);

impl<W: CopyRule> Copying<W> {
    fn treat(&mut self, port: usize, batch: &mut Batch) {
        match port {
            0 => batch.iter().for_each(|packet| self.0.notice(packet)),
            _ => batch.iter_mut().for_each(|packet| self.0.apply(packet)),
        }
    }
}

impl<W: CopyRule> Element for Copying<W> {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        self.treat(port, &mut batch);
        cx.emit(port, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: port, want }
    }

    fn pulled(&mut self, _cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        self.treat(port, &mut batch);
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("reset", |e: &mut Copying<W>, _, _| {
            e.0 = W::default();
            Ok(())
        })
        .as_button();
    }
}

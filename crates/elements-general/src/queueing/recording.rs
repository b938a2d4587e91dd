//! Packets that are pulled once and kept.

use super::rounds::{FIRST_WAIT, tell_loaded, tell_loading};
use packet::{BATCH_MAX, Batch, Packet};
use router::Cx;

/// The packets of all inputs, in the order of their timestamps if there are several.
pub(super) struct Recording {
    pub(super) packets: Vec<Packet>,
    /// Packets to keep, at most.
    limit: usize,
    /// Of several inputs: the next packet of each, if it was pulled.
    heads: Vec<Option<Packet>>,
    /// Whether it was said that packets are being pulled.
    loading: bool,
    /// Whether there was nothing to pull at first.
    empty: bool,
    pub(super) loaded: bool,
}

impl Recording {
    /// Of so many inputs; a negative limit is none.
    pub(super) fn new(inputs: usize, limit: i64) -> Recording {
        Recording {
            packets: Vec::new(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            heads: (0..inputs).map(|_| None).collect(),
            loading: false,
            empty: false,
            loaded: false,
        }
    }

    /// Has the task run when inputs have something. For `initialize`.
    pub(super) fn listen(&self, cx: &mut Cx<'_>) {
        (0..self.heads.len()).for_each(|input| cx.signals().listen(input));
    }

    fn ask(&self, cx: &Cx<'_>) -> usize {
        cx.vector().min(BATCH_MAX).min(self.limit - self.packets.len())
    }

    /// Whether packets of several inputs are merged.
    pub(super) fn merges(&self) -> bool {
        self.heads.len() > 1
    }

    /// Pulls what comes next. For the task, which runs again when there is more to do.
    pub(super) fn load(&mut self, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut self.loading, true) {
            tell_loading(cx, self.heads.len());
        }
        match self.heads.iter().position(Option::is_none) {
            _ if self.ask(cx) == 0 => self.finish_loading(cx, None),
            _ if !self.merges() => {
                let want = self.ask(cx);
                cx.ask(0, want);
            }
            Some(input) => cx.ask(input, 1),
            None => {
                self.take_earliest();
                self.load(cx);
            }
        }
    }

    /// Keeps the earliest of the inputs' next packets; of several the one of the first input.
    fn take_earliest(&mut self) {
        let time =
            |(_, head): &(usize, &mut Option<Packet>)| head.as_ref().map(|packet| packet.timestamp_ns());
        if let Some((input, head)) = self.heads.iter_mut().enumerate().min_by_key(time)
            && let Some(mut packet) = head.take()
        {
            packet.set_paint(input as u8);
            self.packets.push(packet);
        }
    }

    /// Takes what was pulled.
    pub(super) fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        let none = batch.is_empty();
        let merges = self.merges();
        batch.drain(|packet| match merges {
            true => self.heads[port] = Some(packet),
            false => self.packets.push(packet),
        });
        cx.consume(batch);
        if !none {
            cx.tasks().schedule();
        } else if !self.packets.is_empty() || (self.empty && !cx.signals().may_have(port)) {
            self.finish_loading(cx, Some(port));
        } else if cx.signals().may_have(port) {
            cx.tasks().schedule();
        } else {
            self.empty = true;
            cx.timers().after(0, FIRST_WAIT);
        }
    }

    /// There are no more, because of the limit or because this input has none.
    fn finish_loading(&mut self, cx: &mut Cx<'_>, dry: Option<usize>) {
        for head in self.heads.iter_mut().filter_map(Option::take) {
            cx.drop(head, "another input has no more");
        }
        self.loaded = true;
        tell_loaded(cx, self.packets.len(), dry);
        cx.tasks().schedule();
    }

    /// Takes over a recording, as far as it has room; none of other inputs, whose packets would go elsewhere.
    pub(super) fn take_over(&mut self, cx: &mut Cx<'_>, mut old: Recording) {
        if self.heads.len() != old.heads.len() {
            let heads = old.heads.iter_mut().filter_map(Option::take);
            old.packets
                .drain(..)
                .chain(heads)
                .for_each(|packet| cx.drop(packet, "the new configuration has other inputs"));
            return;
        }
        let most = self.limit.min(old.packets.len());
        old.packets
            .drain(most..)
            .for_each(|packet| cx.drop(packet, "the new configuration has a lower LIMIT"));
        let limit = self.limit;
        *self = Recording { limit, ..old };
    }

    /// Packets that it has, recorded or about to be.
    pub(super) fn held(&self) -> usize {
        self.packets.len() + self.heads.iter().flatten().count()
    }

    /// Lets the packets go, to pull others.
    pub(super) fn let_go(&mut self, cx: &mut Cx<'_>) {
        let heads = self.heads.iter_mut().filter_map(Option::take);
        self.packets.drain(..).chain(heads).for_each(|packet| cx.pool().free(packet));
        (self.loading, self.empty, self.loaded) = (false, false, false);
    }
}

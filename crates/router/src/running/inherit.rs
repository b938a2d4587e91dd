//! What a router leaves to one in another process, and takes over from one.

use crate::element::estate::{Descriptors, Estate, Heirloom, StateReader, StateWriter};
use crate::running::router::{Router, ways};
use std::os::fd::OwnedFd;

/// What a router leaves.
#[derive(Default)]
pub struct Left {
    /// What instances have written, with the descriptors that are to stay open for them.
    pub heirlooms: Vec<(Heirloom, Vec<OwnedFd>)>,
    /// Elements that have written nothing: all that they had gathered ends with the process.
    pub silent: Vec<usize>,
}

impl Router {
    /// Writes what elements leave to another process. The router was interrupted; what had begun comes to its end first. It can go on then
    /// as if nothing had happened ([`Router::resume`]).
    pub fn write_state(&mut self) -> Left {
        self.settle();
        let (mut left, info) = (Left::default(), self.info.clone());
        for (element, node) in info.nodes.iter().enumerate() {
            let mut wrote = false;
            for &worker in &node.workers {
                let mut writer = StateWriter::default();
                let written = self.workers[worker].with(element, |e, cx| e.write_state(cx, &mut writer));
                if written != Some(true) {
                    continue;
                }
                wrote = true;
                let (bytes, fds) = writer.into_parts();
                let (name, class) = (node.name.clone(), node.class.name.to_owned());
                let (bytes, none) = (bytes.into(), Descriptors::default());
                left.heirlooms.push((Heirloom { name, class, worker, bytes, fds: none }, fds));
            }
            if !wrote {
                left.silent.push(element);
            }
        }
        left
    }

    /// Has elements read what their namesakes of the same class have left in another process: the one on the same worker, and each whose
    /// worker has no instance any more. Before the router runs. What could not be read, in sentences.
    pub fn read_state(&mut self, estate: &Estate) -> Vec<String> {
        let (info, mut unread) = (self.info.clone(), Vec::new());
        for (element, node) in info.nodes.iter().enumerate() {
            let is_its = |left: &&Heirloom| left.name == node.name && left.class == node.class.name;
            let all: Vec<&Heirloom> = estate.heirlooms.iter().filter(is_its).collect();
            let from: Vec<usize> = all.iter().map(|left| left.worker).collect();
            // In the order of `from`.
            for (left, (_, to)) in all.iter().zip(ways(&from, &node.workers)) {
                let mut reader = StateReader::new(left.bytes.clone(), left.fds.clone());
                let read = self.workers[to].with(element, |e, cx| e.read_state(cx, &mut reader));
                if let Some(Err(error)) = read {
                    unread.push(format!("{}: {error}", node.declaration()));
                }
            }
        }
        let known = |left: &&Heirloom| {
            let found = info.find(&left.name, None).map(|element| info.nodes[element].class.name);
            found != Some(left.class.as_str())
        };
        let gone = estate.heirlooms.iter().filter(known);
        unread.extend(gone.map(|left| format!("{} :: {}: there is no such element", left.name, left.class)));
        unread
    }
}

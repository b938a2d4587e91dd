//! Packet buffers: all that a story's routers took come back.

use packet::{Packet, Pool};

/// Buffers of the process that are in use: in circulation, and neither in a pool nor spare. Only one router may run meanwhile, or none.
pub fn in_use() -> usize {
    // What was handed to control threads to be freed is freed.
    rcu::Domain::global().barrier();
    let (before, mut pool) = (packet::circulating().0, Pool::new());
    let mut free: Vec<Packet> = Vec::new();
    // A pool takes new buffers only when no free one is left anywhere.
    while let Some(packet) = pool.alloc(0, 64) {
        if packet::circulating().0 > before {
            break;
        }
        free.push(packet);
    }
    before - free.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_is_held_counts() {
        let _alone = crate::story::alone();
        let none = in_use();
        let held = Pool::new().alloc(0, 64);
        assert_eq!(in_use(), none + 1);
        drop(held);
        assert_eq!(in_use(), none);
    }
}

//! The process's account of its buffers. A process of its own, since other tests would change it.

use clique_packet::{Packet, Pool, Window, usage};

/// What is free is counted as free, wherever it was freed: in a pool, without one, or by taking it back from a device that is gone.
#[test]
fn free_buffers_are_counted_wherever_they_are() {
    let mut pool = Pool::new();
    let in_use = |pool: &Pool| {
        let (small, _) = usage();
        small.circulating - small.spare - pool.cached().0
    };
    assert_eq!(in_use(&pool), 0);
    let mut packets: Vec<Packet> = (0..300).map(|_| pool.packet(&[0; 60]).expect("memory")).collect();
    assert_eq!(in_use(&pool), 300);
    packets.truncate(200); // dropped without a pool
    assert_eq!(in_use(&pool), 200);
    packets.drain(..100).for_each(|packet| pool.free(packet));
    assert_eq!(in_use(&pool), 100);
    let window = Window::get().expect("a window");
    let device = window.borrower();
    packets.drain(..).for_each(|packet| assert!(window.lend(packet, &device).is_ok(), "in the window"));
    assert_eq!(in_use(&pool), 100);
    // SAFETY: there is no device.
    assert_eq!(unsafe { window.take_all_back(&device) }, 100);
    assert_eq!(in_use(&pool), 0);
    // Pools find all of it again, and need no more.
    let before = usage().0.circulating;
    let again: Vec<Packet> = (0..300).map(|_| pool.packet(&[0; 60]).expect("memory")).collect();
    assert_eq!((usage().0.circulating, in_use(&pool)), (before, again.len()));
}

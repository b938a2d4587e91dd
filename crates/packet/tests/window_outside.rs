//! More buffers than the window has. Alone in its process, whose memory it uses up.

use clique_packet::{Borrower, Packet, Pool, Window};

#[test]
fn packets_that_a_window_cannot_lend_come_back_unharmed() {
    let window = Window::get().unwrap();
    let mut pool = Pool::new();
    let large = pool.packet(&[7; 3000]).unwrap();
    let borrower: Borrower = window.borrower();
    let back = window.lend(large, &borrower).unwrap_err();
    assert_eq!(back.data(), [7; 3000]);
    let beyond: Vec<Packet> = (0..40_000).map(|_| pool.packet(b"x").unwrap()).collect();
    let (mut lent, mut kept) = (0, 0);
    for packet in beyond {
        match window.lend(packet, &borrower) {
            Ok(_) => lent += 1,
            Err(packet) => {
                kept += 1;
                assert_eq!(packet.data(), b"x");
                pool.free(packet);
            }
        }
    }
    assert!(lent > 30_000 && kept > 7_000, "{lent} {kept}");
    // SAFETY: there is no device that could write them.
    assert_eq!(unsafe { window.take_all_back(&borrower) }, lent);
}

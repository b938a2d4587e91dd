//! What is read of a file, written and read again, is the same. The fuzz targets `route_list` and `mrt_read` use this, too.

use lpm::import::{self, List};

/// Reads bytes as a file of routes.
#[allow(dead_code, reason = "one of the two fuzz targets reads by itself")]
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(list) = import::read(bytes, import::Options::default()) {
        same(&list);
    }
}

/// Writes a list and reads it again.
///
/// # Panics
/// If it is another one then.
pub(crate) fn same(list: &List) {
    let written = text(list);
    let again =
        import::parse(written.as_bytes()).and_then(List::strict).expect("what was written can be read");
    assert_eq!(text(&again), written);
    assert_eq!(again.skipped, 0);
}

fn text(list: &List) -> String {
    list.sorted().iter().map(|&(prefix, next_hops)| list.line(prefix, next_hops).to_string()).collect()
}

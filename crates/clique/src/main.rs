//! The clique program.
fn main() {}

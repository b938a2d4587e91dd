//! The clique program with the element classes of this package.

mod every_nth;

fn main() -> std::process::ExitCode {
    clique::main_with(&[&every_nth::CLASS])
}

//! What Click's programs ask of the program that they are part of.

use crate::archive::Member;
use crate::input::{Input, Text};
use lang::{Diagnostic, Graph};
use router::Classes;

/// The program that Click's programs are part of: its element classes, and its files and streams.
pub trait Host {
    /// The element classes that there are.
    fn classes(&self) -> &Classes;

    /// Reads a configuration and, of an archive, what else is in it.
    ///
    /// # Errors
    /// Why it cannot be read, with its name.
    fn read(&self, input: &Input) -> Result<(Text, Vec<Member>), String>;

    /// Finds a library along a path of directories: its file's name and its text. `from` is the file that requires it.
    fn library(&self, path: &str, name: &str, from: &str) -> Option<(String, String)>;

    /// What is wrong with a graph, and odd about it, as far as that can be found without opening an interface or writing a
    /// file. All its classes are [known](Host::classes); `text` is what it was made of.
    fn check(&self, graph: Graph, text: &str) -> Vec<Diagnostic>;

    /// Writes to standard error.
    fn complain(&self, text: &str);

    /// Writes to a file, or to standard output without a name or with the name `-`. Says why if it cannot, and gives false.
    fn write(&self, file: Option<&str>, bytes: &[u8]) -> bool;
}

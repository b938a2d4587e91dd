//! Files of packets with comments (draft-ietf-opsawg-pcapng): one section, an interface for frames and one for IP packets.

use crate::console::reason;
use std::io::{self, IsTerminal, Write};

/// Link types of the two interfaces: Ethernet, and IP without anything in front.
const LINKS: [u16; 2] = [1, 101];

/// A file that is written packet by packet.
pub(super) struct Pcapng {
    output: Box<dyn Write>,
    name: String,
}

impl Pcapng {
    /// Creates a file; `-` is standard output.
    pub(super) fn create(name: &str) -> Result<Pcapng, String> {
        if name == "-" && io::stdout().is_terminal() {
            return Err("packets are not written to a terminal: '-w FILE', or '| tshark -r -'".to_owned());
        }
        let output: Box<dyn Write> = match name {
            "-" => Box::new(io::stdout()),
            _ => {
                let file =
                    std::fs::File::create(name).map_err(|error| format!("{name}: {}", reason(&error)))?;
                Box::new(io::BufWriter::new(file))
            }
        };
        Pcapng::start(output, name)
    }

    fn start(output: Box<dyn Write>, name: &str) -> Result<Pcapng, String> {
        let mut file = Pcapng { output, name: name.to_owned() };
        let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
        section.extend([1, 0, 0, 0]);
        section.extend([0xff; 8]); // its length is not known
        file.block(0x0a0d_0d0a, &section)?;
        for link in LINKS {
            let mut interface = link.to_le_bytes().to_vec();
            interface.extend([0; 6]);
            interface.extend([9, 0, 1, 0, 9, 0, 0, 0]); // times in nanoseconds
            interface.extend([0; 4]);
            file.block(1, &interface)?;
        }
        file.flush()?;
        Ok(file)
    }

    /// Writes a packet, of which `bytes` are the first of `len`.
    pub(super) fn packet(
        &mut self,
        ethernet: bool,
        at_ns: u64,
        len: u64,
        bytes: &[u8],
        comment: &str,
    ) -> Result<bool, String> {
        let mut block = u32::from(!ethernet).to_le_bytes().to_vec();
        block.extend(((at_ns >> 32) as u32).to_le_bytes());
        block.extend((at_ns as u32).to_le_bytes());
        block.extend((bytes.len() as u32).to_le_bytes());
        block.extend((len as u32).to_le_bytes());
        pad(&mut block, bytes);
        if !comment.is_empty() {
            let comment = &comment.as_bytes()[..comment.len().min(usize::from(u16::MAX))];
            block.extend([1, 0]);
            block.extend((comment.len() as u16).to_le_bytes());
            pad(&mut block, comment);
            block.extend([0; 4]);
        }
        self.block(6, &block)
    }

    /// Writes a block; whether it is still read.
    fn block(&mut self, kind: u32, body: &[u8]) -> Result<bool, String> {
        let len = (body.len() as u32 + 12).to_le_bytes();
        let whole = [&kind.to_le_bytes()[..], &len, body, &len].concat();
        let written = self.output.write_all(&whole);
        self.read_still(written)
    }

    /// Writes what is left; whether it is still read.
    pub(super) fn flush(&mut self) -> Result<bool, String> {
        let flushed = self.output.flush();
        self.read_still(flushed)
    }

    fn read_still(&self, done: io::Result<()>) -> Result<bool, String> {
        match done {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(format!("{}: {}", self.name, reason(&error))),
        }
    }
}

/// Adds bytes, and zeros up to a multiple of four.
fn pad(block: &mut Vec<u8>, bytes: &[u8]) {
    block.extend(bytes);
    block.resize(block.len().next_multiple_of(4), 0);
}

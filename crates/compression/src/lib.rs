//! Compressed files: gzip, bzip2, xz and zstd, told apart by their first bytes and decompressed while they are read.
//!
//! A file may consist of several members, as `cat a.gz b.gz` makes them. Zeros behind a member are padding, as tapes and
//! block devices add it; other bytes there are an error. The crate knows bytes only: captures and route tables are
//! read through it. Its tests are beside the code.
#![forbid(unsafe_code)]

use std::io::{self, BufRead, BufReader, Cursor, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Bytes fetched from the system at once.
const BUFFER_LEN: usize = 64 * 1024;
/// Bytes of the longest magic number.
const MAGIC_LEN: usize = 6;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// The xz format.
    Xz,
    /// The gzip format (RFC 1952).
    Gzip,
    /// The bzip2 format.
    Bzip2,
    /// The Zstandard format (RFC 8878).
    Zstd,
}

impl Packing {
    /// Tells from the first bytes of a file, whatever its name.
    pub fn of(start: &[u8]) -> Self {
        match start {
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// The contents of a file that may be compressed.
///
/// Reading fails where a compressed file is damaged, mostly with [`io::ErrorKind::UnexpectedEof`] where it is truncated. After an
/// error there is nothing more to read.
pub struct Unpacked<R: Read> {
    packing: Packing,
    state: State<Packed<R>>,
}

/// What is decompressed now.
enum State<S: BufRead> {
    Plain(S),
    Gzip(GzDecoder<S>),
    Bzip2(BzDecoder<S>),
    Xz(Box<XzReader<S>>),
    Zstd(Box<StreamingDecoder<S, FrameDecoder>>),
    /// A member has ended.
    Between(S),
    /// After the end, or an error.
    Over,
}

impl<R: Read> Unpacked<R> {
    /// Reads the first bytes of `source`, which tell how it is packed.
    ///
    /// # Errors
    /// The source cannot be read, or the header of its first zstd frame is damaged.
    pub fn new(mut source: R) -> io::Result<Self> {
        // A pipe may give a byte at a time: the magic number is read on its own and put back in front.
        let mut start = [0; MAGIC_LEN];
        let count = read_up_to(&mut source, &mut start)?;
        let start = &start[..count];
        let packing = Packing::of(start);
        let whole = BufReader::with_capacity(BUFFER_LEN, Cursor::new(start.to_vec()).chain(source));
        Ok(Unpacked { packing, state: State::begin(packing, Packed(whole))? })
    }

    /// How the file is packed.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Goes on with the member behind the padding; false at the end of the file.
    fn next_member(&mut self, mut source: Packed<R>) -> io::Result<bool> {
        loop {
            let ready = source.fill_buf()?;
            let zeros = ready.iter().take_while(|byte| **byte == 0).count();
            if ready.is_empty() {
                return Ok(false);
            }
            if zeros < ready.len() {
                source.consume(zeros);
                self.state = State::begin(self.packing, source)?;
                return Ok(true);
            }
            source.consume(zeros);
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // What follows an error is not to be trusted: the state is put back where all is well.
            let mut state = std::mem::replace(&mut self.state, State::Over);
            if let State::Between(source) = state {
                if self.next_member(source)? {
                    continue;
                }
                return Ok(0);
            }
            let count = state.read(into)?;
            let ended = count == 0 && !into.is_empty();
            self.state = if ended { state.end()? } else { state };
            if !ended || matches!(self.state, State::Over) {
                return Ok(count);
            }
        }
    }
}

impl<R: Read> State<Packed<R>> {
    fn begin(packing: Packing, source: Packed<R>) -> io::Result<Self> {
        Ok(match packing {
            Packing::Plain => State::Plain(source),
            Packing::Gzip => State::Gzip(GzDecoder::new(source)),
            Packing::Bzip2 => State::Bzip2(BzDecoder::new(source)),
            Packing::Xz => State::Xz(Box::new(XzReader::new(source, false))),
            Packing::Zstd => {
                State::Zstd(Box::new(StreamingDecoder::new(source).map_err(|error| zstd_error(&error))?))
            }
        })
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            State::Plain(source) => source.0.read(into),
            State::Gzip(decoder) => decoder.read(into),
            State::Bzip2(decoder) => decoder.read(into),
            State::Xz(decoder) => decoder.read(into),
            State::Zstd(decoder) => decoder.read(into),
            State::Between(_) | State::Over => Ok(0),
        }
    }

    /// What follows a member that was read to its end.
    fn end(self) -> io::Result<Self> {
        Ok(State::Between(match self {
            State::Gzip(decoder) => decoder.into_inner(),
            State::Bzip2(decoder) => decoder.into_inner(),
            State::Xz(decoder) => decoder.into_inner(),
            State::Zstd(decoder) => {
                let (source, decoder) = decoder.into_parts();
                let stored = decoder.get_checksum_from_data();
                if stored.is_some() && stored != decoder.get_calculated_checksum() {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "wrong zstd checksum"));
                }
                source
            }
            State::Plain(_) | State::Between(_) | State::Over => return Ok(State::Over),
        }))
    }
}

/// What a zstd decoder says of a frame's header, which tells a truncated one only in words.
fn zstd_error(error: &ruzstd::decoding::errors::FrameDecoderError) -> io::Error {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return io::Error::new(cause.kind(), error.to_string());
        }
        source = cause.source();
    }
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

/// The bytes of the file. A read fills the whole buffer unless the file ends, since the xz decoder takes a short read of its padding
/// for damage, and signals do not interrupt it, since decoders may not be asked again.
struct Packed<R>(BufReader<io::Chain<Cursor<Vec<u8>>, R>>);

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_up_to(&mut self.0, into)
    }
}

impl<R: Read> BufRead for Packed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while let Err(error) = self.0.fill_buf() {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(self.0.buffer())
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}

fn read_up_to(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < into.len() {
        match from.read(&mut into[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: &[u8] = b"10.0.0.0/8\n192.0.2.0/24\n2001:db8::/32\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let options = lzma_rust2::XzOptions::with_preset(0);
        let mut packer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    type Pack = fn(&[u8]) -> Vec<u8>;

    const PACKINGS: [Pack; 4] = [gzip, xz, bzip2, zstd];

    fn read(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Unpacked::new(packed)?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn members_and_padding_are_read_as_one() {
        assert_eq!(read(TEXT).unwrap(), TEXT);
        assert_eq!(read(b"").unwrap(), b"");
        for pack in PACKINGS {
            let packed = pack(TEXT);
            assert_eq!(read(&packed).unwrap(), TEXT);
            let twice = [packed.clone(), packed.clone()].concat();
            assert_eq!(read(&twice).unwrap(), [TEXT, TEXT].concat());
            for zeros in [1, 2, 4, 512, 100_000] {
                let padded = [packed.clone(), vec![0; zeros]].concat();
                assert_eq!(read(&padded).unwrap(), TEXT, "{zeros} zeros behind {packed:x?}");
                let between = [padded.clone(), padded].concat();
                assert_eq!(read(&between).unwrap(), [TEXT, TEXT].concat(), "{zeros} zeros");
            }
        }
    }

    /// Zeros are contents where nothing is compressed.
    #[test]
    fn plain_zeros_stay() {
        assert_eq!(read(&[7, 0, 0]).unwrap(), [7, 0, 0]);
        assert_eq!(read(&gzip(&[7, 0, 0])).unwrap(), [7, 0, 0]);
    }

    #[test]
    fn truncated_files_are_errors() {
        for pack in PACKINGS {
            let packed = pack(TEXT);
            for cut in MAGIC_LEN..packed.len() {
                assert!(read(&packed[..cut]).is_err(), "{cut} of {packed:x?}");
            }
        }
    }

    #[test]
    fn damage_and_other_bytes_behind_are_errors() {
        for pack in PACKINGS {
            let mut packed = pack(TEXT);
            for behind in [&b"garbage that is no padding"[..], b"\0\0garbage that is no padding"] {
                assert!(read(&[packed.clone(), behind.to_vec()].concat()).is_err(), "{packed:x?}");
            }
            let middle = packed.len() / 2;
            packed[middle] ^= 0x10;
            assert!(read(&packed).is_err(), "{packed:x?}");
        }
    }

    /// Nothing follows an error, and asking once more does no harm.
    #[test]
    fn an_error_is_the_end() {
        for pack in PACKINGS {
            let packed = pack(TEXT);
            let Ok(mut unpacked) = Unpacked::new(&packed[..packed.len() - 1]) else { continue };
            let mut text = Vec::new();
            assert!(unpacked.read_to_end(&mut text).is_err());
            assert_eq!(unpacked.read(&mut [0; 8]).unwrap(), 0);
        }
    }

    /// Gives a byte at a time, and is interrupted before each.
    struct Trickle<'a>(&'a [u8], bool);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let end = into.len().min(1);
            self.0.read(&mut into[..end])
        }
    }

    #[test]
    fn a_slow_pipe_and_signals_change_nothing() {
        for pack in PACKINGS {
            let packed = [pack(TEXT), vec![0; 7]].concat();
            let mut text = Vec::new();
            Unpacked::new(Trickle(&packed, false)).unwrap().read_to_end(&mut text).unwrap();
            assert_eq!(text, TEXT);
        }
    }
}

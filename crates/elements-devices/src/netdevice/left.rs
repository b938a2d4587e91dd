//! Sockets of interfaces that are left to the program that takes this one's place.

use device::kept::Kept;
use router::{BadState, StateReader, StateWriter};

/// Numbers that are kept of an element's sockets, at most.
const NUMBERS_MAX: u64 = 1 << 16;

/// Leaves sockets, if there are any that can be left.
pub(super) fn write(out: &mut StateWriter, kept: Option<Kept>) {
    let Kept { fds, numbers } = kept.unwrap_or_default();
    out.u64(numbers.len() as u64);
    numbers.into_iter().for_each(|number| out.u64(number));
    out.u64(fds.len() as u64);
    fds.into_iter().for_each(|fd| out.fd(fd));
}

/// Passes by what was written of sockets, for who has found them already.
pub(super) fn skip(state: &mut StateReader) -> Result<(), BadState> {
    for _ in 0..state.u64()? {
        state.u64()?;
    }
    for _ in 0..state.u64()? {
        state.u32()?; // a descriptor's place
    }
    Ok(())
}

/// Finds the sockets that were left, if there are any.
pub(super) fn read(state: &mut StateReader) -> Result<Option<Kept>, BadState> {
    let mut kept = Kept::default();
    let count = |state: &mut StateReader| {
        let count = state.u64()?;
        if count <= NUMBERS_MAX { Ok(count) } else { Err(BadState("too many sockets")) }
    };
    for _ in 0..count(state)? {
        kept.numbers.push(state.u64()?);
    }
    for _ in 0..count(state)? {
        kept.fds.push(state.fd()?);
    }
    Ok((!kept.numbers.is_empty()).then_some(kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use router::Descriptors;

    /// What comes behind the sockets is found without them.
    #[test]
    fn sockets_are_passed_by() {
        let fd = || std::os::fd::OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        for (fds, numbers) in [(vec![], vec![]), (vec![fd(), fd()], vec![7; 5])] {
            let mut out = StateWriter::default();
            write(&mut out, Some(Kept { fds, numbers }));
            out.u64(77);
            let mut reader = StateReader::new(out.into_parts().0.into(), Descriptors::default());
            skip(&mut reader).unwrap();
            assert_eq!(reader.u64(), Ok(77));
            assert!(reader.is_at_end());
        }
    }
}

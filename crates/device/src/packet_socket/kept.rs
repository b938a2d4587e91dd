//! Packet sockets that outlive their program: what another program needs to go on with them.
//!
//! A socket's ring belongs to the socket. The program that takes over maps it again, and goes on at the frame at which the other one stopped;
//! what comes meanwhile waits in the ring.

use super::control_ring::ControlRx;
use super::ring::Ring;
use super::{Door, Losses, PacketRx, PacketTx, spill};
use crate::kept::{Keeping, Kept, NONE, bad};
use std::io;

impl Kept {
    fn socket(&mut self, door: &Door, losses: &Losses) -> io::Result<()> {
        self.fds.push(door.fd.try_clone()?);
        self.numbers.push(u64::from(door.is_noted));
        door.ring.keep(&mut self.numbers);
        self.numbers.extend([losses.told, losses.total]);
        Ok(())
    }
}

/// A socket, and what it has lost.
fn socket(keeping: &mut Keeping) -> io::Result<(Door, Losses)> {
    let (fd, is_noted) = (keeping.fd()?, keeping.number()? != 0);
    let ring = Ring::go_on(&fd, keeping, is_noted)?;
    let losses = Losses { told: keeping.number()?, total: keeping.number()? };
    Ok((Door::new(fd, ring, is_noted), losses))
}

/// Packets of a long frame that did not fit into a batch are none of it: who keeps the socket has to keep them as well.
impl PacketRx {
    pub(crate) fn keep(&self, kept: &mut Kept) -> io::Result<()> {
        kept.socket(&self.door, &self.losses)?;
        let group = self.group.map_or(NONE, u64::from);
        let follows = self.follows.map_or(NONE, |len| len as u64);
        kept.numbers.extend([self.index as u64, group, follows, u64::from(self.control.is_some())]);
        if let Some(ControlRx { door, losses, .. }) = &self.control {
            kept.socket(door, losses)?;
        }
        Ok(())
    }

    pub(crate) fn go_on(keeping: &mut Keeping) -> io::Result<PacketRx> {
        let (door, losses) = socket(keeping)?;
        let index = i32::try_from(keeping.number()?).map_err(|_| bad())?;
        let group = keeping.perhaps()?.map(u16::try_from).transpose().map_err(|_| bad())?;
        let follows = keeping.perhaps()?.map(usize::try_from).transpose().map_err(|_| bad())?;
        let control = match keeping.number()? {
            0 => None,
            _ => {
                let (door, losses) = socket(keeping)?;
                let spill = spill(&door);
                Some(ControlRx { door, losses, spill })
            }
        };
        let spill = spill(&door);
        Ok(PacketRx { door, losses, index, group, follows, control, spill, recent: 0, is_stuck: false })
    }
}

impl PacketTx {
    /// What another program needs to go on with it.
    ///
    /// # Errors
    /// That its descriptor cannot be copied.
    pub fn keep(&self) -> io::Result<Kept> {
        let numbers =
            vec![self.index as u64, u64::from(self.is_noted), u64::from(self.is_refused), self.mtu as u64];
        Ok(Kept { fds: vec![self.fd.try_clone()?], numbers })
    }

    /// Goes on with what another program has kept.
    ///
    /// # Errors
    /// That it makes no sense.
    pub fn go_on(kept: Kept) -> io::Result<PacketTx> {
        let mut keeping = Keeping::new(kept);
        let (fd, index) = (keeping.fd()?, i32::try_from(keeping.number()?).map_err(|_| bad())?);
        let mut tx = PacketTx::of(fd, index, keeping.number()? != 0);
        (tx.is_refused, tx.mtu) = (keeping.number()? != 0, keeping.size()?);
        Ok(tx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go_on(numbers: &[u64]) -> io::Result<PacketRx> {
        let fd = std::fs::OpenOptions::new().read(true).write(true).open("/dev/zero").unwrap().into();
        PacketRx::go_on(&mut Keeping::new(Kept { fds: vec![fd], numbers: numbers.to_vec() }))
    }

    /// Places outside of a ring are not believed, nor is what is cut short. (A mapping of /dev/zero stands for the ring.)
    #[test]
    fn places_lie_in_the_ring() {
        let right = [0, 0, 2144, 30, 65_536, 300, 299, 5, 6, 1, NONE, NONE, 0];
        assert!(go_on(&right).is_ok());
        for at in 0..right.len() {
            assert!(go_on(&right[..at]).is_err(), "{at}");
        }
        let blocks = [1, 1, 65_536, 63, 5, 48, 5, 6, 1, 7, 2046, 0];
        assert!(go_on(&blocks).is_ok());
        let wrong: [(&[u64], usize, u64); 10] = [
            (&right, 1, 2),
            (&right, 2, 15),
            (&right, 2, 65_537),
            (&right, 3, 31),
            (&right, 3, 0),
            (&right, 4, 1 << 62),
            (&right, 5, 301),
            (&right, 6, 300),
            (&blocks, 3, 64),
            (&blocks, 2, 16),
        ];
        for (of, at, number) in wrong {
            let mut numbers = of.to_vec();
            numbers[at] = number;
            assert!(go_on(&numbers).is_err(), "{at}: {number}");
        }
    }
}

//! What is known of a wireless frame beside its bytes: Click's annotation for it, which ExtraEncap puts in front of frames.

use packet::Packet;

/// Octets.
pub(super) const LEN: usize = 28;
/// Where the annotation lies.
const OFFSET: usize = 16;
/// How it begins if it has been set.
const MAGIC: [u8; 4] = 0x0749_2001_u32.to_le_bytes();

/// Bits of the flags.
pub(super) mod flag {
    /// The frame is one that this host has sent.
    pub(in super::super) const TX: u16 = 1 << 0;
    /// No station acknowledged it.
    pub(in super::super) const TX_FAIL: u16 = 1 << 1;
    /// It was sent at one of the other rates.
    pub(in super::super) const ALTERNATE: u16 = 1 << 2;
    /// It was received with errors.
    pub(in super::super) const RX_ERROR: u16 = 1 << 3;
    /// More of it follows.
    pub(in super::super) const RX_MORE: u16 = 1 << 4;
    /// It has a number already.
    pub(in super::super) const NUMBERED: u16 = 1 << 5;
    /// Before it, who it is for is asked whether the air is free.
    pub(in super::super) const RTS: u16 = 1 << 7;
    /// Rates are indices of modulation and coding schemes.
    pub(in super::super) const MCS: u16 = 1 << 9;
    /// With a short guard interval.
    pub(in super::super) const SHORT_GUARD: u16 = 1 << 10;
    /// With twice the bandwidth.
    pub(in super::super) const WIDE: u16 = 1 << 11;
    /// No acknowledgement is wanted.
    pub(in super::super) const NO_ACK: u16 = 1 << 12;
}

/// A copy of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extra([u8; LEN]);

/// A packet's.
#[inline]
pub(super) fn of(packet: &Packet) -> Extra {
    Extra(std::array::from_fn(|i| packet.annotations()[OFFSET + i]))
}

/// A packet's, to be changed; it counts as set.
#[inline]
pub(super) fn set(packet: &mut Packet, change: impl FnOnce(&mut Extra)) {
    let mut extra = of(packet);
    extra.0[..4].copy_from_slice(&MAGIC);
    change(&mut extra);
    packet.annotations_mut()[OFFSET..OFFSET + LEN].copy_from_slice(&extra.0);
}

impl Extra {
    /// One that says nothing.
    pub(super) fn empty() -> Self {
        let mut bytes = [0; LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        Extra(bytes)
    }

    /// The one at the beginning of bytes, if there is one.
    #[inline]
    pub(super) fn in_front(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().filter(|bytes| bytes.starts_with(&MAGIC)).map(|bytes| Extra(*bytes))
    }

    /// Whether it has been set.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        self.0.starts_with(&MAGIC)
    }

    /// Its bytes.
    #[inline]
    pub(super) fn bytes(&self) -> [u8; LEN] {
        self.0
    }

    /// Its flags.
    #[inline]
    pub(super) fn flags(&self) -> u16 {
        u16::from_le_bytes([self.0[12], self.0[13]])
    }

    /// Sets some flags, or takes them back.
    #[inline]
    pub(super) fn mark(&mut self, flags: u16, on: bool) {
        let flags = if on { self.flags() | flags } else { self.flags() & !flags };
        self.0[12..14].copy_from_slice(&flags.to_le_bytes());
    }

    /// When the frame arrived, in microseconds of the interface's clock.
    pub(super) fn set_time(&mut self, time: [u8; 8]) {
        self.0[4..12].copy_from_slice(&time);
    }

    /// Its frequency, in MHz.
    pub(super) fn set_channel(&mut self, channel: [u8; 2]) {
        self.0[14..16].copy_from_slice(&channel);
    }

    /// How strong the signal was.
    #[inline]
    pub(super) fn signal(&self) -> u8 {
        self.0[16]
    }

    /// Sets it.
    pub(super) fn set_signal(&mut self, signal: u8) {
        self.0[16] = signal;
    }

    /// How strong the noise was.
    pub(super) fn noise(&self) -> u8 {
        self.0[17]
    }

    /// Sets it.
    pub(super) fn set_noise(&mut self, noise: u8) {
        self.0[17] = noise;
    }

    /// Sets with which power the frame is to be sent.
    #[inline]
    pub(super) fn set_power(&mut self, power: u8) {
        self.0[18] = power;
    }

    /// Whether the frame's header is padded.
    #[inline]
    pub(super) fn padded(&self) -> bool {
        self.0[19] != 0
    }

    /// Sets it.
    pub(super) fn set_padded(&mut self) {
        self.0[19] = 1;
    }

    /// One of four rates, in units of 500 kbit/s or as an index; -1: none.
    #[inline]
    pub(super) fn rate(&self, which: usize) -> i8 {
        self.0[20 + which % 4] as i8
    }

    /// How often the frame is to be sent at that rate at most; 0: not said.
    #[inline]
    pub(super) fn tries(&self, which: usize) -> u8 {
        self.0[24 + which % 4]
    }

    /// Sets one of the rates.
    #[inline]
    pub(super) fn set_rate(&mut self, which: usize, rate: i8) {
        self.0[20 + which % 4] = rate as u8;
    }

    /// Sets how often the frame is to be sent at it.
    #[inline]
    pub(super) fn set_tries(&mut self, which: usize, tries: u8) {
        self.0[24 + which % 4] = tries;
    }
}

/// Whether an annotation, or the one in front of the frame, has one of some flags.
#[inline]
pub(super) fn has(packet: &Packet, flags: u16) -> bool {
    let noted = |extra: Extra| extra.flags() & flags != 0;
    let own = of(packet);
    own.is_set() && noted(own) || Extra::in_front(packet.data()).is_some_and(noted)
}

//! What only the machine gives: memory that is reserved before it is used, and lookups compiled for what the
//! processor has. The crate's only unsafe code.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx512;
mod region;

pub(crate) use region::{Region, Spot};

use crate::fib::Fib;
use crate::prefix::Key;

/// [`Fib::find`].
#[inline]
pub(crate) fn find<K: Key>(fib: &Fib<K>, addr: K) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if fib.processor.bits {
        // SAFETY: `bits` says that the processor has the features that the function is compiled for.
        return unsafe { find_bits(fib, addr) };
    }
    fib.find(addr)
}

/// [`Fib::find_all`].
#[inline]
pub(crate) fn find_all<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    match fib.processor {
        Processor { sixteen: true, gathers_fast, .. } if gathers_fast || K::PAGE_BITS > 0 => {
            // SAFETY: `sixteen` says that the processor has the features that the function is compiled for.
            return unsafe { avx512::find_all(fib, addrs, out) };
        }
        // SAFETY: `bits` says the same.
        Processor { bits: true, .. } => return unsafe { find_all_bits(fib, addrs, out) },
        _ => {}
    }
    fib.find_all(addrs, out);
}

/// What the processor has. Made by [`Processor::detect`] alone, or with less than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) struct Processor {
    /// Instructions that count and pick bits.
    bits: bool,
    /// AVX-512: registers of sixteen lookups, and gathers.
    sixteen: bool,
    /// Whether gathers are faster also where a lookup is short.
    gathers_fast: bool,
}

impl Processor {
    /// Asks the system.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let bits = std::arch::is_x86_feature_detected!("popcnt")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2");
            Self { bits, sixteen: bits && avx512::is_there(), gathers_fast: is_intel() }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self { bits: false, sixteen: false, gathers_fast: false }
    }

    /// This processor and each lesser one, saying what this one lacks.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let here = Self::detect();
        if !here.sixteen {
            println!("lookups with AVX-512 left out: this processor has only {here:?}");
        }
        let other = Self { gathers_fast: !here.gathers_fast, ..here };
        let plain = Self { sixteen: false, ..here };
        vec![here, other, plain, Self { bits: false, ..plain }]
    }
}

/// Whether Intel made the processor. An AMD EPYC makes a gather of many small instructions: gathers of IPv4 lookups, 256 at a time, took
/// 1.4 times as long as loads in rows on a Zen 5, 0.7 of it on an Intel Xeon (Sapphire Rapids).
#[cfg(target_arch = "x86_64")]
fn is_intel() -> bool {
    let vendor = std::arch::x86_64::__cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"GenuineIntel"
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn find_bits<K: Key>(fib: &Fib<K>, addr: K) -> u32 {
    fib.find(addr)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn find_all_bits<K: Key>(fib: &Fib<K>, addrs: &[K], out: &mut [u32]) {
    fib.find_all(addrs, out);
}

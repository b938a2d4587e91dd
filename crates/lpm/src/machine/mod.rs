//! What only the machine gives: memory that is reserved before it is used, and lookups compiled for what the
//! processor has. The crate's only unsafe code.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod region;

pub(crate) use region::Region;

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
    match fib.processor.vectors {
        // SAFETY: `vectors` says that the processor has the features that the function is compiled for.
        Vectors::Sixteen if addrs.len() > 1 => return unsafe { avx512::find_all(fib, addrs, out) },
        // SAFETY: as above.
        Vectors::Eight if addrs.len() > 1 => return unsafe { avx2::find_all(fib, addrs, out) },
        // SAFETY: `bits` says the same.
        _ if fib.processor.bits => return unsafe { find_all_bits(fib, addrs, out) },
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
    /// Registers of many lookups, and gathers.
    vectors: Vectors,
    /// Whether a gather is faster than loads one by one also where there are enough of them to hide what a store costs
    /// that is read by a vector load.
    gathers_fast: bool,
}

/// How many lookups a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
enum Vectors {
    /// No such register.
    None,
    /// AVX2.
    Eight,
    /// AVX-512.
    Sixteen,
}

impl Processor {
    /// Asks the system.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let bits = std::arch::is_x86_feature_detected!("popcnt")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2");
            let vectors = match bits {
                true if avx512::is_there() => Vectors::Sixteen,
                true if avx2::is_there() => Vectors::Eight,
                _ => Vectors::None,
            };
            Self { bits, vectors, gathers_fast: is_intel() }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self { bits: false, vectors: Vectors::None, gathers_fast: false }
    }

    /// This processor and each lesser one, saying what this one lacks.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let here = Self::detect();
        let mut all = vec![here];
        all.push(Self { gathers_fast: !here.gathers_fast, ..here });
        if here.vectors == Vectors::Sixteen {
            // Each processor with AVX-512 has AVX2.
            all.push(Self { vectors: Vectors::Eight, ..here });
        } else {
            println!("lookups with AVX-512 left out: this processor has only {here:?}");
        }
        let plain = Self { vectors: Vectors::None, ..here };
        all.extend([plain, Self { bits: false, ..plain }]);
        all
    }
}

/// Whether Intel made the processor. IPv4 lookups by gathers, 256 at a time, take 0.7 of what they take by loads on an Intel Xeon (Sapphire
/// Rapids), 1.4 times as long on an AMD EPYC (Zen 5), which makes a gather of many small instructions.
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

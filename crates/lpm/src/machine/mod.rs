//! What only the machine gives: memory that is reserved before it is used, and lookups compiled for what the
//! processor has. The crate's only unsafe code.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod ipv4;
#[cfg(target_arch = "x86_64")]
mod ipv6;
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
        Processor { sixteen: true, .. } => {
            let find_all = if K::PAGE_BITS == 0 { ipv4::find_all } else { ipv6::find_all };
            // SAFETY: `sixteen` says that the processor has the features that both functions are compiled for.
            return unsafe { find_all(fib, addrs, out) };
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
    /// AVX-512: registers of sixteen lookups.
    sixteen: bool,
}

impl Processor {
    /// Asks the system.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let bits = std::arch::is_x86_feature_detected!("popcnt")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2");
            let sixteen = bits
                && std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("avx512dq")
                && std::arch::is_x86_feature_detected!("avx512vl")
                && std::arch::is_x86_feature_detected!("avx512vpopcntdq");
            Self { bits, sixteen }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self { bits: false, sixteen: false }
    }

    /// This processor and each lesser one, saying what this one lacks.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let here = Self::detect();
        if !here.sixteen {
            println!("lookups with AVX-512 left out: this processor has only {here:?}");
        }
        let plain = Self { sixteen: false, ..here };
        vec![here, plain, Self { bits: false, ..plain }]
    }
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

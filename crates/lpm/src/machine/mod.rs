//! What only the machine gives: memory that is reserved before it is used, and lookups compiled for what the
//! processor has. The crate's only unsafe code.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod ipv4;
#[cfg(target_arch = "x86_64")]
mod ipv6;
pub(crate) mod processor;
pub(crate) mod region;

use crate::fib::Fib;
use crate::prefix::Key;
use processor::Processor;

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

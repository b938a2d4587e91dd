//! How much memory goes when a value is dropped.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    mem::{needs_drop, size_of, size_of_val},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::atomic,
    time::{Duration, Instant},
};

/// What a value owns outside of itself, which is what its size does not tell.
///
/// Replaced values wait for readers, and what waits is limited. So everything that replaces or retires a value asks it what
/// dropping it frees. A type of one's own adds up its fields:
///
/// ```
/// struct Rules {
///     name: String,
///     ports: Vec<u16>,
///     hits: u64,
/// }
///
/// impl rcu::Weigh for Rules {
///     fn heap_bytes(&self) -> usize {
///         self.name.heap_bytes() + self.ports.heap_bytes()
///     }
/// }
/// ```
///
/// There is no answer for an [`Arc`](std::sync::Arc): only its last owner frees something. A value that shares memory says
/// what it alone owns; or its updater knows what a replacement frees, and says so
/// ([`Cell::replace_weighing`](crate::Cell::replace_weighing)).
pub trait Weigh {
    /// Bytes outside of the value that dropping it frees, vectors by their capacity. The allocator's own are not counted.
    fn heap_bytes(&self) -> usize;
}

/// The sum over values in a row.
fn all<'a, T: Weigh + 'a>(values: impl IntoIterator<Item = &'a T>) -> usize {
    // What is not dropped owns nothing: a megabyte of bytes is not asked byte by byte.
    if needs_drop::<T>() { values.into_iter().map(T::heap_bytes).sum() } else { 0 }
}

macro_rules! own_nothing {
    ($($flat:ty),*) => {$(
        impl Weigh for $flat {
            #[inline]
            fn heap_bytes(&self) -> usize {
                0
            }
        }
    )*};
}

own_nothing!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, (), str);
own_nothing!(Ipv4Addr, Ipv6Addr, IpAddr, SocketAddr, Duration, Instant);
own_nothing!(
    atomic::AtomicBool,
    atomic::AtomicU32,
    atomic::AtomicU64,
    atomic::AtomicI64,
    atomic::AtomicUsize
);

impl<T: ?Sized> Weigh for &T {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl<T: Weigh> Weigh for [T] {
    fn heap_bytes(&self) -> usize {
        all(self)
    }
}

impl<T: Weigh, const N: usize> Weigh for [T; N] {
    fn heap_bytes(&self) -> usize {
        all(self)
    }
}

impl<T: Weigh + ?Sized> Weigh for Box<T> {
    fn heap_bytes(&self) -> usize {
        size_of_val(&**self) + (**self).heap_bytes()
    }
}

impl<T: Weigh> Weigh for Option<T> {
    fn heap_bytes(&self) -> usize {
        all(self)
    }
}

impl<T: Weigh> Weigh for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + all(self)
    }
}

impl<T: Weigh> Weigh for VecDeque<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + all(self)
    }
}

impl Weigh for String {
    fn heap_bytes(&self) -> usize {
        self.capacity()
    }
}

/// Bytes for each entry: one for control.
impl<K: Weigh, V: Weigh, S> Weigh for HashMap<K, V, S> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * (size_of::<(K, V)>() + 1) + all(self.keys()) + all(self.values())
    }
}

/// As if its nodes were half full, which is the least that they are.
impl<K: Weigh, V: Weigh> Weigh for BTreeMap<K, V> {
    fn heap_bytes(&self) -> usize {
        2 * self.len() * size_of::<(K, V)>() + all(self.keys()) + all(self.values())
    }
}

impl<A: Weigh, B: Weigh> Weigh for (A, B) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes()
    }
}

impl<A: Weigh, B: Weigh, C: Weigh> Weigh for (A, B, C) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes() + self.2.heap_bytes()
    }
}

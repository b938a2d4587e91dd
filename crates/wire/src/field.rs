//! Big-endian fields at constant offsets of fixed-size arrays.
//!
//! Offsets are const parameters, and each access carries a compile-time proof that the field lies inside the
//! array: an accessor built from these functions cannot panic and compiles to a plain load or store.

use crate::Error;

/// The octet at `OFF`.
#[inline(always)]
pub(crate) fn get_u8<const OFF: usize, const N: usize>(b: &[u8; N]) -> u8 {
    const { assert!(OFF < N) };
    b[OFF]
}

/// The 16-bit big-endian number at `OFF`.
#[inline(always)]
pub(crate) fn get_u16<const OFF: usize, const N: usize>(b: &[u8; N]) -> u16 {
    u16::from_be_bytes(get_array::<OFF, 2, N>(b))
}

/// The 32-bit big-endian number at `OFF`.
#[inline(always)]
pub(crate) fn get_u32<const OFF: usize, const N: usize>(b: &[u8; N]) -> u32 {
    u32::from_be_bytes(get_array::<OFF, 4, N>(b))
}

/// The 64-bit big-endian number at `OFF`.
#[inline(always)]
pub(crate) fn get_u64<const OFF: usize, const N: usize>(b: &[u8; N]) -> u64 {
    u64::from_be_bytes(get_array::<OFF, 8, N>(b))
}

/// The `L` octets at `OFF`.
#[inline(always)]
pub(crate) fn get_array<const OFF: usize, const L: usize, const N: usize>(b: &[u8; N]) -> [u8; L] {
    const { assert!(OFF + L <= N) };
    let mut out = [0; L];
    out.copy_from_slice(&b[OFF..OFF + L]);
    out
}

/// Stores an octet at `OFF`.
#[inline(always)]
pub(crate) fn set_u8<const OFF: usize, const N: usize>(b: &mut [u8; N], value: u8) {
    const { assert!(OFF < N) };
    b[OFF] = value;
}

/// Stores a 16-bit number, big-endian, at `OFF`.
#[inline(always)]
pub(crate) fn set_u16<const OFF: usize, const N: usize>(b: &mut [u8; N], value: u16) {
    set_array::<OFF, 2, N>(b, value.to_be_bytes());
}

/// Stores a 32-bit number, big-endian, at `OFF`.
#[inline(always)]
pub(crate) fn set_u32<const OFF: usize, const N: usize>(b: &mut [u8; N], value: u32) {
    set_array::<OFF, 4, N>(b, value.to_be_bytes());
}

/// Stores `L` octets at `OFF`.
#[inline(always)]
pub(crate) fn set_array<const OFF: usize, const L: usize, const N: usize>(b: &mut [u8; N], value: [u8; L]) {
    const { assert!(OFF + L <= N) };
    b[OFF..OFF + L].copy_from_slice(&value);
}

/// The first `N` octets, or [`Error::Truncated`].
#[inline(always)]
pub(crate) fn first<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.first_chunk().ok_or(Error::Truncated)
}

/// The first `N` octets, writable, or [`Error::Truncated`].
#[inline(always)]
pub(crate) fn first_mut<const N: usize>(bytes: &mut [u8]) -> Result<&mut [u8; N], Error> {
    bytes.first_chunk_mut().ok_or(Error::Truncated)
}

/// Defines a view `Name<B>` over a reference to `[u8; LEN]` and its constructors.
///
/// `B` is `&[u8; LEN]` for reading and `&mut [u8; LEN]` for reading and writing.
macro_rules! view {
    ($(#[$meta:meta])* $name:ident, $len:expr) => {
        $(#[$meta])*
        ///
        /// `B` is a reference to the bytes: shared to read, exclusive to write as well. The length is
        /// checked once, when the view is made; afterwards no accessor fails or panics.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name<B>(B);

        impl<'a> $name<&'a [u8; $len]> {
            /// Views the beginning of `bytes`; what follows is ignored.
            ///
            /// # Errors
            /// [`Error::Truncated`](crate::Error::Truncated) if `bytes` is shorter than the view.
            #[inline]
            pub fn new_checked(bytes: &'a [u8]) -> Result<Self, crate::Error> {
                crate::field::first(bytes).map(Self)
            }
        }

        impl<'a> $name<&'a mut [u8; $len]> {
            /// Views the beginning of `bytes` for reading and writing; what follows is ignored.
            ///
            /// # Errors
            /// [`Error::Truncated`](crate::Error::Truncated) if `bytes` is shorter than the view.
            #[inline]
            pub fn new_checked_mut(bytes: &'a mut [u8]) -> Result<Self, crate::Error> {
                crate::field::first_mut(bytes).map(Self)
            }
        }

        impl<B: std::ops::Deref<Target = [u8; $len]>> $name<B> {
            /// Views an array of exactly the right size.
            #[inline]
            pub fn new(bytes: B) -> Self {
                Self(bytes)
            }

            /// The bytes under the view.
            #[inline]
            pub fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }
        }
    };
}
pub(crate) use view;

//! DPDK's rte_fib, as far as a lookup element needs it: DIR24_8 with next hops of 4 octets. The package's only unsafe code.
//!
//! The declarations are those of `rte_fib.h` and `rte_eal.h` of DPDK 22.11.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_uint};
use std::fmt;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a lookup finds where there is no route. Next hops are smaller.
pub const NO_ROUTE: u64 = 0x3fff_ffff;

/// Groups of 256 addresses that can have routes longer than 24 bits.
const LONG_GROUPS: u32 = 1 << 14;
/// MiB that DPDK takes: enough for a full table and its routes of record.
const MEMORY_MIB: u64 = 700;

/// `RTE_FIB_DIR24_8`.
const DIR24_8: c_uint = 1;
/// `RTE_FIB_DIR24_8_4B`.
const FOUR_OCTETS: c_uint = 2;
/// `RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO`.
const SCALAR: c_uint = 1;
/// `RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512`.
const AVX512: c_uint = 4;
/// `SOCKET_ID_ANY`.
const ANY_SOCKET: c_int = -1;

/// `struct rte_fib`.
#[repr(C)]
struct RawFib {
    opaque: [u8; 0],
}

/// `struct rte_fib_conf` for DIR24_8.
#[repr(C)]
struct Conf {
    kind: c_uint,
    default_nh: u64,
    max_routes: c_int,
    rib_ext_sz: c_uint,
    nh_sz: c_uint,
    num_tbl8: u32,
    /// What later releases read behind it.
    later: [u64; 4],
}

unsafe extern "C" {
    fn rte_eal_init(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn rte_fib_create(name: *const c_char, socket: c_int, conf: *mut Conf) -> *mut RawFib;
    fn rte_fib_free(fib: *mut RawFib);
    fn rte_fib_add(fib: *mut RawFib, address: u32, len: u8, next_hop: u64) -> c_int;
    fn rte_fib_lookup_bulk(fib: *mut RawFib, addresses: *mut u32, found: *mut u64, count: c_int) -> c_int;
    fn rte_fib_select_lookup(fib: *mut RawFib, kind: c_uint) -> c_int;
}

/// Why there is no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FibError {
    /// DPDK's environment does not start.
    Environment,
    /// The table cannot be made: too many routes are asked for, or too little memory is there.
    Create,
    /// A route is refused: a length above 32, a next hop that is too large, or no room.
    Route,
    /// The processor lacks what the lookup function takes.
    Function,
}

impl fmt::Display for FibError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FibError::Environment => "DPDK does not start",
            FibError::Create => "rte_fib cannot be made: too many routes, or too little memory",
            FibError::Route => "rte_fib refuses a route",
            FibError::Function => "this processor lacks what rte_fib's lookup function needs",
        })
    }
}

impl std::error::Error for FibError {}

/// What DPDK's memory consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pages that the system has set aside, as users of DPDK have it.
    Huge,
    /// The system's smallest ones, since too few others are set aside.
    Small,
}

impl Pages {
    /// Huge ones where enough are free. Another process may take them first; then DPDK does not start.
    pub fn best() -> Pages {
        if huge_mib() >= MEMORY_MIB { Pages::Huge } else { Pages::Small }
    }
}

/// Starts DPDK's environment, once for the process: the first caller's pages stay. Its threads stay on the processors that the caller may
/// use. Returns the pages that its memory consists of.
///
/// # Errors
/// [`FibError::Environment`].
pub fn start(pages: Pages) -> Result<Pages, FibError> {
    static STARTED: OnceLock<Result<Pages, FibError>> = OnceLock::new();
    *STARTED.get_or_init(|| {
        let memory = match pages {
            Pages::Huge => "--in-memory",
            Pages::Small => "--no-huge",
        };
        let size = MEMORY_MIB.to_string();
        let processors = format!("--lcores=0@({})", processors());
        let arguments = [
            "rte-fib",
            memory,
            "--no-shconf",
            "--no-pci",
            "--no-telemetry",
            "--log-level=critical",
            "--force-max-simd-bitwidth=512",
            &processors,
            "-m",
            &size,
        ];
        let arguments = arguments.map(|text| CString::new(text).unwrap_or_default().into_raw());
        let count = arguments.len() as c_int;
        // The texts, and the list of them, stay for ever: the library may keep them.
        let list: &'static mut [*mut c_char] = Box::leak(Box::new(arguments));
        // SAFETY: the list has so many texts, each of which ends with a zero and may be written to.
        let started = unsafe { rte_eal_init(count, list.as_mut_ptr()) };
        if started < 0 { Err(FibError::Environment) } else { Ok(pages) }
    })
}

/// MiB in huge pages that are set aside and free.
fn huge_mib() -> u64 {
    let Ok(sizes) = std::fs::read_dir("/sys/kernel/mm/hugepages") else { return 0 };
    let of = |folder: std::fs::DirEntry| {
        let name = folder.file_name().into_string().ok()?;
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let free = std::fs::read_to_string(folder.path().join("free_hugepages")).ok()?;
        Some(kib * free.trim().parse::<u64>().ok()? / 1024)
    };
    sizes.flatten().filter_map(of).sum()
}

/// The processors that this thread may use, as a list.
fn processors() -> String {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    let numbers = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    numbers.map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(",")
}

/// A table.
pub struct Fib(NonNull<RawFib>);

// SAFETY: the library binds a table to no thread.
unsafe impl Send for Fib {}

impl Fib {
    /// An empty table with room for so many routes. Lookups are scalar.
    ///
    /// # Errors
    /// [`FibError::Environment`], [`FibError::Create`], [`FibError::Function`].
    pub fn new(routes: u32) -> Result<Fib, FibError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        start(Pages::best())?;
        let name = format!("fib{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let name = CString::new(name).map_err(|_| FibError::Create)?;
        let mut conf = Conf {
            kind: DIR24_8,
            default_nh: NO_ROUTE,
            max_routes: c_int::try_from(routes).map_err(|_| FibError::Create)?,
            rib_ext_sz: 0,
            nh_sz: FOUR_OCTETS,
            num_tbl8: LONG_GROUPS,
            later: [0; 4],
        };
        // SAFETY: the environment has started; the name ends with a zero, and the library copies it and what it reads of `conf`.
        let raw = unsafe { rte_fib_create(name.as_ptr(), ANY_SOCKET, &mut conf) };
        let mut fib = Fib(NonNull::new(raw).ok_or(FibError::Create)?);
        fib.use_avx512(false)?;
        Ok(fib)
    }

    /// Adds a route, or changes that for the prefix.
    ///
    /// # Errors
    /// [`FibError::Route`].
    pub fn add(&mut self, address: u32, len: u8, next_hop: u32) -> Result<(), FibError> {
        if u64::from(next_hop) >= NO_ROUTE {
            return Err(FibError::Route);
        }
        // SAFETY: the table is there as long as `self`, and no lookup goes on meanwhile, since it is borrowed exclusively.
        match unsafe { rte_fib_add(self.0.as_ptr(), address, len, u64::from(next_hop)) } {
            0 => Ok(()),
            _ => Err(FibError::Route),
        }
    }

    /// Has lookups use AVX-512, or only what every processor has.
    ///
    /// # Errors
    /// [`FibError::Function`]; lookups are made as before then.
    pub fn use_avx512(&mut self, avx512: bool) -> Result<(), FibError> {
        let kind = if avx512 { AVX512 } else { SCALAR };
        // SAFETY: as in `add`.
        match unsafe { rte_fib_select_lookup(self.0.as_ptr(), kind) } {
            0 => Ok(()),
            _ => Err(FibError::Function),
        }
    }

    /// The next hops of addresses, in host order; [`NO_ROUTE`] where there is none. The addresses stay as they are: the library
    /// declares them without `const`.
    ///
    /// # Panics
    /// If there is less room for next hops than there are addresses.
    #[inline]
    pub fn lookup(&self, addresses: &mut [u32], found: &mut [u64]) {
        let found = &mut found[..addresses.len()];
        // SAFETY: the table is there as long as `self`, nothing changes it while it is borrowed, and both arrays are as long as it says.
        unsafe {
            rte_fib_lookup_bulk(
                self.0.as_ptr(),
                addresses.as_mut_ptr(),
                found.as_mut_ptr(),
                addresses.len() as c_int,
            );
        }
    }
}

impl Drop for Fib {
    fn drop(&mut self) {
        // SAFETY: nothing else refers to the table.
        unsafe { rte_fib_free(self.0.as_ptr()) };
    }
}

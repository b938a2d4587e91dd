//! Descriptors that this program has inherited from the one whose place it took by execve(2).

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::Mutex;

/// Those that have an owner here.
static ADOPTED: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// The least number that is inherited: the standard streams belong to all.
const FIRST: RawFd = 3;

/// Becomes the owner of a descriptor that was inherited. It is closed by execve(2) from now on, unless that is changed.
///
/// # Errors
/// That there is no such descriptor, that it was opened here, or that it has an owner already.
pub fn adopt(fd: RawFd) -> io::Result<OwnedFd> {
    let mut adopted = ADOPTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if fd < FIRST || adopted.contains(&fd) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: no pointers; the kernel checks the number.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    // What this program opens is closed by execve(2): without the mark, it was inherited.
    if flags & libc::FD_CLOEXEC != 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: no pointers.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, flags | libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    adopted.push(fd);
    // SAFETY: the descriptor is open. It was inherited, as it had not the mark that everything has that is opened here, and no other call has
    // returned it, so that it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsRawFd, IntoRawFd};

    /// What was opened here has an owner, standard streams have many, and what was inherited gets one.
    #[test]
    fn only_what_was_inherited_is_adopted() {
        let own = std::fs::File::open("/dev/null").unwrap();
        assert!(adopt(own.as_raw_fd()).is_err());
        assert!(adopt(0).is_err() && adopt(-1).is_err() && adopt(9999).is_err());
        let raw = own.into_raw_fd();
        // SAFETY: no pointers; the descriptor has no owner now.
        unsafe { libc::fcntl(raw, libc::F_SETFD, 0) };
        let adopted = adopt(raw).unwrap();
        assert_eq!(adopted.as_raw_fd(), raw);
        assert!(adopt(raw).is_err());
    }
}

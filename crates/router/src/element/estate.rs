//! What elements leave to a new process: their state as bytes, and descriptors that stay open.
//!
//! A hot swap moves objects between two routers of one process. Where another program takes this one's place, only bytes and descriptors can
//! move: [`Element::write_state`](crate::Element::write_state) writes them, and the namesake reads them. Numbers are little-endian, and
//! bytes come with their length, so that what is cut short is noticed. What an element writes begins with a number of its own for
//! the form, which the reader compares: a newer program may write more.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// What an instance writes.
#[derive(Default)]
pub struct StateWriter {
    bytes: Vec<u8>,
    fds: Vec<OwnedFd>,
}

/// What an instance reads.
#[derive(Clone)]
pub struct StateReader {
    bytes: Arc<[u8]>,
    at: usize,
    fds: Descriptors,
}

/// What was written is cut short, or is of a form that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadState(pub &'static str);

impl std::fmt::Display for BadState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

const SHORT: BadState = BadState("what was written of its state is cut short");
const UNKNOWN: BadState = BadState("the form of its state is not known to this version");

impl StateWriter {
    /// Begins with the number of the form.
    pub fn form(&mut self, form: u8) {
        self.bytes.push(form);
    }

    /// Writes a number.
    pub fn u64(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// Writes a signed number.
    pub fn i64(&mut self, number: i64) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// Writes a shorter number.
    pub fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// Writes bytes, with their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    /// Leaves a descriptor, which is a copy: the original is closed when the other program begins.
    pub fn fd(&mut self, fd: OwnedFd) {
        self.u32(self.fds.len() as u32);
        self.fds.push(fd);
    }

    /// What was written. The numbers of descriptors are their places in the list.
    pub fn into_parts(self) -> (Vec<u8>, Vec<OwnedFd>) {
        (self.bytes, self.fds)
    }
}

/// Descriptors that a process has inherited, by the places that records have for them; each is taken once.
#[derive(Clone, Default)]
pub struct Descriptors(Arc<Mutex<Vec<Option<OwnedFd>>>>);

impl Descriptors {
    /// All are there to be taken.
    pub fn new(fds: Vec<Option<OwnedFd>>) -> Descriptors {
        Descriptors(Arc::new(Mutex::new(fds)))
    }

    fn take(&self, at: usize) -> Option<OwnedFd> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at)?.take()
    }

    /// Closes those that no element has taken; how many there were.
    pub fn close_rest(&self) -> usize {
        let mut fds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *fds).into_iter().flatten().count()
    }
}

impl StateReader {
    /// Reads these bytes.
    pub fn new(bytes: Arc<[u8]>, fds: Descriptors) -> StateReader {
        StateReader { bytes, at: 0, fds }
    }

    fn take(&mut self, len: usize) -> Result<&[u8], BadState> {
        let end = self.at.checked_add(len).ok_or(SHORT)?;
        let taken = self.bytes.get(self.at..end).ok_or(SHORT)?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadState> {
        self.take(N)?.try_into().map_err(|_| SHORT)
    }

    /// Begins: the state has to be of this form.
    ///
    /// # Errors
    /// That it is of another one.
    pub fn form(&mut self, form: u8) -> Result<(), BadState> {
        let [found] = self.array()?;
        if found == form { Ok(()) } else { Err(UNKNOWN) }
    }

    /// Reads a number.
    ///
    /// # Errors
    /// That there is none.
    pub fn u64(&mut self) -> Result<u64, BadState> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a signed number.
    ///
    /// # Errors
    /// That there is none.
    pub fn i64(&mut self) -> Result<i64, BadState> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads a shorter number.
    ///
    /// # Errors
    /// That there is none.
    pub fn u32(&mut self) -> Result<u32, BadState> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// That there are fewer than their length says.
    pub fn bytes(&mut self) -> Result<&[u8], BadState> {
        let len = usize::try_from(self.u64()?).map_err(|_| SHORT)?;
        self.take(len)
    }

    /// Takes a descriptor.
    ///
    /// # Errors
    /// That it is not there.
    pub fn fd(&mut self) -> Result<OwnedFd, BadState> {
        let at = self.u32()? as usize;
        self.fds.take(at).ok_or(BadState("a descriptor was not handed over"))
    }

    /// Whether all was read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

/// What one instance has left.
#[derive(Clone)]
pub struct Heirloom {
    /// The element's name and class.
    pub name: String,
    /// The element's class.
    pub class: String,
    /// The worker that had the instance.
    pub worker: usize,
    /// What it has written.
    pub bytes: Arc<[u8]>,
    /// The descriptors among it.
    pub fds: Descriptors,
}

/// All that the elements of a former process have left: a resource of the router that takes its place.
#[derive(Clone, Default)]
pub struct Estate {
    /// What instances have left, in the order of elements and workers.
    pub heirlooms: Vec<Heirloom>,
}

impl Estate {
    /// What an instance's namesake on the same worker has left.
    pub fn of(&self, name: &str, class: &str, worker: usize) -> Option<StateReader> {
        let is_its = |left: &&Heirloom| left.name == name && left.class == class && left.worker == worker;
        let left = self.heirlooms.iter().find(is_its)?;
        Some(StateReader::new(left.bytes.clone(), left.fds.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A value as elements write it.
    #[derive(Clone, Debug, PartialEq)]
    enum Value {
        Short(u32),
        Long(u64),
        Signed(i64),
        Bytes(Vec<u8>),
    }

    fn written(values: &[Value]) -> Vec<u8> {
        let mut writer = StateWriter::default();
        writer.form(7);
        for value in values {
            match value {
                Value::Short(number) => writer.u32(*number),
                Value::Long(number) => writer.u64(*number),
                Value::Signed(number) => writer.i64(*number),
                Value::Bytes(bytes) => writer.bytes(bytes),
            }
        }
        writer.into_parts().0
    }

    fn read(bytes: &[u8], like: &[Value]) -> Result<Vec<Value>, BadState> {
        let mut reader = StateReader::new(bytes.into(), Descriptors::default());
        reader.form(7)?;
        let read = like.iter().map(|value| {
            Ok(match value {
                Value::Short(_) => Value::Short(reader.u32()?),
                Value::Long(_) => Value::Long(reader.u64()?),
                Value::Signed(_) => Value::Signed(reader.i64()?),
                Value::Bytes(_) => Value::Bytes(reader.bytes()?.to_vec()),
            })
        });
        let read = read.collect::<Result<Vec<_>, _>>()?;
        assert!(reader.is_at_end());
        Ok(read)
    }

    fn values() -> impl Strategy<Value = Vec<Value>> {
        let value = prop_oneof![
            any::<u32>().prop_map(Value::Short),
            any::<u64>().prop_map(Value::Long),
            any::<i64>().prop_map(Value::Signed),
            proptest::collection::vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
        ];
        proptest::collection::vec(value, 0..20)
    }

    proptest! {
        /// What was written is read; what is cut short anywhere is refused, and so is another form.
        #[test]
        fn what_is_written_is_read(values in values(), cut in any::<proptest::sample::Index>()) {
            let mut bytes = written(&values);
            prop_assert_eq!(read(&bytes, &values), Ok(values.clone()));
            prop_assert!(read(&bytes[..cut.index(bytes.len())], &values).is_err());
            bytes[0] = 8;
            prop_assert_eq!(read(&bytes, &values), Err(UNKNOWN));
        }
    }

    /// A length that no memory has is no more than a mistake.
    #[test]
    fn lengths_are_not_believed() {
        let mut writer = StateWriter::default();
        writer.u64(u64::MAX);
        let mut reader = StateReader::new(writer.into_parts().0.into(), Descriptors::default());
        assert_eq!(reader.bytes(), Err(SHORT));
    }

    /// Each descriptor is taken once.
    #[test]
    fn descriptors_are_taken_once() {
        let mut writer = StateWriter::default();
        writer.fd(std::fs::File::open("/dev/null").unwrap().into());
        let (bytes, fds) = writer.into_parts();
        let fds = Descriptors::new(fds.into_iter().map(Some).collect());
        let reader = StateReader::new(bytes.into(), fds.clone());
        assert!(reader.clone().fd().is_ok());
        assert!(reader.clone().fd().is_err());
        assert_eq!(fds.close_rest(), 0);
    }
}

//! Reads messages of exporters, from the RFCs alone: for tests.

use std::collections::{BTreeMap, HashMap};

/// A record: enterprise and number of each element, and its value.
pub(super) type Fields = BTreeMap<(u32, u16), u128>;

/// A message.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) version: u16,
    pub(super) time_s: u128,
    /// Of version 9 only.
    pub(super) uptime_ms: Option<u128>,
    pub(super) sequence: u32,
    pub(super) domain: u32,
    pub(super) templates: usize,
    pub(super) records: Vec<Fields>,
}

/// A field of a template: enterprise, element, octets.
type Field = (u32, u16, usize);

/// Remembers templates.
#[derive(Default)]
pub(super) struct Decoder {
    templates: HashMap<u16, Vec<Field>>,
}

/// Takes a number from the front.
fn take(bytes: &mut &[u8], len: usize) -> Result<u128, String> {
    let (number, rest) = bytes.split_at_checked(len).ok_or("the message is too short")?;
    *bytes = rest;
    Ok(number.iter().fold(0, |number, &byte| number << 8 | u128::from(byte)))
}

impl Decoder {
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<Message, String> {
        let mut rest = bytes;
        let mut message = Message { version: take(&mut rest, 2)? as u16, ..Message::default() };
        let number = take(&mut rest, 2)? as usize;
        match message.version {
            10 if number == bytes.len() => {}
            9 => message.uptime_ms = Some(take(&mut rest, 4)?),
            version => return Err(format!("version {version}, {number}, {} octets", bytes.len())),
        }
        message.time_s = take(&mut rest, 4)?;
        message.sequence = take(&mut rest, 4)? as u32;
        message.domain = take(&mut rest, 4)? as u32;
        while !rest.is_empty() {
            let id = take(&mut rest, 2)? as u16;
            let len = take(&mut rest, 2)? as usize;
            let (mut set, behind) = rest.split_at_checked(len - 4).ok_or("a set is too long")?;
            rest = behind;
            match (message.version, id) {
                (10, 2) | (9, 0) => self.read_templates(&mut set, &mut message, false)?,
                (10, 3) | (9, 1) => self.read_templates(&mut set, &mut message, true)?,
                _ => self.read_records(id, &mut set, &mut message)?,
            }
        }
        let count = message.records.len() + message.templates;
        if message.version == 9 && count != number {
            return Err(format!("{count} records, not {number}"));
        }
        Ok(message)
    }

    fn read_templates(
        &mut self,
        set: &mut &[u8],
        message: &mut Message,
        of_options: bool,
    ) -> Result<(), String> {
        while set.len() >= 4 {
            let id = take(set, 2)? as u16;
            let mut fields = Vec::new();
            let mut count = take(set, 2)?;
            if of_options {
                // The number of scopes, or the octets of the other fields, where `count` has those of the scopes.
                let second = take(set, 2)?;
                count = if message.version == 10 { count } else { (count + second) / 4 };
            }
            for _ in 0..count {
                let element = take(set, 2)? as u16;
                let len = take(set, 2)? as usize;
                let is_enterprise = message.version == 10 && element >> 15 == 1;
                let enterprise = if is_enterprise { take(set, 4)? as u32 } else { 0 };
                let number = if is_enterprise { element & 0x7fff } else { element };
                fields.push((enterprise, number, len));
            }
            if id < 256 {
                return Err(format!("a template with number {id}"));
            }
            self.templates.insert(id, fields);
            message.templates += 1;
        }
        Ok(())
    }

    fn read_records(&self, id: u16, set: &mut &[u8], message: &mut Message) -> Result<(), String> {
        let fields = self.templates.get(&id).ok_or_else(|| format!("no template {id}"))?;
        let len: usize = fields.iter().map(|(.., len)| len).sum();
        while set.len() >= len {
            let mut record = Fields::new();
            for &(enterprise, element, len) in fields {
                record.insert((enterprise, element), take(set, len)?);
            }
            message.records.push(record);
        }
        let is_padding = set.len() < 4 && set.iter().all(|&byte| byte == 0);
        if is_padding { Ok(()) } else { Err(format!("{} octets behind the last record", set.len())) }
    }
}

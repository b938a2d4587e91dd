//! Packets as bytes, for another process that goes on with them.

use packet::{Kind, Packet, Pool};
use router::{BadState, StateReader, StateWriter};

/// Bytes of a packet and of the room in front of it, at most.
const LONGEST: usize = 1 << 17;
/// Offsets of headers that are not there.
const NONE: i64 = i64::MIN;

const KINDS: [Kind; 6] =
    [Kind::Host, Kind::Broadcast, Kind::Multicast, Kind::OtherHost, Kind::Outgoing, Kind::FastRoute];

const WRONG: BadState = BadState("a packet makes no sense");

/// Writes a packet: its bytes, annotations, and where its headers are. What it shares with flows of this process is not written.
pub fn write(out: &mut StateWriter, packet: &Packet) {
    out.u32(packet.headroom() as u32);
    out.bytes(packet.data());
    out.bytes(packet.annotations());
    out.i64(packet.timestamp_ns());
    out.u32(packet.device());
    out.u32(KINDS.iter().position(|kind| *kind == packet.kind()).unwrap_or(0) as u32);
    for offset in [packet.mac_offset(), packet.network_offset(), packet.transport_offset()] {
        out.i64(offset.map_or(NONE, |offset| offset as i64));
    }
}

/// Reads a packet; none if there is no memory for it.
///
/// # Errors
/// That it is cut short, or makes no sense.
pub fn read(state: &mut StateReader, pool: &mut Pool) -> Result<Option<Packet>, BadState> {
    let headroom = state.u32()? as usize;
    let data = state.bytes()?;
    if headroom > LONGEST || data.len() > LONGEST {
        return Err(WRONG);
    }
    let made = pool.alloc(headroom, data.len()).map(|mut packet| {
        packet.data_mut().copy_from_slice(data);
        packet
    });
    let annotations = state.bytes()?.to_vec();
    let (timestamp_ns, device, kind) = (state.i64()?, state.u32()?, state.u32()?);
    let offsets = [state.i64()?, state.i64()?, state.i64()?];
    let Some(mut packet) = made else { return Ok(None) };
    // Longer where a newer version has more.
    for (to, from) in packet.annotations_mut().iter_mut().zip(annotations) {
        *to = from;
    }
    packet.set_timestamp_ns(timestamp_ns);
    packet.set_device(device);
    packet.set_kind(*KINDS.get(kind as usize).ok_or(WRONG)?);
    let place = |offset: i64| {
        let lies = (-(headroom as i64)..=packet.len() as i64).contains(&offset);
        match offset {
            NONE => Ok(None),
            offset if lies => Ok(Some(offset as isize)),
            _ => Err(WRONG),
        }
    };
    let [mac, network, transport] = offsets.map(place);
    let (mac, network, transport) = (mac?, network?, transport?);
    if let Some(mac) = mac {
        packet.set_mac_offset(mac);
    }
    match (network, transport) {
        (Some(network), Some(transport)) => {
            let header = usize::try_from(transport - network).map_err(|_| WRONG)?;
            packet.set_network(network, header);
        }
        (Some(network), None) => packet.set_network_alone(network),
        (None, Some(transport)) => packet.set_transport_offset(transport),
        (None, None) => {}
    }
    Ok(Some(packet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use router::Descriptors;

    fn written(packet: &Packet) -> Vec<u8> {
        let mut out = StateWriter::default();
        write(&mut out, packet);
        out.into_parts().0
    }

    /// What is read is what was written, bit by bit; what is cut short is refused.
    #[test]
    fn packets_are_read_as_they_were() {
        let (mut pool, mut rng) = (Pool::new(), fastrand::Rng::with_seed(5));
        for _ in 0..200 {
            let len = rng.usize(1..1600);
            let mut packet = pool.alloc(rng.usize(0..200), len).unwrap();
            packet.data_mut().iter_mut().for_each(|byte| *byte = rng.u8(..));
            packet.annotations_mut().iter_mut().for_each(|byte| *byte = rng.u8(..));
            packet.set_timestamp_ns(rng.i64(..));
            packet.set_kind(KINDS[rng.usize(..6)]);
            packet.set_device(rng.u32(..));
            if rng.bool() {
                packet.set_mac_offset(-(rng.usize(..=packet.headroom()) as isize));
            }
            if len > 40 && rng.bool() {
                packet.set_network(rng.isize(0..20), 20);
            }
            let bytes = written(&packet);
            let mut reader = StateReader::new(bytes.as_slice().into(), Descriptors::default());
            let again = read(&mut reader, &mut pool).unwrap().unwrap();
            assert!(reader.is_at_end());
            assert_eq!(written(&again), bytes);
            let cut = &bytes[..rng.usize(..bytes.len())];
            assert!(read(&mut StateReader::new(cut.into(), Descriptors::default()), &mut pool).is_err());
        }
    }
}

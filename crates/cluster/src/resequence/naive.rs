//! A resequencer that is only meant to be right: packets in one list, looked through each time.

use super::{FARTHEST, START_SLACK, Settings, start_before};
use crate::NodeId;
use std::collections::BTreeMap;

#[derive(Default)]
struct Lane {
    due: u64,
    last_ns: u64,
    probe: Option<u16>,
    /// What waits, by number without wrapping.
    early: BTreeMap<u64, (u64, u32)>,
}

/// Numbers count from here on, so that none before the first is below zero.
const FIRST: u64 = 1 << 32;

pub(super) struct Naive {
    settings: Settings,
    lanes: BTreeMap<(NodeId, u8), Lane>,
    pub(super) out: Vec<u32>,
    pub(super) late: Vec<u32>,
    pub(super) gaps: u64,
}

impl Naive {
    pub(super) fn new(settings: Settings) -> Naive {
        Naive { settings, lanes: BTreeMap::new(), out: vec![], late: vec![], gaps: 0 }
    }

    pub(super) fn waiting(&self) -> usize {
        self.lanes.values().map(|lane| lane.early.len()).sum()
    }

    pub(super) fn push(&mut self, now_ns: u64, from: (NodeId, u8), number: u16, packet: u32) {
        self.expire(now_ns);
        let start = FIRST + u64::from(start_before(number));
        let lane =
            self.lanes.entry(from).or_insert_with(|| Lane { due: start, last_ns: now_ns, ..Lane::default() });
        let rested = lane.early.is_empty() && now_ns - lane.last_ns > self.settings.idle_ns;
        lane.last_ns = now_ns;
        let mut ahead = number.wrapping_sub(lane.due as u16);
        if rested && ahead > START_SLACK {
            lane.due = start;
            ahead = number - start as u16;
        }
        let confirmed = lane.probe.is_some_and(|probe| number.wrapping_sub(probe) < START_SLACK);
        if (FARTHEST + 1..0x8000).contains(&ahead) {
            lane.probe = Some(number.wrapping_add(1));
        }
        if ahead >= 0x8000 || ahead > FARTHEST && !confirmed {
            return self.late.push(packet);
        }
        let place = lane.due + u64::from(ahead);
        if ahead > FARTHEST {
            self.out.extend(std::mem::take(&mut lane.early).into_values().map(|(_, packet)| packet));
            self.gaps += 1;
            lane.due = place;
        }
        if lane.early.contains_key(&place) {
            return self.late.push(packet);
        }
        lane.early.insert(place, (now_ns, packet));
        self.release(from);
        while self.waiting() > self.settings.capacity {
            self.give_up_oldest();
        }
    }

    pub(super) fn expire(&mut self, now_ns: u64) {
        while self.oldest().is_some_and(|(came, ..)| came + self.settings.wait_ns <= now_ns) {
            self.give_up_oldest();
        }
    }

    /// What has waited longest; of those that came at once, the one that came first.
    fn oldest(&self) -> Option<(u64, u32, (NodeId, u8), u64)> {
        let all = self.lanes.iter().flat_map(|(&from, lane)| {
            lane.early.iter().map(move |(&place, &(came, packet))| (came, packet, from, place))
        });
        all.min()
    }

    fn give_up_oldest(&mut self) {
        let Some((_, _, from, place)) = self.oldest() else { return };
        while self.lanes[&from].due <= place {
            let lane = self.lanes.get_mut(&from).expect("a lane");
            lane.due = *lane.early.keys().next().expect("a packet");
            self.gaps += 1;
            self.release(from);
        }
    }

    fn release(&mut self, from: (NodeId, u8)) {
        let lane = self.lanes.get_mut(&from).expect("a lane");
        while let Some((_, packet)) = lane.early.remove(&lane.due) {
            self.out.push(packet);
            lane.due += 1;
        }
    }
}

//! Who hears which signals: found once all elements are initialised.

use crate::configuration::ports;
use crate::context::core::{Core, Link, NOWHERE};
use crate::schedule::signals::Wanted;

/// Connects those that listen at pull inputs with the signals upstream.
pub(crate) fn listen(core: &mut Core) {
    for (element, wanted) in std::mem::take(&mut core.wanted) {
        let signals = match wanted {
            Wanted::Input(port) | Wanted::Relay(port) => upstream_signals(core, element, port),
            Wanted::Output(port) | Wanted::Room(port) => downstream_rooms(core, element, port),
        };
        for &signal in &signals {
            let signal = &mut core.signals[signal as usize];
            match (wanted, core.provides[element as usize]) {
                (Wanted::Relay(_), Some(own)) => signal.relays.push(own),
                (Wanted::Relay(_), None) | (Wanted::Room(_), _) => {}
                _ => signal.listeners.push(element),
            }
        }
        let place = match wanted {
            Wanted::Input(port) | Wanted::Relay(port) => {
                core.upstream.get_mut(core.first_input[element as usize] as usize + port as usize)
            }
            Wanted::Output(port) | Wanted::Room(port) => {
                core.downstream.get_mut(core.first_output[element as usize] as usize + port as usize)
            }
        };
        if let Some(place) = place {
            *place = signals;
        }
    }
}

/// The signals that say, together, whether a pull input can yield packets; none if something upstream never says.
fn upstream_signals(core: &Core, element: u32, port: u16) -> Vec<u32> {
    let before = |link: Link| {
        let node = &core.info.nodes[link.element as usize];
        let inputs = node.inputs.iter().enumerate();
        inputs
            .filter(|&(input, pull)| !pull.push && ports::flows(node.class, input, link.port as usize))
            .map(|(input, _)| core.uplink(link.element, input as u16))
            .collect()
    };
    nearest(core.uplink(element, port), &core.provides, before)
}

/// The signals that say, together, whether there is room downstream of a push output; none if something there never says.
fn downstream_rooms(core: &Core, element: u32, port: u16) -> Vec<u32> {
    let link = |element: u32, port: usize| core.outputs[core.first_output[element as usize] as usize + port];
    let behind = |to: Link| {
        let node = &core.info.nodes[to.element as usize];
        let outputs = node.outputs.iter().enumerate();
        outputs
            .filter(|&(output, push)| push.push && ports::flows(node.class, to.port as usize, output))
            .map(|(output, _)| link(to.element, output))
            .collect()
    };
    nearest(link(element, port as usize), &core.rooms, behind)
}

/// The signals of the elements nearest to a link that have one, looking further from link to link; none if a way ends before.
fn nearest(from: Link, signal_of: &[Option<u32>], further: impl Fn(Link) -> Vec<Link>) -> Vec<u32> {
    let (mut signals, mut open, mut seen) = (Vec::new(), vec![from], Vec::new());
    while let Some(link) = open.pop() {
        if link.element == NOWHERE || seen.contains(&(link.element, link.port)) {
            continue;
        }
        seen.push((link.element, link.port));
        if let Some(signal) = signal_of[link.element as usize] {
            signals.push(signal);
            continue;
        }
        let next = further(link);
        if next.is_empty() {
            return Vec::new();
        }
        open.extend(next);
    }
    signals
}

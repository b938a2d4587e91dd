//! The accounts of a router: before each swap and restart, and at the end of a story.

use crate::machine::Machine;

/// What does not add up in a router that does not run at this moment. It may hold packets.
pub fn check(machine: &mut Machine) -> Vec<String> {
    let mut wrong = Vec::new();
    if machine.unseen() > 0 {
        wrong.push(format!("'{}' sent {} frames that no link saw", machine.name, machine.unseen()));
    }
    wrong.extend(machine.wrong());
    let balance = machine.router().balance().check();
    wrong.extend(balance.err().into_iter().flatten().map(|fault| fault.to_string()));
    wrong
}

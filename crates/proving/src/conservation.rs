//! The accounts of a router at the end of a story. Whatever adds up packets over elements is called from here.

use crate::machine::Machine;

/// What does not add up in a router at rest.
pub fn check(machine: &mut Machine) -> Vec<String> {
    let mut wrong = Vec::new();
    if machine.unseen() > 0 {
        wrong.push(format!("'{}' sent {} frames that nobody saw", machine.name, machine.unseen()));
    }
    wrong
}

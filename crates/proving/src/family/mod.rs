//! Families of configurations, each with what it must do. A family is one file, and a line in [`all`].

mod accounting;
mod balancer;
mod cluster;
mod cluster_nat;
mod contract;
mod filter;
mod firewall;
mod four_nodes;
mod ip_router;
mod ipsec;
mod nat;
mod nat64;
mod nat_flood;
mod paths;
mod queues;
mod sites;
mod stateful;
mod tunnel;

pub use contract::Family;

/// All families.
pub fn all() -> &'static [&'static dyn Family] {
    &[
        &ip_router::IpRouter,
        &nat::Nat,
        &nat_flood::NatFlood,
        &nat64::Nat64,
        &filter::Filter,
        &queues::Queues,
        &stateful::Stateful,
        &firewall::Firewall,
        &tunnel::Tunnels,
        &ipsec::Ipsec,
        &balancer::Balancer,
        &cluster::Cluster,
        &cluster_nat::ClusterNat,
        &paths::Paths,
        &accounting::Accounting,
    ]
}

/// The family with a name.
pub fn find(name: &str) -> Option<&'static dyn Family> {
    all().iter().copied().find(|family| family.name() == name)
}

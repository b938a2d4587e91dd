//! The reader of MRT files beside that of the crate bgpkit-parser: both find the same routes.

use std::io::Read;
use std::net::IpAddr;

use bgpkit_parser::BgpkitParser;
use bgpkit_parser::models::ElemType;
use lpm::import::{AnyPrefix, mrt};

/// What both say of a route: peer, prefix, and for an announcement the next hop and the length of the path.
type Route = (IpAddr, String, Option<(Option<IpAddr>, u32)>);

fn ours(bytes: &[u8]) -> Vec<Route> {
    let mut routes = Vec::new();
    let faults = mrt::read(bytes, &mut |event| {
        let mrt::Event::Route(event) = event else { return };
        let prefix = match event.prefix {
            AnyPrefix::V4(prefix) => prefix.to_string(),
            AnyPrefix::V6(prefix) => prefix.to_string(),
        };
        let path = event.path.map(|path| (path.gateway, path.length));
        routes.push((event.peer.address, prefix, path));
    });
    assert!(faults.is_empty(), "{faults:?}");
    routes
}

fn theirs(bytes: &[u8]) -> Vec<Route> {
    let routes = BgpkitParser::from_reader(bytes).into_iter().map(|element| {
        let announced = element.elem_type == ElemType::ANNOUNCE;
        let length = element.as_path.as_ref().map_or(0, |path| path.route_len() as u32);
        (element.peer_ip, element.prefix.to_string(), announced.then_some((element.next_hop, length)))
    });
    routes.collect()
}

#[test]
fn the_same_routes() {
    let packed = include_bytes!("data/rrc15-20100227.1610.gz");
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    let (mut ours, mut theirs) = (ours(&bytes), theirs(&bytes));
    assert!(ours.len() > 100, "{} routes", ours.len());
    // In an update, one of the two tells withdrawals first.
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
}

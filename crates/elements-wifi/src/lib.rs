//! Frames of wireless networks (IEEE 802.11), and what interfaces say of them.

#![forbid(unsafe_code)]

mod association_requester;
mod association_responder;
mod available_rates;
mod beacon_scanner;
mod beacon_source;
mod beacon_tracker;
mod extra;
mod extra_decap;
mod extra_encap;
mod filter_phy_err;
mod filter_tx;
mod management;
mod open_auth_requester;
mod open_auth_responder;
mod print_tx_feedback;
mod print_wifi;
mod prism2_decap;
mod prism2_encap;
mod probe_requester;
mod probe_responder;
mod radiotap_decap;
mod radiotap_encap;
mod rates;
mod reasons;
mod responder;
mod rx_stats;
mod set_no_ack;
mod set_rts;
mod set_tx_power;
mod set_tx_rate;
mod wifi_decap;
mod wifi_dupe_filter;
mod wifi_encap;
mod wifi_seq;
mod wireless_info;

#[cfg(test)]
mod testing;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &association_requester::CLASS,
    &association_responder::CLASS,
    &available_rates::CLASS,
    &beacon_scanner::CLASS,
    &beacon_source::CLASS,
    &beacon_tracker::CLASS,
    &extra_decap::CLASS,
    &extra_encap::CLASS,
    &filter_phy_err::CLASS,
    &filter_tx::CLASS,
    &open_auth_requester::CLASS,
    &open_auth_responder::CLASS,
    &print_tx_feedback::CLASS,
    &print_wifi::CLASS,
    &prism2_decap::CLASS,
    &prism2_encap::CLASS,
    &probe_requester::CLASS,
    &probe_responder::CLASS,
    &radiotap_decap::CLASS,
    &radiotap_encap::CLASS,
    &rx_stats::CLASS,
    &set_no_ack::CLASS,
    &set_rts::CLASS,
    &set_tx_power::CLASS,
    &set_tx_rate::CLASS,
    &wifi_decap::CLASS,
    &wifi_dupe_filter::CLASS,
    &wifi_encap::CLASS,
    &wifi_seq::CLASS,
    &wireless_info::CLASS,
];

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[CLASSES];

//! Frames of wireless networks (IEEE 802.11), and what interfaces say of them.

mod available_rates;
mod beacon_scanner;
mod extra;
mod extra_decap;
mod extra_encap;
mod filter_phy_err;
mod filter_tx;
mod print_wifi;
mod prism2_decap;
mod radiotap_decap;
mod radiotap_encap;
mod rates;
mod set_tx_power;
mod set_tx_rate;
mod wifi_decap;
mod wifi_dupe_filter;
mod wifi_encap;
mod wireless_info;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &available_rates::CLASS,
    &beacon_scanner::CLASS,
    &extra_decap::CLASS,
    &extra_encap::CLASS,
    &filter_phy_err::CLASS,
    &filter_tx::CLASS,
    &prism2_decap::CLASS,
    &print_wifi::CLASS,
    &radiotap_decap::CLASS,
    &radiotap_encap::CLASS,
    &set_tx_power::CLASS,
    &set_tx_rate::CLASS,
    &wifi_decap::CLASS,
    &wifi_dupe_filter::CLASS,
    &wifi_encap::CLASS,
    &wireless_info::CLASS,
];

/// Why packets are dropped that end before a frame's header does.
const NO_HEADER: &str = "no IEEE 802.11 header";
/// Why packets are dropped whose buffers are full.
const NO_ROOM: &str = "no headroom";

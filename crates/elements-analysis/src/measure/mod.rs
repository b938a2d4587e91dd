//! Elements that measure traffic: counters, and aggregates (groups of packets, by number) that counters tell apart.

mod aggregate_counter;
mod aggregate_counter_vector;
mod aggregate_filter;
mod aggregate_first;
mod aggregate_group;
mod aggregate_hash;
mod aggregate_ip;
mod aggregate_ip_addr_pair;
mod aggregate_ip_flows;
mod aggregate_last;
mod aggregate_length;
mod aggregate_packet_counter;
mod aggregate_paint;
mod aggregate_stats;
mod amount;
mod average_batch_counter;
mod average_counter;
mod batch_stats;
mod burst_stats;
mod by_aggregate;
mod check_number_packet;
mod counter_file;
mod cycle_count_accum;
mod field;
mod flows;
mod histogram;
mod ip_rate_monitor;
mod multi_counter;
pub(crate) mod notifier;
mod number_packet;
mod packet_mem_stats;
mod record_timestamp;
mod round_trip_cycle_count;
mod set_cycle_count;
mod timestamp_diff;
mod work_package;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &aggregate_counter::CLASS,
    &aggregate_counter_vector::CLASS,
    &aggregate_filter::CLASS,
    &aggregate_first::CLASS,
    &aggregate_group::CLASS,
    &aggregate_hash::CLASS,
    &aggregate_ip::CLASS,
    &aggregate_ip_addr_pair::CLASS,
    &aggregate_ip_flows::CLASS,
    &aggregate_last::CLASS,
    &aggregate_length::CLASS,
    &aggregate_packet_counter::CLASS,
    &aggregate_paint::CLASS,
    &aggregate_stats::CLASS,
    &average_batch_counter::CLASS,
    &average_counter::CLASS,
    &batch_stats::CLASS,
    &burst_stats::CLASS,
    &check_number_packet::CLASS,
    &counter_file::CLASS,
    &cycle_count_accum::CLASS,
    &ip_rate_monitor::CLASS,
    &multi_counter::CLASS,
    &number_packet::CLASS,
    &packet_mem_stats::CLASS,
    &record_timestamp::CLASS,
    &round_trip_cycle_count::CLASS,
    &set_cycle_count::CLASS,
    &timestamp_diff::CLASS,
    &work_package::CLASS,
];

/// Why packets are dropped that have no IP header where one is needed.
const NO_IP: &str = "no IP header";

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// No packet is too much for any of the elements, wherever it is damaged or cut.
        #[test]
        fn hostile_packets(packets in prop::collection::vec(
            (0usize..3, prop::collection::vec((0usize..60, any::<u8>()), 0..5), 0usize..70), 1..20)
        ) {
            let (a, b) = (([10, 0, 0, 1], 5), ([10, 0, 0, 2], 6));
            let damaged = packets.iter().map(|(kind, damage, len)| {
                let mut packet = match kind {
                    0 => elements_testing::flow_samples::udp(a, b, b"12345678"),
                    1 => elements_testing::flow_samples::tcp(b, a, 2, &[1, 1, 1, 0], b"1234"),
                    _ => {
                        let mut error = elements_testing::flow_samples::echo(a.0, b.0, 1, 2);
                        error[20] = 3;
                        error.extend(elements_testing::flow_samples::udp(a, b, b""));
                        error
                    }
                };
                damage.iter().for_each(|&(at, value)| packet.get_mut(at).into_iter().for_each(|byte| *byte = value));
                packet.truncate(*len);
                packet
            });
            let config = "Inject -> MarkIPHeader(0) -> IPRateMonitor(BYTES, 1, 1, 100) -> t :: Tee(4);
                          t[0] -> f :: AggregateIPFlows(ICMP true, CAPACITY 4) -> Collect(0); f[1] -> Collect(1);
                          t[1] -> AggregateIP(tcp flags) -> Discard; t[2] -> AggregateIP(data[4+4]) -> Collect(2);
                          t[3] -> AggregateLength(IP true) -> Collect(3)";
            send(config, damaged.collect::<Vec<_>>());
        }
    }
}

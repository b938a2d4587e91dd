// `tcp ackf` is the acknowledgement flag, as `tcp ack` is.
Idle -> a :: AggregateIP(tcp ackf) -> b :: AggregateIP(tcp ack) -> Discard;
Script(stop);
//? a.bit_offset
//= 107
//? b.bit_offset
//= 107

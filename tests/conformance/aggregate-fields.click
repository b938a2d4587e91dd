// Fields by header, name, place and mask; tcp's ports are not udp's.
elementclass Source { $sport | FastUDPSource(0, 2, 60, 0:0:0:0:0:1, 18.26.4.9, $sport, 0:0:0:0:0:2, 10.9.8.7, 80) -> Unqueue -> MarkIPHeader(14) -> output };
Source(5000) -> t :: Tee(5) -> AggregateIP(udp sport) -> a :: AggregateCounter -> Discard;
t[1] -> AggregateIP(ip dst[1:2]) -> b :: AggregateCounter -> Discard;
t[2] -> tcp :: AggregateIP(tcp sport) -> Discard; tcp[1] -> other :: Counter -> Discard;
t[3] -> c :: AggregateIP(ip proto 17 dport & 0xfe) -> e :: AggregateCounter -> Discard;
t[4] -> AggregateIP(payload [4:2]) -> f :: AggregateCounter -> Discard;
Idle -> d :: AggregateIP(ip src/16 & 0xff) -> Discard;
Idle -> g :: AggregateIP(tcp flags & 6) -> Discard;
s :: Script(wait 1, write a.write_text_file $DIR/a, write b.write_text_file $DIR/b, write e.write_text_file $DIR/e, print $(c.header) $(c.bit_offset) $(c.bit_length),
       print c.field, print d.field, print g.field, print s.cat $DIR/a, print s.cat $DIR/b, print s.cat $DIR/e, stop);
//= udp 24 7
//= udp dport{8:7}
//= ip src[1]
//= tcp flags{5:2}
//= !IPAggregate 1.0
//= !num_nonzero 1
//= 5000 2
//= !IPAggregate 1.0
//= !num_nonzero 1
//= 2312 2
//= !IPAggregate 1.0
//= !num_nonzero 1
//= 40 2
//? a.nagg
//= 1
//? other.count
//= 2
//? f.count
//= 2

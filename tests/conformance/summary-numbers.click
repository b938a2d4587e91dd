// Numbers in a summary may have any base, and packets of which it does not tell the IP length are as long as on the wire.
//< in !flowid 1.0.0.1 0x50 2.0.0.2 010 T
//< in !aggregate 0x10
//< in !data eth_type wire_len payload_len
//< in 0x0800 54 0
//< in 800 54 0
//< in - 60 5
FromIPSummaryDump($DIR/in, STOP true) -> ToIPSummaryDump($DIR/out, HEADER false, FIELDS sport dport aggregate ip_len tcp_off payload_len);
//! then
Script(print $(cat $DIR/out), stop);
//= 80 8 16 40 20 0
//= 80 8 16 40 20 0
//= 80 8 16 60 32 8

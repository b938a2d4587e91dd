# A gateway uses the next keys before the other has them, as while an IKE daemon brings them. What comes by them waits, also while the configuration is
# replaced, and arrives in time; in the other direction, too, where something outside repeats everything.
family ipsec
seed 1
workers 2
vector 8
knob element 1
flow a 10.0.2.10 udp count 40 size 64 gap 1ms ttl 64 ports 2001 7 ecn 2
flow b2 2001:db8:1::b ping count 40 size 500 gap 1ms ttl 64 ports 2002 80
wait 5ms
swap west turn 1
wait 5ms
swap east tap 1
wait 5ms
swap east exit 2
swap east window 1
wait 5ms
capture east pcap
wait 5ms
swap east turn 1
wait 200ms
swap transit mischief 2
wait 50ms
flow a 10.0.2.10 udp count 30 size 64 gap 1ms ttl 64 ports 2003 7 ecn 2
flow b2 2001:db8:1::b udp count 30 size 1300 gap 1ms ttl 64 ports 2004 80
wait 3ms
swap east turn 2
wait 10ms
swap west tap 2
wait 10ms
swap west exit 1
wait 40ms
swap west turn 2

# IPsec at one end and ESPEncap with ESPDecap at the other, then IPsec at both: numbers go on, and those that came stay known, when either end is replaced while
# an attacker sends all packets again later; a key that moves into a file is the same key, a tunnel of the other family is another.
family ipsec
seed 1
workers 4
vector 32
knob mischief 2
knob element 1
flow a 10.0.2.10 udp count 60 size 64 gap 500us ttl 64 ports 2001 80 ecn 2
flow b 2001:db8:1::a tcp count 60 size 500 gap 500us ttl 64 ports 2002 80 ecn 1
flow b2 10.0.1.11 ping count 20 size 3000 gap 1ms ttl 64 ports 2003 80
flow a2 10.0.2.11 udp count 20 size 1400 gap 1ms ttl 64 ports 2007 80 whole
wait 3ms
swap west tap 1
wait 2ms
swap east tap 2
wait 1ms
swap west file 1
wait 1ms
wrong west state
wrong east state
swap east file 1
wait 1ms
swap east outside 1
swap west exit 2
wait 2ms
swap east tap 0
swap west tap 2
capture west pcap
wait 30ms
swap west key 2
wait 5ms
swap east key 2
flow a 10.0.2.10 udp count 20 size 64 gap 500us ttl 64 ports 2004 80
flow b 2001:db8:1::a udp count 20 size 500 gap 500us ttl 64 ports 2005 80
wait 3ms
swap east element 0
wait 5ms
swap west tap 0
swap east tap 1
wait 5ms
swap west six 1
wait 5ms
swap east window 1

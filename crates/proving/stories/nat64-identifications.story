# IPv6 hosts' long packets are cut again in IPv4. Identifications that chance drew met each other in a burst of some dozens.
family nat64
seed 2012
workers 2
vector 128
knob filter 1
read nat64
upgrade nat64
flow x 203.0.113.2 udp count 7 size 1420 gap 1ms ttl 64 ports 7 5013 whole spread ecn 2
swap nat64 tap 1
swap nat64 tap 0
flow a 64:ff9b::cb00:7101 tcp count 25 size 3000 gap 0s ttl 64 ports 2002 7
wait 3ms

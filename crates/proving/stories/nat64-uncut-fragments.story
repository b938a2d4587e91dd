# IPv4 packets that must not be cut come in fragments all the same: they are put together, and leave in fragments.
family nat64
seed 1
workers 2
vector 32
knob range 1
knob filter 1
flow a 64:ff9b::cb00:7109 udp count 16 size 16 gap 100us ttl 64 ports 2001 7 spread
wait 20ms
flow x 203.0.113.2 udp count 10 size 3000 gap 50us ttl 64 ports 2000 5003 whole

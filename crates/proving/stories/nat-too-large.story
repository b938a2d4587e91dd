# Who sends a packet that must not be cut, and is too large for the other side, hears of it.
family nat
seed 1
workers 1
vector 32
knob mtu-in 2
knob mtu-out 1
flow a 203.0.113.1 udp count 3 size 1400 gap 1ms ttl 64 ports 2001 7 whole
flow a 203.0.113.1 udp count 3 size 500 gap 1ms ttl 64 ports 2001 7 whole
flow x 203.0.113.2 tcp count 3 size 1372 gap 1ms ttl 64 ports 2001 80 whole

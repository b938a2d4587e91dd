# A tunnel in UDP has an element for IPv4 and one for IPv6, whose packets are cut outside. Where parts are lost none of the other's takes their place.
family tunnel
seed 310194
workers 1
vector 1
knob outside 1
knob wrap 4
flow b2 10.0.1.99 tcp count 1 size 64 gap 1ms ttl 64 ports 16205 7
flow b2 2001:db8:1::a tcp count 14 size 1450 gap 50us ttl 64 ports 21128 896
link wan-east loss 67
flow b2 10.0.1.11 udp count 39 size 3000 gap 0s ttl 64 ports 62900 7

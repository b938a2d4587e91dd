# A host's pings with one identifier have one outside, whomever they ask, and another host's have another.
family nat
seed 7
workers 2
vector 8
knob range 2
knob mapping 1
flow a 203.0.113.1 ping count 3 size 64 gap 1ms ttl 64 ports 2001 0
flow a 203.0.113.9 ping count 3 size 64 gap 1ms ttl 64 ports 2001 0
flow a2 203.0.113.9 ping count 3 size 64 gap 1ms ttl 64 ports 2001 0

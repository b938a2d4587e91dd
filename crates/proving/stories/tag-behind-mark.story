# A filter reads the packet that was marked before its VLAN tag went.
family filter
seed 105
workers 1
vector 1
knob place 2
knob rules 39
flow a 10.0.0.130 udp count 1 size 64 gap 1ms ttl 64 ports 5000 7

# Something outside repeats what passes. A gateway that begins anew takes it again, the parts of packets too.
family ipsec
seed 310005
workers 1
vector 1
knob mischief 2
flow b 10.0.1.10 udp count 1 size 3000 gap 1ms ttl 64 ports 48698 7
restart west workers 1

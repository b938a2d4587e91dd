# A question that an attacker repeats past a window which a restart emptied is answered a second time.
family ipsec
seed 410135
workers 1
vector 1
knob mischief 2
flow b2 2001:db8:1::b tcp count 2 size 64 gap 1ms ttl 64 ports 14428 408
restart west workers 2

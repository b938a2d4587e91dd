# A gateway that begins anew takes the answer of the other gateway again, which something outside repeats: as ipsec-router-answer-repeated, at the other end.
family ipsec
seed 520190
workers 1
vector 1
knob mischief 2
flow a 2001:db8:2::1 ping count 1 size 16 gap 1ms ttl 64 ports 11185 645
restart west workers 3

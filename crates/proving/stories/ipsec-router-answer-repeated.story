# A gateway that begins anew takes the answer of the other gateway again, which something outside repeats.
family ipsec
seed 520130
workers 1
vector 1
flow b2 10.0.1.1 ping count 1 size 64 gap 1ms ttl 64 ports 18847 413
swap transit mischief 2
restart east workers 2

# More comes at once than a link between two nodes takes: a flowlet moves to another, and is out of order this once.
family cluster
seed 70016
workers 2
vector 32
knob scheme 1
flow h3 10.0.0.2 ping count 50 size 1400 gap 0s ttl 64 ports 50956 505

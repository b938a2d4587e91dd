# An error about a packet that came in tells its sender of the packet that it sent, not of the inside.
family nat
seed 105
workers 1
vector 1
flow p 203.0.113.2 tcp count 1 size 64 gap 1ms ttl 1 ports 2001 80

# Packets of a flow that take different ways come out in the order in which they came in, if nodes number them.
family cluster
seed 1
workers 2
vector 32
knob order 1
knob scheme 1
flow h0 10.0.1.2 udp count 60 size 500 gap 1us ttl 64 ports 2001 7
flow h2 10.0.3.2 tcp count 60 size 64 gap 10us ttl 64 ports 2002 80
wait 1ms
swap n1 tap 2
wait 20ms
swap n2 tap 1

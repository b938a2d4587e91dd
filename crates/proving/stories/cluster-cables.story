# Cables of a cluster break: after the time of some hellos packets take other ways, once each, and in order where packets are numbered.
family cluster
seed 1
workers 2
vector 32
knob order 1
flow h0 10.0.1.2 udp count 60 size 500 gap 5ms ttl 64 ports 2001 7
flow h2 10.0.3.2 tcp count 60 size 64 gap 5ms ttl 64 ports 2002 80
flow h1 10.0.2.2 ping count 60 size 64 gap 5ms ttl 64 ports 2003 80
wait 10ms
link cable01 down
wait 90ms
link cable23 down
wait 90ms
swap n2 tap 1
swap n0 scheme 1
wait 10ms
link cable01 good
wait 90ms
flow h0 10.0.1.2 udp count 40 size 64 gap 0s ttl 64 ports 20000 5000 spread
flow h3 10.0.2.2 udp count 40 size 64 gap 10us ttl 64 ports 20000 5000
wrong n3 state

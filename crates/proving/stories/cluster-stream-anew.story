# A node gets another configuration, and with that tells its successor everything anew. It dies just then: its flows go on.
family cluster-nat
seed 1
workers 1
vector 32
flow h0 10.0.2.2 udp count 10 size 64 gap 1ms ttl 64 ports 2001 7
flow h0 10.0.3.2 tcp count 10 size 64 gap 1ms ttl 64 ports 2002 7
wait 400ms
swap n0 tap 1
wait 8ms
restart n0 workers 1
wait 3600ms
flow h0 10.0.2.2 udp count 1 size 64 gap 1ms ttl 64 ports 2001 7
flow h0 10.0.3.2 tcp count 1 size 64 gap 1ms ttl 64 ports 2002 7

# A node drains, and the one that goes on with its connections dies, while others get other configurations: connections of both go on.
family cluster-nat
seed 1
workers 2
vector 32
knob track 1
flow h0 10.0.2.2 udp count 100 size 64 gap 90ms ttl 64 ports 2001 7
flow h1 10.0.3.2 ping count 100 size 64 gap 90ms ttl 64 ports 2002 7
flow h2 10.0.0.2 tcp count 100 size 64 gap 90ms ttl 64 ports 2003 7
wait 400ms
write n0 vlb.drain
wait 2000ms
swap n1 tap 1
swap n2 exit 1
wait 2000ms
restart n1 workers 3
wait 3600ms
swap n2 tap 1
wait 100ms
flow h0 10.0.2.2 udp count 10 size 64 gap 1ms ttl 64 ports 2001 7
flow h1 10.0.3.2 ping count 10 size 64 gap 1ms ttl 64 ports 2002 7

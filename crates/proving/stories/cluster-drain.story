# A node drains: packets between the others go on without loss, also those that went through it, and while nodes are replaced. Another begins anew.
family cluster
seed 1
workers 2
vector 32
knob scheme 1
flow h0 10.0.1.2 udp count 60 size 500 gap 3ms ttl 64 ports 2001 7
flow h1 10.0.3.2 udp count 60 size 64 gap 3ms ttl 64 ports 20000 80 spread
flow h3 10.0.0.2 tcp count 60 size 64 gap 3ms ttl 64 ports 2002 80
wait 50ms
write n2 vlb.drain
wait 20ms
swap n1 tap 2
wait 20ms
swap n2 exit 1
wait 100ms
restart n2 workers 3
wait 470ms
flow h2 10.0.0.2 tcp count 20 size 64 gap 1ms ttl 64 ports 2003 80
flow h0 10.0.2.2 udp count 20 size 64 gap 1ms ttl 64 ports 20000 80 spread

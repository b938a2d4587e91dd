# A flow stays with its server also when a swap lets other workers have it.
family balancer
seed 1
workers 4
vector 32
knob way 1
knob tap 2
flow c 203.0.113.10 udp count 20 size 64 gap 1ms ttl 64 ports 2001 5000
flow c2 203.0.113.10 udp count 20 size 64 gap 1ms ttl 64 ports 2002 5000
flow c3 203.0.113.10 udp count 20 size 64 gap 1ms ttl 64 ports 2003 5000
flow c4 203.0.113.10 tcp count 20 size 64 gap 1ms ttl 64 ports 2004 5000
flow c4 203.0.113.10 udp count 20 size 64 gap 1ms ttl 64 ports 2005 5000
wait 10ms
swap lb tap 0

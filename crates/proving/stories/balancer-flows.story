# Each flow stays with its server through swaps while other servers come and go; who is there twice gets twice as many.
family balancer
seed 1
workers 4
vector 32
knob way 1
flow c 203.0.113.10 udp count 100 size 64 gap 100us ttl 64 ports 2001 7
flow c2 203.0.113.10 tcp count 100 size 64 gap 100us ttl 64 ports 2002 80
flow c3 203.0.113.10 tcp count 100 size 64 gap 100us ttl 64 ports 2003 80
flow c4 203.0.113.10 udp count 100 size 64 gap 100us ttl 64 ports 2004 5000
wait 1ms
swap lb tap 1
wait 1ms
swap lb set 2
wait 1ms
swap lb exit 1
wrong lb state
wait 1ms
swap lb set 1
wait 1ms
swap lb set 3
flow c 203.0.113.10 udp count 100 size 64 gap 10us ttl 64 ports 10000 7 spread
flow c2 203.0.113.10 tcp count 100 size 64 gap 10us ttl 64 ports 10000 80 spread

# Web connections of a client find its server again, also while servers come and go, and other connections take turns.
family balancer
seed 1
workers 4
vector 32
flow c 203.0.113.10 tcp count 40 size 64 gap 100us ttl 64 ports 2001 80
flow c2 203.0.113.10 tcp count 60 size 64 gap 100us ttl 64 ports 20000 443 spread
flow c3 203.0.113.10 tcp count 60 size 64 gap 100us ttl 64 ports 20000 80 spread
flow c4 203.0.113.10 udp count 90 size 64 gap 100us ttl 64 ports 20000 7 spread
wait 1ms
swap lb tap 2
wait 1ms
swap lb set 2
wait 1ms
swap lb exit 1
flow c2 203.0.113.10 udp count 90 size 64 gap 100us ttl 64 ports 30000 5000 spread
flow c3 203.0.113.10 tcp count 90 size 64 gap 100us ttl 64 ports 30000 5000 spread
wait 1ms
wrong lb state
wait 20ms
swap lb set 1
flow c 203.0.113.10 tcp count 20 size 64 gap 100us ttl 64 ports 2002 80
flow c2 203.0.113.10 tcp count 20 size 64 gap 100us ttl 64 ports 2002 80
flow c3 203.0.113.10 tcp count 20 size 64 gap 100us ttl 64 ports 2002 80
flow c4 203.0.113.10 udp count 100 size 64 gap 10us ttl 64 ports 40000 7 spread

# New flows go to the server with the least load of which a handler told, also when the servers change their places.
family balancer
seed 1
workers 2
vector 32
knob way 3
write lb lb.load 0:50,1:20,2:70
wait 1ms
flow c 203.0.113.10 udp count 30 size 64 gap 100us ttl 64 ports 10000 7 spread
flow c2 203.0.113.10 tcp count 60 size 64 gap 100us ttl 64 ports 2002 80
wait 4ms
swap lb set 4
flow c3 203.0.113.10 udp count 30 size 64 gap 100us ttl 64 ports 10000 7 spread
wait 5ms
write lb lb.load 0:90,1:80,2:10
wait 1ms
swap lb tap 1
flow c4 203.0.113.10 udp count 30 size 64 gap 100us ttl 64 ports 10000 7 spread

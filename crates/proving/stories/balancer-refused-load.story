# The balancer is told the loads of four servers, and has three: it refuses all, and the first server goes on to be the one with the least.
family balancer
seed 210031
workers 1
vector 1
knob way 3
write lb lb.load 0:73,1:56,2:15,3:67
flow c4 203.0.113.10 udp count 1 size 64 gap 1ms ttl 64 ports 2002 7

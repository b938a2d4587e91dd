# The loads change in the moment in which a flow begins: it may go by the loads of before, and stays where it went.
family balancer
seed 310011
workers 1
vector 1
knob way 3
swap lb set 2
flow c 203.0.113.10 udp count 2 size 64 gap 1ms ttl 64 ports 2001 443
wait 400us
write lb lb.load 0:25,1:97,2:82

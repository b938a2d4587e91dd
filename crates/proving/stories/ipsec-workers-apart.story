# A burst takes numbers on two workers while a neighbour is asked for. What one of them then sends first makes the other's first packet too old for a window of 64.
family ipsec
seed 600275
workers 2
vector 1
knob element 1
knob window 1
flow a2 10.0.2.11 udp count 22 size 3000 gap 1us ttl 64 ports 26113 7
flow a2 2001:db8:2::1 tcp count 7 size 500 gap 50us ttl 3 ports 5101 7

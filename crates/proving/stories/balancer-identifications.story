# A trial brings a balancer to one worker, and back to three, whose identifications are others'.
family balancer
seed 910483
workers 3
vector 128
knob mtu 1
knob way 1
flow c4 203.0.113.10 tcp count 27 size 1400 gap 0s ttl 2 ports 2000 443
trial lb tap 2 600us
wait 1ms
flow c4 203.0.113.10 tcp count 44 size 1400 gap 1us ttl 64 ports 11708 80 spread
wait 1us
flow c 203.0.113.10 udp count 9 size 1400 gap 1ms ttl 64 ports 34150 80 spread

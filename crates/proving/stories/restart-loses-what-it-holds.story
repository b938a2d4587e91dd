# A restart loses what the router holds, and no more: what waits in receive queues is for the next one.
family queues
seed 1
workers 2
vector 32
knob shaper 6
flow a 10.0.0.20 udp count 40 size 64 gap 100us ttl 64 ports 2001 80
wait 2ms
restart cable workers 1

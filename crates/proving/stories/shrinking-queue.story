# What a queue drops because it shrinks at a swap is counted, and its buffers are used again.
family queues
seed 1
workers 1
vector 32
knob shaper 3
flow a 10.0.0.20 udp count 60 size 64 gap 0s ttl 64 ports 2001 80
wait 2ms
swap cable capacity 2

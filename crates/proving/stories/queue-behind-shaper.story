# What waits in a queue for its turn outlives a swap that places the queue elsewhere.
family queues
seed 1
workers 4
vector 32
knob shaper 3
flow a 10.0.0.20 udp count 40 size 64 gap 0s ttl 64 ports 2001 7
wait 2ms
swap cable tap 2
wait 2ms
swap cable tap 0

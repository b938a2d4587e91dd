# What waits in queues and delays outlives swaps that place them elsewhere.
family queues
seed 1
workers 4
vector 32
knob shaper 6
flow a 10.0.0.20 udp count 40 size 64 gap 0s ttl 64 ports 2001 7
wait 2ms
swap cable tap 2
wait 1ms
swap cable tap 1
flow a 10.0.0.20 tcp count 40 size 64 gap 100us ttl 64 ports 2002 80
wait 1ms
wrong cable state
swap cable tap 0

# Batches on their way through shared work go on when another process takes over.
family queues
seed 1
workers 2
vector 32
knob work 1
knob shaper 3
flow a 10.0.0.20 udp count 60 size 64 gap 0s ttl 64 ports 1024 1024
wait 2ms
upgrade cable

# Packets that wait in a queue behind a slow shaper wait in that of the next process.
family queues
seed 27
workers 2
vector 32
knob shaper 3
flow a 10.0.0.20 udp count 60 size 64 gap 50us ttl 64 ports 2001 80
wait 1ms
upgrade cable
wait 1ms
upgrade cable

# A worker is held while packets for it wait; others go on, and a swap that moves it finds all of them.
family queues
seed 1
workers 4
vector 32
knob tap 2
flow a 10.0.0.20 udp count 40 size 64 gap 50us ttl 64 ports 2001 7
wait 500us
stall cable worker 0 5ms
stall cable worker 1 5ms
wait 2ms
swap cable tap 1
flow a 10.0.0.20 tcp count 40 size 64 gap 100us ttl 64 ports 2002 80

# Packets that wait in the receive queues of a worker that is held are there for the router that comes after a restart.
family queues
seed 1
workers 2
vector 32
flow a 10.0.0.20 udp count 10 size 64 gap 100us ttl 64 ports 2001 80
wait 10ms
stall cable worker 0 20ms
stall cable worker 1 20ms
flow a 10.0.0.20 udp count 20 size 64 gap 50us ttl 64 ports 2002 80
flow a 10.0.0.20 udp count 20 size 64 gap 50us ttl 64 ports 2003 80
wait 2ms
restart cable workers 2

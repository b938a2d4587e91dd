# A configuration that is refused leaves the capture alone that the other one goes on writing.
family queues
seed 10
workers 1
vector 1
flow a 10.0.0.20 ping count 60 size 1400 gap 0s ttl 64 ports 45834 7
capture cable pcap
wait 60ms
wrong cable state

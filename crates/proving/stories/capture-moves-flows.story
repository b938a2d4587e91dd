# A flow manager keeps its flows when a capture is put before an interface.
family balancer
seed 7
workers 2
vector 1
knob way 1
flow c 203.0.113.10 udp count 1 size 64 gap 1ms ttl 64 ports 45005 443
wait 1ms
capture lb pcap

# A router ends before its first turn, and leaves the capture of the one before as it is.
family filter
seed 210148
workers 1
vector 1
flow a2 10.0.0.130 tcp count 1 size 16 gap 1ms ttl 64 ports 80 80
capture wall pcap
restart wall workers 3
capture wall full

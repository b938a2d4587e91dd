# A capture brings a lookup that remembers flows to one worker: it knows there what the others have remembered.
family paths
seed 50008
workers 3
vector 1
knob memory 1
flow a2 10.9.0.5 tcp count 2 size 16 gap 50us ttl 64 ports 33323 443 spread
wait 400us
capture r pcapng

# A host inside reaches the other one by what that is outside, which is one of these ports, and is answered.
family nat64
seed 3
workers 2
vector 32
knob filter 1
knob range 1
flow a 64:ff9b::cb00:7109 udp count 3 size 64 gap 50us ttl 64 ports 7 80
wait 5ms
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5000
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5001
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5002
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5003
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5004
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5005
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5006
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5007
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5008
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5009
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5010
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5011
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5012
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5013
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5014
flow a2 64:ff9b::cb00:7102 udp count 2 size 64 gap 50us ttl 64 ports 2000 5015

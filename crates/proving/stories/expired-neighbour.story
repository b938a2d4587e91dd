# A neighbour that has not been heard of for too long stays in the table through a swap, until its time comes.
family nat
seed 20623
workers 1
vector 1
flow a 203.0.113.1 ping count 1 size 64 gap 1ms ttl 64 ports 2006 80
wait 1ms
leap 300s
swap nat range 0

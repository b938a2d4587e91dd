# Translations go on when another process takes over: answers still find who asked.
family nat
seed 1
workers 2
vector 8
flow a 203.0.113.1 udp count 40 size 64 gap 1ms ttl 64 ports 2000 7
wait 5ms
upgrade nat

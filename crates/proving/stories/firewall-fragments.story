# Packets in fragments pass like others: answers of UDP over IPv6, and connections of TCP, whose segments are longer than their first fragments.
family firewall
seed 1
workers 2
vector 32
flow a 2001:db8:2::a udp count 5 size 3000 gap 50us ttl 64 ports 2001 7
flow a 10.0.2.11 udp count 5 size 3000 gap 50us ttl 64 ports 2002 7
wait 50ms
flow a 2001:db8:2::a tcp count 10 size 2000 gap 20ms ttl 64 ports 3001 7
flow a2 10.0.2.11 tcp count 10 size 2000 gap 20ms ttl 64 ports 3002 7
flow b 10.0.1.10 tcp count 10 size 2000 gap 20ms ttl 64 ports 3003 443
flow b2 2001:db8:1::b tcp count 10 size 2000 gap 20ms ttl 64 ports 3004 25
wait 300ms
swap wall tap 2
flow b 2001:db8:1::a udp count 5 size 3000 gap 50us ttl 64 ports 3100 99

// A filter in the cable between clients and web servers that replaces certain words in the servers' answers.
//
// eth0 leads to the clients, eth1 to the servers. The filter has no addresses of its own, and frames keep their Ethernet headers.
// Connections to TCP port 80 are inspected; all other traffic passes.
//
// Clients' requests lose the line in which they offer to accept compressed content, since words cannot be found in that. In servers'
// answers the words are searched for in the content of messages only, also across packets; they are replaced, and the messages then give
// their new length. `clique ctl` shows how many words there were: read words.found. A connection that does not speak HTTP is closed.
//
// The interfaces are in memory. On a machine with network cards only FromMemory and ToMemory have to be replaced.

to_clients :: ToMemory(eth0);
to_servers :: ToMemory(eth1);

// From the clients.
from_clients :: FromMemory(eth0) -> frames :: Classifier(12/0800, -);
frames[0] -> Strip(14) -> CheckIPHeader -> requests :: IPClassifier(dst tcp port 80, -);
requests[0] -> up :: IPIn;
requests[1] -> Unstrip(14) -> to_servers;
frames[1] -> to_servers;

// From the servers.
from_servers :: FromMemory(eth1) -> answer_frames :: Classifier(12/0800, -);
answer_frames[0] -> Strip(14) -> CheckIPHeader -> answers :: IPClassifier(src tcp port 80, -);
answers[0] -> down :: IPIn;
answers[1] -> Unstrip(14) -> to_clients;
answer_frames[1] -> to_clients;

// Each arrow ~tcp> stands for a TCPIn, which is the other one's other direction, and ~/tcp> for the TCPOut that belongs to it.
up ~tcp> HTTPIn(NOENC true) -> HTTPOut ~/tcp> Unstrip(14) -> to_servers;
down ~tcp> HTTPIn
  -> words :: WordMatcher(WORD rascal, WORD scoundrel, MODE FULL, MSG "[...]", ALL true)
  -> HTTPOut ~/tcp> Unstrip(14) -> to_clients;

// Both directions of a connection have to be on one worker.
StaticThreadSched(from_clients 0, from_servers 0);

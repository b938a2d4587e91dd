// Packets a second on each connection, by what elements count. Where nothing counts, what goes in comes out: elements that make, absorb and hold
// no packets pass all of them on, or drop them. What is not known then is estimated by the sample of the turns.

// A difference of counts that are read one after the other is only worth something if it is not small.
const NOISE = 0.02;

// now: maps of names to packets a second: {packets, received, sent, lost, sampled}.
// Returns for each connection {value, exact}, or nothing where it is not known.
export function edgeRates({ elements, connections }, now) {
  const into = elements.map(() => []), outOf = elements.map(() => []);
  connections.forEach(({ from, to }, at) => { outOf[from].push(at); into[to].push(at); });
  const rates = connections.map(() => undefined);
  const set = (at, value, exact) => {
    if (value === undefined || rates[at]) return false;
    rates[at] = { value: Math.max(0, value), exact };
    return true;
  };
  elements.forEach(({ name, passes }, at) => {
    const [ins, outs] = [into[at], outOf[at]];
    if (ins.length === 1) set(ins[0], now.sent.get(name), true);
    if (outs.length === 1) set(outs[0], now.received.get(name), true);
    if (ins.length === 1 && (passes || !outs.length)) set(ins[0], now.packets.get(name), true);
    if (!ins.length && outs.length === 1) set(outs[0], now.packets.get(name), true);
  });
  const sum = list => list.reduce((sum, at) => sum + rates[at].value, 0);
  const known = list => list.every(at => rates[at]);
  const exact = list => list.every(at => !rates[at] || rates[at].exact);
  const conserve = noise => {
    for (let found = true; found;) {
      found = false;
      elements.forEach(({ name, passes }, at) => {
        const [ins, outs, lost] = [into[at], outOf[at], now.lost.get(name) ?? 0];
        const ends = now.packets.get(name);
        if (!outs.length && ends !== undefined) {
          const others = ins.filter(edge => rates[edge]), missing = ins.filter(edge => !rates[edge]);
          const rest = ends - sum(others);
          if (!ends) for (const edge of missing) found = set(edge, 0, true) || found;
          else if (missing.length === 1 && rest > noise * ends) found = set(missing[0], rest, exact(others)) || found;
        }
        if (!passes) return;
        const missing = [...ins, ...outs].filter(edge => !rates[edge]);
        const sure = exact([...ins, ...outs]);
        if (known(ins) && !sum(ins)) for (const edge of outs) found = set(edge, 0, sure) || found;
        if (missing.length !== 1 || !outs.length) return;
        const [edge] = missing;
        if (known(ins)) {
          const others = outs.filter(other => other !== edge);
          const value = sum(ins) - lost - sum(others);
          if (value > noise * sum(ins) || !others.length && !lost) found = set(edge, value, sure) || found;
        } else if (ins.length === 1) {
          found = set(edge, sum(outs) + lost, sure) || found;
        }
      });
    }
  };
  conserve(NOISE);
  // Packets that are pushed into a queue and pulled out of it are seen twice.
  const isQueue = at => into[at].some(edge => connections[edge].push) && outOf[at].some(edge => !connections[edge].push);
  connections.forEach(({ from, to }, at) => {
    if (into[to].length === 1 && !isQueue(to)) set(at, now.sampled.get(elements[to].name), false);
    if (!into[from].length && outOf[from].length === 1) set(at, now.sampled.get(elements[from].name), false);
  });
  conserve(NOISE);
  return rates;
}

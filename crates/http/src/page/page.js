// The page: asks the interface once a second, and draws what it says.
import { flows } from "./flows.js";
import { layout } from "./layout.js";
import { argumentsOf, manualOf } from "./manual.js";
import { edgeRates } from "./rates.js";
import { tables } from "./tables.js";
import { trace } from "./trace.js";

const get = async path => {
  const answer = await fetch(path);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
};
const $ = id => document.getElementById(id);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// 1234567 as 1.23 M.
function short(number) {
  for (const [size, letter] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (number >= size) return (number / size).toPrecision(3) + letter;
  }
  return number >= 10 || Number.isInteger(number) ? Math.round(number).toString() : number.toFixed(1);
}

// 1234.5 nanoseconds as 1.23 µs.
const time = ns => ns < 999.5 ? ns.toPrecision(3) + " ns" : (ns / 1000).toPrecision(3) + " µs";

let graph = { elements: [], connections: [] };

// What is behind an output of an element: its name, or that of the compound element that it is in.
function behind(name, output) {
  const from = graph.elements.findIndex(element => element.name === name);
  const link = graph.connections.find(link => link.from === from && link.from_port === Number(output));
  return link && graph.elements[link.to].name.split("/")[0];
}
const shownTables = tables($("tables-section"), $("tables"), { get, html, svg, behind });
const shownFlows = flows($("flows-section"), $("flows"), { get, html });
trace($("trace"), { html, choose });
let scope = "";
let chosen = null;
let writable = false;
let token = "";
let before = null;
const drawn = new Map();
// Lines between boxes: each with its connections and the text that says their rate.
let lines = [];
// Whether boxes have the colours of their costs.
let costly = false;
// The last states, from which costs and estimates are made.
let past = [];
const PAST = 10;
// Batches that must have been seen for an estimate.
const SEEN = 16;

// The part of a name that is a box within the scope: an element, or a compound element with all that is in it.
function boxOf(name) {
  if (!name.startsWith(scope)) return null;
  const rest = name.slice(scope.length);
  const slash = rest.indexOf("/");
  return slash < 0 ? { key: name, title: rest, compound: false } : { key: scope + rest.slice(0, slash) + "/", title: rest.slice(0, slash), compound: true };
}

function draw() {
  const boxes = new Map();
  const of = graph.elements.map(element => {
    const box = boxOf(element.name) ?? { key: " " + element.name.split("/")[0], title: element.name.split("/")[0], outside: true };
    if (!boxes.has(box.key)) boxes.set(box.key, { ...box, elements: [], linked: false });
    boxes.get(box.key).elements.push(element);
    return box.key;
  });
  const edges = new Map();
  graph.connections.forEach(({ from, to, push }, at) => {
    const [a, b] = [boxes.get(of[from]), boxes.get(of[to])];
    if (a === b && a.compound || a.outside && b.outside) return;
    a.linked = b.linked = true;
    const key = a.key + "\n" + b.key + push;
    if (!edges.has(key)) edges.set(key, { a, b, push, connections: [] });
    edges.get(key).connections.push(at);
  });
  const nodes = [...boxes.values()].filter(box => box.linked);
  const classOf = box => box.compound ? `${box.elements.length} elements` : box.outside ? "outside" : box.elements[0].class;
  nodes.forEach((box, at) => { box.at = at; box.width = Math.max(70, 7.4 * Math.max(box.title.length, classOf(box).length) + 18); });
  lines = [...edges.values()];
  const placed = layout(nodes, lines.map(({ a, b }) => [a.at, b.at]));
  const picture = svg("svg", { width: placed.width + 40, height: placed.height + 20, viewBox: `-20 -10 ${placed.width + 40} ${placed.height + 20}` });
  picture.append(svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    svg("path", { d: "M0,0 L8,4 L0,8 z", class: "arrow" }))));
  const labels = lines.map((line, at) => {
    const { a, b, push } = line;
    const points = placed.edges[at];
    const down = points[0].y <= points.at(-1).y;
    let d = `M${points[0].x},${points[0].y + (down ? 46 : 0)}`;
    for (let n = 1; n < points.length; n++) {
      const [a, b] = [points[n - 1], points[n]];
      const [y1, y2] = down ? [a.y + 46, b.y - 2] : [a.y, b.y + 48];
      const bend = (y2 - y1) / 2;
      d += ` C${a.x},${y1 + bend} ${b.x},${y2 - bend} ${b.x},${y2}`;
      if (n + 1 < points.length) d += ` L${b.x},${down ? b.y + 46 : b.y}`;
    }
    picture.append(svg("path", { d, class: "edge" + (push ? "" : " pull"), "marker-end": "url(#arrow)" }));
    // Near the end that has the fewest lines, so that texts do not lie on each other.
    const [leave, arrive] = [lines.filter(other => other.a === a).length, lines.filter(other => other.b === b).length];
    const far = arrive < leave;
    const [p, q] = far ? [points.at(-1), points.at(-2)] : [points[0], points[1]];
    const away = far === down ? -14 : 60;
    line.label = svg("text", { x: p.x + (q.x - p.x) * 0.14, y: p.y + away, class: "flow" });
    return line.label;
  });
  drawn.clear();
  nodes.forEach((box, at) => {
    const { x, y } = placed.nodes[at];
    const open = () => box.compound ? enter(box.key) : box.outside ? enter(parent(scope)) : choose(box.elements[0].name);
    const rate = svg("text", { y: 42, class: "rate" }), cost = svg("text", { y: 42, class: "cost" });
    const kind = box.compound ? " compound" : box.outside ? " outside" : box.elements[0].name === chosen ? " chosen" : "";
    const node = svg("g", {
      class: "node" + kind, transform: `translate(${x},${y})`, tabindex: 0, role: "button", "aria-label": `${box.title}, ${classOf(box)}`, onclick: open,
      onkeydown: event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } },
    }, svg("title", {}, box.elements.map(element => `${element.name} :: ${element.class}(${element.config})`).join("\n").slice(0, 2000)),
    svg("rect", { x: -box.width / 2, y: 0, width: box.width, height: 46, rx: 5 }),
    svg("text", { y: 16 }, box.title), svg("text", { y: 29, class: "class" }, classOf(box)), rate, cost);
    picture.append(node);
    if (!box.outside) box.elements.forEach(element => drawn.set(element.name, { node, rate, cost, box }));
  });
  picture.append(...labels);
  $("graph").replaceChildren(picture);
  if (seen !== scope) seeEntry(nodes, placed);
  const alone = [...boxes.values()].filter(box => !box.linked && !box.outside);
  $("aside").replaceChildren(...alone.map(box => html("button", { onclick: () => choose(box.elements[0].name) }, `${box.title} :: ${classOf(box)}`)));
  const steps = scope.split("/").slice(0, -1);
  $("path").replaceChildren(html("button", { onclick: () => enter("") }, "router"),
    ...steps.map((step, at) => html("button", { onclick: () => enter(steps.slice(0, at + 1).join("/") + "/") }, "/ " + step)));
}

// The scope whose entry has been brought into sight.
let seen = null;

// Scrolls to where packets come in: of the boxes that nothing leads to, the one from which most are reached.
function seeEntry(nodes, placed) {
  const view = $("graph");
  if (!view.clientWidth) return;
  seen = scope;
  const next = nodes.map(box => lines.filter(({ a, b }) => a === box && b !== box).map(({ b }) => b.at));
  const reached = start => {
    const found = new Set([start]);
    for (const at of found) next[at].forEach(to => found.add(to));
    return found.size;
  };
  const entries = nodes.filter(box => !lines.some(({ a, b }) => b === box && a !== box));
  const counts = new Map(entries.map(box => [box, reached(box.at)]));
  const entry = entries.sort((a, b) => counts.get(b) - counts.get(a))[0] ?? nodes[0];
  if (!entry) return;
  const { x, y } = placed.nodes[entry.at];
  view.scrollTo(x + 20 - view.clientWidth / 2, y - 10);
}

// What is shown is part of the address: it can be kept and passed on.
function keep() {
  const parts = new URLSearchParams();
  if (scope) parts.set("in", scope);
  if (chosen) parts.set("element", chosen);
  if (costly) parts.set("cost", 1);
  window.history.replaceState(null, "", "#" + parts);
}

// Shows what the address says.
function follow() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const name = parts.get("element"), inside = parts.get("in") ?? "";
  $("cost").checked = costly = parts.has("cost");
  if (graph.elements.some(element => element.name.startsWith(inside))) scope = inside;
  if (graph.elements.some(element => element.name === name)) choose(name);
  else draw();
}

const parent = name => name.split("/").slice(0, -2).map(part => part + "/").join("");
function enter(name) { scope = name; draw(); keep(); }

async function choose(name) {
  chosen = name;
  const inside = parent(name + "/");
  if (inside !== scope) scope = inside;
  draw();
  keep();
  const panel = $("element");
  panel.hidden = false;
  try {
    const element = await get("api/v1/elements/" + encodeURI(name));
    const output = html("pre", { "aria-live": "polite" }, "Choose a handler.");
    const argument = html("input", { placeholder: "argument", "aria-label": "argument" });
    const read = async handler => {
      try { output.textContent = (await get(`api/v1/handlers/${encodeURI(name)}.${handler}?argument=${encodeURIComponent(argument.value)}`)).value || "(empty)"; }
      catch (error) { output.textContent = error.message; }
    };
    const buttons = element.handlers.filter(handler => handler.read).map(handler =>
      html("li", {}, html("button", { onclick: () => read(handler.name), title: handler.argument ? "takes an argument" : "" }, handler.name + (handler.argument ? " …" : ""))));
    const manual = await get("api/v1/manuals/" + encodeURIComponent(element.class));
    if (chosen !== name) return;
    const given = argumentsOf(element.config);
    panel.replaceChildren(html("h2", {}, `${element.name} :: ${element.class}`),
      given.length ? html("ol", { class: "arguments", "aria-label": "arguments" }, ...given.map(text => html("li", {}, html("code", {}, text)))) : html("p", {}, "no arguments"),
      html("p", {}, `${element.landmark}; ${element.workers.length === 1 ? "worker" : "workers"} ${element.workers.join(", ")}`),
      html("label", {}, "Argument ", argument), html("ul", { class: "handlers" }, ...buttons), output, ...writing(element, output),
      html("details", { class: "manual", open: "" }, html("summary", {}, `Manual of ${manual.class}`),
        html("p", { class: "dim" }, `ports ${manual.ports}, processing ${manual.processing}, flow ${manual.flow}${manual.alias_of ? `; another name of ${manual.alias_of}` : ""}`),
        ...manualOf(manual.text, html), ...packetsOf(manual)),
      html("button", { onclick: () => { panel.hidden = true; chosen = null; draw(); keep(); } }, "close"));
  } catch (error) {
    panel.replaceChildren(html("p", { class: "bad" }, error.message));
  }
}

// What elements of a class do with packets but hand them on or drop them.
function packetsOf({ makes, absorbs, holds, live }) {
  const said = Object.entries({ Makes: makes, Absorbs: absorbs, Holds: holds }).filter(([, what]) => what).map(([verb, what]) => `${verb} ${what}.`);
  if (live) said.push("Takes new arguments while it runs, by the handler config.");
  return said.length ? [html("p", {}, said.join(" "))] : [];
}

// What writes handlers, where the server lets one.
function writing(element, output) {
  const handlers = element.handlers.filter(handler => handler.write);
  if (!writable || !handlers.length) return [];
  const name = html("select", { "aria-label": "handler" }, ...handlers.map(handler => html("option", {}, handler.name)));
  const value = html("textarea", { rows: 2, "aria-label": "value" });
  const secret = html("input", { type: "password", placeholder: "token", "aria-label": "token", autocomplete: "off", value: token });
  const write = async () => {
    token = secret.value;
    const answer = await fetch(`api/v1/handlers/${encodeURI(element.name)}.${name.value}`, { method: "PUT", body: value.value, headers: { Authorization: "Bearer " + token } });
    const said = await answer.json();
    output.textContent = answer.ok ? said.value || "written" : said.error;
  };
  return [html("p", {}, name, " ", value, " ", secret, " ", html("button", { onclick: write }, "write"))];
}

const COUNTED = { packets: "clique_element_packets_total", received: "clique_device_received_packets_total", sent: "clique_device_sent_packets_total" };

// What an element has cost: in the last seconds, if packets were seen, otherwise since the start.
function costsOf(state, now) {
  const old = new Map((past[0]?.costs ?? []).map(cost => [cost.element, cost]));
  const seconds = past.length ? (now - past[0].now) / 1000 : 0;
  past = [...past, { now, costs: state.costs }].slice(-PAST);
  return new Map(state.costs.map(cost => {
    const before = old.get(cost.element);
    const packets = cost.packets - (before?.packets ?? 0);
    const recent = before && packets > 0 ? { packets, ns: cost.ns - before.ns } : cost;
    const rate = before && seconds && cost.batches - before.batches >= SEEN ? packets * state.one_turn_in / seconds : undefined;
    return [cost.element, { ...recent, rate }];
  }));
}

// The colours of costs: boxes in six steps, each twice as dear as the one below.
const STEPS = 6;
let latest = null;
function paint(costs) {
  latest = costs;
  const perNode = new Map();
  for (const [name, at] of drawn) {
    const cost = costs.get(name);
    const sum = perNode.get(at.node) ?? { at, ns: 0, packets: 0 };
    if (cost) { sum.ns += cost.ns; sum.packets = Math.max(sum.packets, cost.packets); }
    perNode.set(at.node, sum);
  }
  const each = sum => sum.packets ? sum.ns / sum.packets : 0;
  const most = Math.max(1, ...[...perNode.values()].map(each));
  for (const sum of perNode.values()) {
    const step = costly && sum.packets ? Math.max(0, STEPS - 1 + Math.round(Math.log2(each(sum) / most))) : -1;
    for (let n = 0; n < STEPS; n++) sum.at.node.classList.toggle("heat" + n, n === step);
    sum.at.cost.textContent = costly && sum.packets ? time(each(sum)) : "";
    sum.at.rate.classList.toggle("aside", costly);
  }
  $("scale").textContent = costly ? `time a packet, ${time(most)} at most` : "";
}

// The rates on the lines.
function label(rates) {
  for (const { connections, label } of lines) {
    const of = connections.map(at => rates[at]);
    const value = of.reduce((sum, rate) => sum + (rate?.value ?? 0), 0);
    const exact = of.every(rate => rate?.exact);
    label.textContent = value >= 0.05 ? (exact ? "" : "≈ ") + short(value) + "/s" : "";
  }
}

function show(state) {
  const now = state.at_ms;
  // Another client has just been told the same.
  if (before?.now === now) return;
  const seconds = before ? (now - before.now) / 1000 : 0;
  const rate = (value, old) => before && old !== undefined && value >= old ? (value - old) / seconds : 0;
  const counts = Object.fromEntries(Object.entries(COUNTED).map(([kind, metric]) =>
    [kind, new Map(state.readings.filter(reading => reading.metric === metric).map(reading => [reading.element, Number(reading.value)]))]));
  const packets = new Map([...counts.sent, ...counts.received, ...counts.packets]);
  const lost = new Map();
  const rows = state.drops.map(drop => {
    const key = drop.element + "\n" + drop.reason;
    if (!drop.told) lost.set(drop.element, (lost.get(drop.element) ?? 0) + rate(drop.packets, before?.drops.get(key)));
    return { ...drop, key, rate: rate(drop.packets, before?.drops.get(key)) };
  });
  const perNode = new Map();
  for (const [name, at] of drawn) {
    const sum = perNode.get(at.node) ?? { at, packets: 0, lost: 0 };
    sum.packets = Math.max(sum.packets, rate(packets.get(name) ?? 0, before?.packets.get(name) ?? 0));
    sum.lost += lost.get(name) ?? 0;
    perNode.set(at.node, sum);
  }
  for (const { at, packets, lost } of perNode.values()) {
    at.node.classList.toggle("drops", lost > 0);
    at.rate.textContent = [packets > 0 && short(packets) + "/s", lost > 0 && "−" + short(lost) + "/s"].filter(Boolean).join("  ");
    at.rate.classList.toggle("lost", lost > 0);
  }
  const costs = costsOf(state, now);
  if (before) {
    const perSecond = kind => new Map([...counts[kind]].map(([name, value]) => [name, rate(value, before.counts[kind].get(name))]));
    const sampled = new Map([...costs].filter(([, cost]) => cost.rate !== undefined).map(([name, cost]) => [name, cost.rate]));
    label(edgeRates(graph, { packets: perSecond("packets"), received: perSecond("received"), sent: perSecond("sent"), lost, sampled }));
  }
  paint(costs);
  const cell = (value, number) => html("td", number ? { class: "number" } : {}, value);
  rows.sort((a, b) => b.rate - a.rate || b.packets - a.packets);
  $("drops").tBodies[0].replaceChildren(...(rows.length ? rows.slice(0, 50).map(row =>
    html("tr", {}, html("td", {}, html("button", { onclick: () => choose(row.element) }, row.element)), cell(row.reason + (row.told ? " (senders told by ICMP)" : "")), cell(short(row.packets), true), cell(short(row.rate), true)))
    : [html("tr", {}, html("td", { colspan: 4 }, "none"))]));
  $("workers").tBodies[0].replaceChildren(...state.workers.map((worker, at) => html("tr", {}, cell(at + (worker.up ? "" : " does not answer")),
    html("td", {}, html("meter", { value: worker.load, max: 1, "aria-label": "load" }), " " + Math.round(worker.load * 100) + " %"),
    cell(short(rate(worker.packets, before?.workers[at]?.packets)), true), cell(`${short(worker.buffers[0])}`, true))));
  const list = entries => entries.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
  const { rcu, totals } = state;
  $("rcu").replaceChildren(...list([["grace periods", short(rcu.grace_periods)], ["waiting", short(rcu.waiting_bytes) + "B of " + short(rcu.limit_bytes) + "B"],
    ["readers", rcu.readers], ["stalls", rcu.stalls]]));
  $("totals").replaceChildren(...list([["in", short(rate(totals.received, before?.totals.received)) + "/s"], ["out", short(rate(totals.sent, before?.totals.sent)) + "/s"],
    ["dropped", short(rate(totals.dropped, before?.totals.dropped)) + "/s"]]));
  before = { now, counts, packets, totals, workers: state.workers, drops: new Map(rows.map(row => [row.key, row.packets])) };
}

function showHistory(samples) {
  const names = ["received", "sent", "dropped"];
  const points = samples.slice(1).map((sample, at) => ({
    at: sample.at_s, ...Object.fromEntries(names.map(name => [name, Math.max(0, sample[name] - samples[at][name]) / Math.max(1, sample.at_s - samples[at].at_s)])),
  }));
  if (points.length < 2) { $("history").textContent = "The first minute is not over yet."; return; }
  const [width, height, left, top] = [640, 200, 54, 22];
  const most = Math.max(1, ...points.flatMap(point => names.map(name => point[name])));
  const end = points.at(-1).at, begin = Math.min(points[0].at, end - 600);
  const place = (at, value) => `${(left + (at - begin) / (end - begin) * (width - left)).toFixed(1)},${(height - 20 - value / most * (height - 20 - top)).toFixed(1)}`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "packets a second in the last hour" });
  for (const part of [0, 0.5, 1]) {
    const y = height - 20 - part * (height - 20 - top);
    picture.append(svg("path", { class: "grid", d: `M${left},${y}H${width}` }), svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, short(most * part)));
  }
  names.forEach((name, at) => picture.append(svg("path", { class: name, d: "M" + points.map(point => place(point.at, point[name])).join("L") }),
    svg("path", { class: name, d: `M${left + at * 130},8h18` }), svg("text", { x: left + at * 130 + 24, y: 12 }, name + "/s")));
  picture.append(svg("text", { x: left, y: height - 4 }, `${Math.round((end - begin) / 60)} minutes ago`), svg("text", { x: width, y: height - 4, "text-anchor": "end" }, "now"));
  $("history").replaceChildren(picture);
}

async function reload() {
  const summary = await get("api/v1");
  writable = summary.writable;
  $("summary").textContent = `version ${summary.version}, ${summary.workers} ${summary.workers === 1 ? "worker" : "workers"}, ${summary.elements} elements`;
  $("summary").classList.remove("bad");
  graph = await get("api/v1/graph");
  if (!graph.elements.some(element => element.name.startsWith(scope))) scope = "";
  $("names").replaceChildren(...graph.elements.map(element => html("option", { value: element.name })));
  before = null;
  past = [];
  seen = null;
  follow();
  await shownTables.reload();
  await shownFlows.reload();
}

function listen() {
  const events = new EventSource("api/v1/events");
  events.onmessage = event => {
    $("events").prepend(html("li", {}, `${new Date().toLocaleTimeString()} ${event.data}`));
    while ($("events").children.length > 200) $("events").lastChild.remove();
  };
  // The stream ends when another configuration takes over.
  events.onerror = () => { events.close(); setTimeout(listen, 2000); };
}

let known = "";
async function tick() {
  if (!document.hidden) {
    try {
      const state = await get("api/v1/state");
      const summary = await get("api/v1");
      const now = `${summary.elements} ${summary.workers} ${summary.configuration}`;
      if (now !== known) { known = now; await reload(); }
      show(state);
    } catch (error) {
      known = "";
      $("summary").textContent = error.message || "the router does not answer";
      $("summary").classList.add("bad");
    }
  }
  setTimeout(tick, 1000);
}

$("find").addEventListener("change", event => { if (graph.elements.some(element => element.name === event.target.value)) choose(event.target.value); });
$("cost").addEventListener("change", event => { costly = event.target.checked; keep(); if (latest) paint(latest); });
window.addEventListener("hashchange", follow);
tick();
listen();
const hour = async () => { try { showHistory(await get("api/v1/history")); } catch { /* the header says so */ } };
hour();
setInterval(hour, 10000);
setInterval(() => { if (!document.hidden) { shownTables.refresh(); shownFlows.refresh(); } }, 5000);

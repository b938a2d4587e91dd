// The ways of packets, as they happen.

// Packets that are shown.
const SHOWN = 50;

const words = step => ({ starts: "comes in", dropped: "DROPPED: " + step.reason, kept: "kept for a while", ends: "ends here" })[step.what] ?? step.because ?? "";
const placeOf = step => (step.input ? `[${step.input}]` : "") + step.element;

// Fills a section. `choose` opens an element.
export function trace(place, { html, choose }) {
  const filter = html("input", { type: "search", autocomplete: "off", placeholder: "udp and dst 10.0.0.0/8", size: 24 });
  const packets = html("input", { type: "number", min: 1, max: 10000, value: 5 });
  const start = html("button", { onclick: () => events ? stop("stopped") : begin() }, "start");
  const said = html("span", { "aria-live": "polite" }), list = html("ol", { class: "ways" });
  place.replaceChildren(html("div", { class: "bar" }, html("label", {}, "Filter", filter), html("label", {}, "Packets", packets), start, said), list);
  let events = null, ways = new Map();

  function stop(why) {
    events?.abort();
    events = null;
    start.textContent = "start";
    said.textContent = why;
  }

  function show(step) {
    if (!ways.has(step.packet)) {
      if (ways.size === SHOWN) return;
      const way = html("ol");
      ways.set(step.packet, { way, began: step.seen.at_ns });
      list.append(html("li", {}, step.seen.summary ?? `${step.seen.len} bytes`, way));
    }
    const { way, began } = ways.get(step.packet);
    const us = ((step.seen.at_ns - began) / 1000).toFixed(1);
    way.append(html("li", step.what === "dropped" ? { class: "bad" } : {}, `${us} µs `, html("button", { onclick: () => choose(step.element) }, placeOf(step)), ` ${step.class} ${words(step)}`));
  }

  async function begin() {
    list.replaceChildren();
    ways = new Map();
    start.textContent = "stop";
    said.textContent = "waiting for packets";
    const path = "api/v1/trace?" + new URLSearchParams({ filter: filter.value.trim(), packets: packets.value, seconds: 30 });
    const mine = events = new AbortController();
    try {
      // A stream of events as fetch reads it: EventSource does not say why it is refused.
      const answer = await fetch(path, { signal: mine.signal });
      if (!answer.ok) throw new Error((await answer.json()).error);
      let rest = "";
      for await (const part of parts(answer.body.pipeThrough(new TextDecoderStream()).getReader())) {
        const lines = (rest + part).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          if (!line.startsWith("data: ")) continue;
          const step = JSON.parse(line.slice(6));
          if (step.end) { stop(`${step.packets} ${step.packets === 1 ? "packet" : "packets"}${step.lost ? `, ${step.lost} steps lost` : ""}`); return; }
          said.textContent = "";
          show(step);
        }
      }
      if (events === mine) stop("the trace has ended");
    } catch (error) {
      if (events === mine) stop(error.message);
    }
  }
}

async function* parts(reader) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

// Flows that elements remember, a page at a time.

const ROWS = 12;
// Longer lists, and those that a filter has to be tried on, are read anew only when asked for: elements look through all their flows for them.
const SHORT = 1000;
const FIRST = ["protocol", "source", "sport", "destination", "dport", "state"];

// Fills a section, which stays hidden while no element remembers flows.
export function flows(section, place, { get, html }) {
  const find = html("input", { type: "search", autocomplete: "off", placeholder: "tcp dport 443", size: 24, onchange: () => open(0) });
  const choice = html("select", { "aria-label": "element", onchange: () => open(0) });
  const said = html("p", { "aria-live": "polite" }), where = html("span", { "aria-live": "polite" });
  const back = html("button", { onclick: () => open(from - ROWS) }, "back"), on = html("button", { onclick: () => open(from + ROWS) }, "on");
  const head = html("thead"), body = html("tbody");
  place.replaceChildren(html("div", { class: "bar" }, choice, html("label", {}, "Filter", find)), said, html("div", { class: "rows" }, html("table", {}, head, body)),
    html("div", { class: "bar" }, back, on, html("button", { onclick: () => open(from) }, "read again"), where));
  let from = 0, asked = 0, total = 0;

  const text = value => typeof value === "object" && value ? Object.values(value).map(text).join(" ") : String(value ?? "");

  async function open(first) {
    const number = ++asked;
    from = Math.max(0, first);
    const query = new URLSearchParams({ from, count: ROWS, filter: find.value.trim() });
    if (choice.value) query.set("element", choice.value);
    let page = { elements: [], flows: [], total: 0 }, wrong = "";
    try { page = await get("api/v1/flows?" + query); } catch (error) { wrong = error.message; }
    if (number !== asked) return; // something else has been chosen meanwhile
    const names = new Set(page.flows.flatMap(({ flow }) => Object.keys(flow)));
    const columns = [...FIRST.filter(name => names.has(name)), ...[...names].filter(name => !FIRST.includes(name))];
    said.textContent = wrong;
    total = page.total;
    head.replaceChildren(html("tr", {}, ...["element", ...columns].map(name => html("th", {}, name))));
    body.replaceChildren(...page.flows.map(({ element, flow }) => html("tr", {}, html("td", {}, element), ...columns.map(name => html("td", {}, text(flow[name]))))));
    where.textContent = page.flows.length ? `${from + 1} to ${from + page.flows.length} of ${page.total.toLocaleString()}` : "none";
    back.disabled = from === 0;
    on.disabled = from + ROWS >= page.total;
  }

  return {
    // Another configuration runs.
    async reload() {
      const { elements } = await get("api/v1/flows?count=0");
      const chosen = choice.value;
      choice.replaceChildren(html("option", { value: "" }, "all elements"), ...elements.map(({ element }) => html("option", {}, element)));
      if (elements.some(({ element }) => element === chosen)) choice.value = chosen;
      section.hidden = !elements.length;
      if (elements.length) await open(0);
    },
    refresh() { if (!section.hidden && total <= SHORT && !find.value.trim()) open(from); },
  };
}

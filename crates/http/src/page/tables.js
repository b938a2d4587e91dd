// The tables of elements, a page of rows at a time: routes, neighbours, IPsec associations, members and links of a cluster.

import { DRAWN, mesh } from "./mesh.js";

const ROWS = 12;
// Longer tables are read anew only when asked for: listing a million routes takes the server a moment.
const SHORT = 1000;

// Fills a section, which stays hidden while the configuration has no tables. `behind` names what is behind an element's output.
export function tables(section, place, { get, html, svg, behind }) {
  const choice = html("select", { "aria-label": "table", onchange: () => open(0) });
  const find = html("input", { type: "search", autocomplete: "off", onchange: () => { wanted = find.value.trim(); open(0); } });
  const hint = html("span", {}, "Find");
  const answer = html("p", { "aria-live": "polite" });
  const where = html("span", { "aria-live": "polite" });
  const back = html("button", { onclick: () => open(from - ROWS) }, "back");
  const on = html("button", { onclick: () => open(from + ROWS) }, "on");
  const head = html("thead"), body = html("tbody"), picture = html("div", { class: "picture" });
  place.replaceChildren(html("div", { class: "bar" }, choice, html("label", {}, hint, find)), answer, picture,
    html("div", { class: "rows" }, html("table", {}, head, body)),
    html("div", { class: "bar" }, back, on, html("button", { onclick: () => open(from) }, "read again"), where));
  let known = [], from = 0, total = 0, asked = 0, wanted = "";

  // Where a route leads: "203.0.113.1: output 2 (p1) via 10.0.2.2".
  async function lookUp(element, address) {
    const { output, gateway, to } = await get(`api/v1/lookup/${encodeURI(element)}?${new URLSearchParams({ address })}`);
    if (output === null) return `${address}: no route`;
    return `${address}: output ${output} (${behind(element, output) ?? to})${gateway ? ` via ${gateway}` : ", on the link"}`;
  }

  function cell(table, column, value = "") {
    const name = column === "output" ? behind(table.element, value) : undefined;
    return html("td", {}, value + (name ? ` (${name})` : ""));
  }

  // A cluster is a picture, too.
  async function draw(table) {
    if (!["members", "links"].includes(table.kind)) return [];
    return [mesh(svg, await get(`api/v1/tables/${table.kind}/${encodeURI(table.element)}?count=${DRAWN}`))];
  }

  async function open(first) {
    const table = known[choice.selectedIndex];
    if (!table) return;
    const number = ++asked, text = wanted, routes = table.kind === "routes";
    from = Math.max(0, first);
    hint.textContent = routes ? "Address or prefix" : "Find";
    const query = new URLSearchParams({ from, count: ROWS });
    if (text && !routes) query.set("find", text);
    if (text.includes("/") && routes) query.set("within", text);
    let said = "", page = { columns: table.columns, rows: [], total: 0 }, drawn = [];
    try {
      if (text && routes && !text.includes("/")) said = await lookUp(table.element, text);
      page = await get(`api/v1/tables/${table.kind}/${encodeURI(table.element)}?${query}`);
      drawn = await draw(table);
    } catch (error) {
      said = error.message;
    }
    if (number !== asked) return; // something else has been chosen meanwhile
    total = page.total;
    answer.textContent = said;
    picture.replaceChildren(...drawn);
    head.replaceChildren(html("tr", {}, ...page.columns.map(column => html("th", {}, column))));
    body.replaceChildren(...page.rows.map(row => html("tr", {}, ...page.columns.map((column, at) => cell(table, column, row[at])))));
    where.textContent = page.rows.length ? `${from + 1} to ${from + page.rows.length} of ${total.toLocaleString()}` : "none";
    back.disabled = from === 0;
    on.disabled = from + ROWS >= total;
  }

  return {
    // Another configuration runs.
    async reload() {
      const chosen = choice.value;
      known = await get("api/v1/tables");
      section.hidden = !known.length;
      choice.replaceChildren(...known.map(({ kind, element }) => html("option", { value: `${kind} ${element}` }, `${kind} of ${element}`)));
      if (known.some(({ kind, element }) => `${kind} ${element}` === chosen)) choice.value = chosen;
      await open(0);
    },
    refresh() { if (total <= SHORT && !section.hidden) open(from); },
  };
}

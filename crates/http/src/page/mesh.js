// A cluster as one of its nodes sees it: itself in the middle, the others around it, and what is known of the way to each.

// Others that are drawn.
export const DRAWN = 64;
const WIDTH = 420, HEIGHT = 240, NODE = 11;

// The picture of rows of `members` or `links`.
export function mesh(svg, { columns, rows }) {
  const [name, state] = [columns.indexOf("node"), columns.indexOf("state")];
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "mesh", "aria-label": rows.map(row => `node ${row[name]} ${row[state]}`).join(", ") });
  const [middle, centre] = [WIDTH / 2, HEIGHT / 2];
  const places = rows.map((row, at) => {
    const angle = 2 * Math.PI * at / rows.length - Math.PI / 2;
    return { row, x: middle + (middle - 3 * NODE) * Math.cos(angle), y: centre + (centre - 2 * NODE) * Math.sin(angle) };
  });
  const up = row => row[state].startsWith("up");
  picture.append(...places.map(({ row, x, y }) => svg("line", { x1: middle, y1: centre, x2: x, y2: y, class: up(row) ? "up" : "down" })));
  const node = (x, y, text, title, kind) => svg("g", { class: kind }, svg("title", {}, title), svg("circle", { cx: x, cy: y, r: NODE }),
    svg("text", { x, y: y + 4 }, text));
  picture.append(node(middle, centre, "", "this node", "self"));
  picture.append(...places.map(({ row, x, y }) => node(x, y, row[name], `node ${row[name]}: ${row[state]}`, up(row) ? "up" : "down")));
  return picture;
}

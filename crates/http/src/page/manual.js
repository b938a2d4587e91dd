// Manuals and arguments of elements, for people.

// The arguments in a configuration string: commas within quotes and brackets are theirs.
export function argumentsOf(config) {
  const found = [""];
  let depth = 0, quote = "";
  for (let at = 0; at < config.length; at++) {
    const letter = config[at];
    if (letter === "\\" && quote !== "'") { found[found.length - 1] += letter + (config[++at] ?? ""); continue; }
    if (quote) { if (letter === quote) quote = ""; }
    else if (letter === '"' || letter === "'") quote = letter;
    else if ("([{".includes(letter)) depth++;
    else if (")]}".includes(letter)) depth--;
    else if (letter === "," && depth <= 0) { found.push(""); continue; }
    found[found.length - 1] += letter;
  }
  return found.map(text => text.trim()).filter(Boolean);
}

// A manual's Markdown as elements: headings, lists, paragraphs and code.
export function manualOf(text, html) {
  const nodes = [];
  let code = null, list = null, words = null;
  const inline = text => text.split("`").map((part, at) => at % 2 ? html("code", {}, part) : part);
  const end = () => { if (words) words.node.append(...inline(words.text)); words = null; };
  const begin = (node, text) => { end(); words = { node, text }; };
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      end(); list = null;
      code = code ? null : html("pre");
      if (code) nodes.push(code);
    } else if (code) code.append(line + "\n");
    else if (!line.trim()) { end(); list = null; }
    else if (line.startsWith("# ")) { end(); list = null; nodes.push(html("h4", {}, line.slice(2))); }
    else if (line.startsWith("- ")) {
      if (!list) nodes.push(list = html("ul"));
      const item = html("li");
      list.append(item);
      begin(item, line.slice(2));
    } else if (words) words.text += " " + line.trim();
    else { const node = html("p"); nodes.push(node); begin(node, line.trim()); }
  }
  end();
  return nodes;
}

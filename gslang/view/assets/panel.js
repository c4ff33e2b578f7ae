"use strict";
/* The side panel. Everything that comes from a file gets into the page as text only. */

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) if (key === "dataset") Object.assign(made.dataset, value); else made[key] = value;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const number = (value) => element("td", { className: "number" }, value.toLocaleString("en"));
const signed = (value) => element("td", { className: `number ${value > 0 ? "plus" : value < 0 ? "minus" : ""}` }, value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0");
const short = (value) => { for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) if (Math.abs(value) >= size) return `${(value / size).toFixed(Math.abs(value) >= 100 * size ? 0 : 1)} ${unit}`; return String(value); };
const shortSigned = (value) => element("td", { className: `number ${value > 0 ? "plus" : value < 0 ? "minus" : ""}`, title: value.toLocaleString("en") }, value > 0 ? `+${short(value)}` : value < 0 ? `−${short(-value)}` : "0");
const shortNumber = (value) => element("td", { className: "number", title: value.toLocaleString("en") }, short(value));
const milliseconds = (seconds) => element("td", { className: "number" }, (1000 * seconds).toFixed(1));
const row = (...cells) => element("tr", {}, ...cells.map((cell) => (cell instanceof Node && cell.nodeName === "TD" ? cell : element("td", {}, cell))));

function table(heads, rows) {
  const cells = heads.map((text, k) => element("th", { scope: "col", className: k ? "number" : "" }, text));
  return element("table", {}, element("thead", {}, element("tr", {}, ...cells)), element("tbody", {}, ...rows));
}

const pairs = (rows) => element("table", { className: "pairs" }, element("tbody", {}, ...rows.map(([name, value]) => row(name, value))));

class Panel {
  constructor(root, { goToNode, goToStep, operandsNow, blockNow, openBlocks }) {
    this.root = root; this.miss = null; this.goToNode = goToNode; this.goToStep = goToStep; this.operandsNow = operandsNow; this.blockNow = blockNow; this.openBlocks = openBlocks;
  }

  render(step, selected) {
    const parts = [];
    if (this.miss) parts.push(...this.whyNot(this.miss));
    if (selected >= 0) parts.push(...this.node(selected));
    if (step > 0) parts.push(...this.change(step));
    if (DATA.misses.length && !this.miss && step === 0) parts.push(...this.misses());
    if (DATA.totals) parts.push(...this.totals()); else if (selected < 0) parts.push(...this.summary());
    this.root.replaceChildren(...parts);
    this.root.scrollTop = 0;
  }

  link(node) {
    const text = `${DATA.label[node]} · ${OPERATOR(node)}`;
    return element("button", { type: "button", className: "link", onclick: () => this.goToNode(node), title: TYPE(node) }, text);
  }

  stepLink(step, text) {
    return element("button", { type: "button", className: "link", onclick: () => this.goToStep(step) }, text);
  }

  block(block) {
    const open = element("button", { type: "button", onclick: () => this.openBlocks(block) }, "Expand");
    return [element("h2", { id: "node-title" }, block.title), pairs(contentsOf(block, Infinity).map((line) => { const [count, ...rest] = line.split(" "); return [count, rest.join(" ")]; })), element("p", {}, open), element("h3", {}, "Result"), pairs([["", this.withType(block.key)]])];
  }

  node(node) {
    const block = this.blockNow(node);
    if (block) return this.block(block);
    const title = element("h2", { id: "node-title" }, `${OPERATOR(node)}  ${DATA.label[node]}`);
    const facts = [["family", FAMILY(node)], ["type", TYPE(node) || "unknown"], ...(DATA.values[node] === undefined ? [] : [["value", DATA.values[node]]])];
    const attributes = ATTRIBUTES(node), { operands, users } = this.operandsNow(node), parts = [title, pairs(facts)];
    if (attributes.length) parts.push(element("h3", {}, "Attributes"), pairs(attributes));
    if (operands.length) parts.push(element("h3", {}, "Operands"), pairs(operands.map((operand, k) => [String(k), operand < 0 ? "(absent)" : this.withType(operand)])));
    if (users.length) parts.push(element("h3", {}, `Users (${users.length})`), pairs(users.slice(0, 30).map((user, k) => [String(k + 1), this.link(user)])));
    const made = DATA.changes.findIndex((change) => change.added.includes(node)), gone = DATA.changes.findIndex((change) => change.removed.includes(node));
    if (made >= 0) parts.push(element("p", {}, "Added by ", this.stepLink(made + 1, `${made + 1}: ${DATA.changes[made].rule}`)));
    if (gone >= 0) parts.push(element("p", {}, "Removed by ", this.stepLink(gone + 1, `${gone + 1}: ${DATA.changes[gone].rule}`)));
    return parts;
  }

  withType(node) {
    return element("span", {}, this.link(node), element("br"), element("span", { className: "dim" }, `${TYPE(node)}${DATA.values[node] === undefined ? "" : ` = ${DATA.values[node]}`}`));
  }

  change(step) {
    const change = DATA.changes[step - 1], rule = change.builtin ? undefined : DATA.rules.find((known) => known.name === change.rule);
    const parts = [element("h2", { id: "change-title" }, `${step}: ${change.rule}`)];
    if (change.builtin) parts.push(element("p", { className: "dim" }, BUILTIN[change.rule] || "A built-in step."));
    if (rule) parts.push(...this.ruleText(rule));
    if (change.bindings.length) parts.push(element("h3", {}, "Bindings"), pairs(change.bindings.map(([name, node]) => [name, this.link(node)])));
    for (const [title, nodes] of [["Removed", change.removed], ["Added", change.added]]) {
      const most = 40, rows = nodes.slice(0, most).map((node) => row(this.link(node)));
      if (nodes.length > most) rows.push(row(`… and ${nodes.length - most} more`));
      if (nodes.length) parts.push(element("h3", {}, `${title} (${nodes.length})`), element("table", {}, element("tbody", {}, ...rows)));
    }
    return parts;
  }

  ruleText(rule) {
    return [
      element("p", { className: "dim" }, `${rule.file}:${rule.line}`),
      rule.doc ? element("p", {}, rule.doc) : null,
      element("pre", { tabIndex: 0 }, rule.text),
    ].filter(Boolean);
  }

  /* Rules that never applied, the nearest to a match first. */
  misses() {
    const most = 12, rows = DATA.misses.slice(0, most).map((miss) => row(
      element("button", { type: "button", className: "link", onclick: () => this.explain(miss) }, miss.rule), number(miss.matched), number(miss.of)));
    return [element("h2", { id: "misses-title" }, "Why not?"), table(["rule that did not apply", "matched", "of"], rows)];
  }

  explain(miss) {
    this.miss = miss;
    this.goToNode(miss.node >= 0 ? miss.node : miss.start, true);
    this.root.scrollTop = 0;
  }

  whyNot(miss) {
    const picture = new DOMParser().parseFromString(miss.picture, "image/svg+xml").documentElement;
    const figure = element("figure", { tabIndex: 0 }, document.importNode(picture, true));
    figure.setAttribute("role", "group"); figure.setAttribute("aria-label", `pattern of ${miss.rule}`);
    const rows = [["matched", `${miss.matched} of ${miss.of} parts`], ["part", miss.part], ["expected", miss.expected], ["found", miss.found]];
    if (miss.help) rows.push(["help", miss.help]);
    if (miss.start >= 0) rows.push(["tried at", this.link(miss.start)]);
    return [
      element("h2", { id: "miss-title" }, `Why not ${miss.rule}?`), figure, pairs(rows), ...this.ruleText(miss),
      element("button", { type: "button", onclick: () => { this.miss = null; this.goToStep(0); } }, "Back"),
    ];
  }

  totals() {
    const { nodes, calls, operators, elsewhere = [], applications, sweeps, stop, work } = DATA.totals, changed = operators.filter(([, a, b]) => a !== b);
    const parts = [element("h2", {}, "Totals")];
    parts.push(table(["", "before", "after", ""], [["nodes", ...nodes], ["calls", ...calls], ...changed].map(([name, a, b]) => row(name, number(a), number(b), signed(b - a)))));
    if (work && (work[0].macs || work[0].bytes)) {
      const rows = [["multiply-adds", "macs"], ["bytes moved", "bytes"]].map(([name, key]) => row(name, shortNumber(work[0][key]), shortNumber(work[1][key]), shortSigned(work[1][key] - work[0][key])));
      parts[1].tBodies[0].append(...rows);
    }
    if (applications === undefined) return parts;
    parts.push(element("p", { className: "dim" }, `${applications} application${applications === 1 ? "" : "s"}, ${sweeps} sweep${sweeps === 1 ? "" : "s"} (${stop})`));
    if (elsewhere.length) parts.push(element("p", { className: "dim" }, `In bodies and local functions, which are not drawn: ${elsewhere.map(([path, count]) => `${path} (${count})`).join(", ")}`));
    const first = new Map();
    DATA.changes.forEach((change, k) => { if (!first.has(change.rule)) first.set(change.rule, k + 1); });
    const rules = DATA.rules.slice().sort((a, b) => b.applications - a.applications);
    const name = (rule) => (first.has(rule.name) ? this.stepLink(first.get(rule.name), rule.name) : rule.name);
    parts.push(element("h2", {}, "Rules"), table(["rule", "applied", "tried", ...(DATA.seconds ? ["ms"] : []), "nodes", "mul-adds", "bytes"], rules.map((rule) => row(name(rule), number(rule.applications), number(rule.candidates), ...(DATA.seconds ? [milliseconds(DATA.seconds[rule.name] || 0)] : []), signed(rule.effect), shortSigned(rule.macs), shortSigned(rule.bytes)))));
    if (DATA.untried.length) parts.push(element("p", { className: "dim" }, `Without a candidate: ${DATA.untried.join(", ")}`));
    if (DATA.skipped.length) parts.push(element("h3", {}, "Skipped"), pairs(DATA.skipped));
    if (DATA.failures.length) parts.push(element("h3", {}, "Not applied"), pairs(DATA.failures.map(([rule, node, message]) => [rule, `at ${node}: ${message}`])));
    return parts;
  }

  summary() {
    const counts = new Map();
    for (let node = 0; node < DATA.first; node++) counts.set(OPERATOR(node), (counts.get(OPERATOR(node)) || 0) + 1);
    const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return [element("h2", {}, "Operators"), table(["operator", "nodes"], [...sorted.map(([name, count]) => row(name, number(count))), row("total", number(DATA.first))])];
  }
}

const BUILTIN = {
  fold: "A built-in step: evaluates nodes that depend only on constants and known parameters.",
  cse: "A built-in step: merges equal calls.",
  difference: "Nodes that occur in only one of the two graphs, and nodes with different operands.",
  finish: "A built-in step at the end of a run: operands that the operator declares as attributes become attributes.",
};

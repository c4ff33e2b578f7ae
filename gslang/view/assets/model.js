"use strict";
/* The graph at each moment of its history, and what of it is drawn. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const FAMILY = (node) => DATA.families[DATA.operators[DATA.op[node]][1]];
const OPERATOR = (node) => DATA.operators[DATA.op[node]][0];
const WEIGHT_NAME = /(^|[._\/])(weights?|kernel|bias|gamma|beta|(running_|moving_)?(mean|var|variance))$/i;
/* How nodes are drawn. Inputs of a file that does not tell weights from data are weights if they are called like one. */
const KINDS = DATA.op.map((operator, node) => {
  const kind = DATA.operators[operator][2];
  return kind === "input" && WEIGHT_NAME.test(DATA.label[node]) ? "weight" : kind;
});
const KIND = (node) => KINDS[node];
const TYPE = (node) => DATA.types[DATA.type[node]];
const ATTRIBUTES = (node) => DATA.attributes[DATA.attrs[node]];
const STEPS = DATA.changes.length;

/* The graph after `step` changes: living nodes, operands where they changed, outputs. */
function stateAfter(step) {
  const alive = new Uint8Array(DATA.op.length).fill(1, 0, DATA.first), rewired = new Map();
  let outputs = DATA.outputs;
  for (const change of DATA.changes.slice(0, step)) {
    for (const node of change.removed) alive[node] = 0;
    for (const node of change.added) alive[node] = 1;
    for (const [node, operands] of change.rewired) rewired.set(node, operands);
    outputs = change.outputs || outputs;
  }
  return { alive, outputs: new Set(outputs), operandsOf: (node) => rewired.get(node) || DATA.operands[node] };
}

/* Nodes that depend on weights and constants only. */
function weightOnly({ alive, operandsOf }) {
  const known = new Int8Array(alive.length);  // 1: yes, -1: no, 2: under way
  for (let start = 0; start < alive.length; start++) {
    if (!alive[start]) continue;
    const stack = [start];
    while (stack.length) {
      const node = stack[stack.length - 1], operands = operandsOf(node).filter((operand) => operand >= 0);
      if (known[node] === 1 || known[node] === -1) { stack.pop(); continue; }
      const open = known[node] === 2 ? [] : operands.filter((operand) => known[operand] === 0);
      if (open.length) { known[node] = 2; stack.push(...open); continue; }
      known[node] = KIND(node) === "weight" || (operands.length && operands.every((operand) => known[operand] === 1)) ? 1 : -1;
      stack.pop();
    }
  }
  return (node) => known[node] === 1;
}

/* The drawn graph of a state: boxes with lines of text, and edges between them. Weights, and what depends on them only, stand inside of
   their users, unless `weights` or the node is one of `always`. With a function `isOpen`, other repeated blocks are one box each. */
function drawn(state, weights, always, isOpen, measure) {
  const { alive, operandsOf } = state, nodes = [], index = new Map(), used = new Uint8Array(alive.length);
  for (let node = 0; node < alive.length; node++) if (alive[node]) for (const operand of operandsOf(node)) if (operand >= 0) used[operand] = 1;
  const isWeight = weightOnly(state), isInside = (node) => !weights && isWeight(node) && used[node] && !state.outputs.has(node) && !always.has(node);
  const visible = [], blocks = new Map(), hidden = new Set();
  for (let node = 0; node < alive.length; node++) if (alive[node] && !isInside(node)) visible.push(node);
  if (isOpen) for (const block of closedBlocks(visible, operandsOf, (one) => isOpen(one) || one.members.some((node) => always.has(node)))) {
    blocks.set(block.key, block);
    for (const node of block.members) if (node !== block.key) hidden.add(node);
  }
  for (const node of visible) if (!hidden.has(node)) { index.set(node, nodes.length); nodes.push(node); }
  for (const block of blocks.values()) for (const node of block.members) index.set(node, index.get(block.key));
  const edges = [], lines = [], titles = [], widths = [], heights = [], spaces = [];
  for (const node of nodes) {
    const block = blocks.get(node), inside = [], seen = new Set([index.get(node)]);
    for (const operand of block ? block.members.flatMap(operandsOf) : operandsOf(node)) {
      const from = index.get(operand), key = from === undefined ? `inside ${operand}` : from;
      if (operand < 0 || seen.has(key)) continue;
      seen.add(key);
      if (from !== undefined) edges.push([from, index.get(node)]);
      else if (!block) inside.push(weightText(operand));
    }
    const text = block ? contentsOf(block, 4) : inside.length > 5 ? [...inside.slice(0, 4), `… ${inside.length - 4} more`] : inside;
    const title = block ? block.title : titleOf(node);
    lines.push(text);
    titles.push(title);
    widths.push(Math.max(KIND(node) === "small" ? 34 : 72, measure(title, true) + 22, ...text.map((line) => measure(line, false) + 18)));
    spaces.push(Math.max(widths[widths.length - 1], Math.min(210, measure(clip(TYPE(node), 40), false) - 10)));
    heights.push(24 + (text.length ? 15 * text.length + 7 : 0));
  }
  return { nodes, index, blocks, edges, lines, titles, widths, heights, spaces };
}

function titleOf(node) {
  const kind = KIND(node), operator = OPERATOR(node);
  if (kind === "small") return operator === "field" ? `.${(ATTRIBUTES(node)[0] || ["", "0"])[1]}` : "( )";
  return clip(kind === "call" ? operator : DATA.label[node], 36);
}

function weightText(node) {
  const value = DATA.values[node], type = TYPE(node);
  if (KIND(node) === "call") return `${clip(OPERATOR(node), 20)}(…)  ${clip(type, 28)}`;
  if (OPERATOR(node) === "constant" && value !== undefined) return clip(value, 34);
  return `${clip(DATA.label[node], 22)}  ${clip(type, 28)}`;
}

const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/* Which nodes belong to which change: in the graph before it those that went, after it those that came. */
function regions(step, side) {
  const found = new Map();
  if (step === 0) {
    DATA.changes.forEach((change, k) => { if (!change.builtin) for (const node of side === "left" ? change.removed : change.added) found.set(node, k); });
  } else {
    const change = DATA.changes[step - 1];
    for (const node of side === "left" ? change.removed : change.added) found.set(node, step - 1);
    for (const [old, now] of change.replaced) if (side === "left") found.set(old, step - 1); else found.set(now, step - 1);
  }
  return found;
}

/* Nodes whose name, operator or type has all words of a query, at most `most`, and how many there are. */
function search(nodes, query, most) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean), first = [];
  let count = 0;
  if (!words.length) return { first, count };
  for (const node of nodes) {
    const text = `${DATA.label[node]} ${OPERATOR(node)} ${TYPE(node)}`.toLowerCase();
    if (words.every((word) => text.includes(word)) && ++count <= most) first.push(node);
  }
  return { first, count };
}

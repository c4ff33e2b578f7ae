"use strict";
/* Repeated blocks of a drawn graph: equal intervals of a depth-first order of its nodes, one after the other, or two with a gap. Operators, attributes and
   wiring count, shapes and names do not. An interval of such an order can be one box without making a cycle. */

const LEAST_BLOCK = 6, LONGEST_BLOCK = 3000, LEAST_APART = 16, MOST_WAYS = 4;

/* The nodes with every operand before its users, those of a layer together. Nodes read throughout the graph, such as masks, come first. */
function orderOf(nodes, operandsOf, first) {
  const known = new Set(nodes), done = new Set(), order = [], used = new Set();
  for (const node of nodes) for (const operand of operandsOf(node)) used.add(operand);
  const visit = (root) => {
    const stack = [[root, 0]];
    if (done.has(root)) return;
    done.add(root);
    while (stack.length) {
      const top = stack[stack.length - 1], operand = operandsOf(top[0])[top[1]++];
      if (operand === undefined) { order.push(top[0]); stack.pop(); } else if (known.has(operand) && !done.has(operand)) { done.add(operand); stack.push([operand, 0]); }
    }
  };
  first.forEach(visit);
  nodes.filter((node) => !used.has(node)).forEach(visit);
  return order;
}

/* Operands as positions, users' extents: [least, greatest] position of the users of each node. */
function wiringOf(order, operandsOf) {
  const position = new Map(order.map((node, k) => [node, k]));
  const operands = order.map((node) => operandsOf(node).map((operand) => (position.has(operand) ? position.get(operand) : -1)));
  const last = new Int32Array(order.length).fill(-1), users = new Int32Array(order.length);
  operands.forEach((list, k) => { for (const operand of list) if (operand >= 0) { last[operand] = k; users[operand]++; } });
  return { operands, last, users };
}

/* Lists of blocks: [[nodes of the first, nodes of the second, …], …]. */
function repeatedBlocks(nodes, operandsOf) {
  let order = orderOf(nodes, operandsOf, []), wiring = wiringOf(order, operandsOf);
  const depth = contractionDepths(order, wiring), far = order.length / 6;
  const everywhere = order.map((_, k) => k).filter((k) => wiring.users[k] >= 2 && wiring.last[k] - k > far).sort((a, b) => depth[a] - depth[b] || a - b).map((k) => order[k]);
  if (everywhere.length) { order = orderOf(nodes, operandsOf, everywhere); wiring = wiringOf(order, operandsOf); }
  const kinds = kindsOf(order), crossing = crossingOf(order, wiring, new Set(everywhere)), candidates = [];
  for (let period = LEAST_BLOCK; period <= Math.min(LONGEST_BLOCK, order.length / 2); period++) {
    for (let k = 0; k + period < order.length; k++) {
      const start = k;
      while (k + period < order.length && kinds[k] === kinds[k + period]) k++;
      if (k - start >= period || (k - start >= LEAST_APART && k - start > 0.6 * period)) candidates.push({ start, period, length: Math.min(k - start, period), end: k + period });
    }
  }
  const size = ({ start, end, period, length }) => (length < period ? 2 * length : end - start - ((end - start) % period));
  candidates.sort((a, b) => size(b) - size(a) || a.period - b.period || a.start - b.start);
  const taken = new Uint8Array(order.length), found = [];
  for (const candidate of candidates) {
    if (taken[candidate.start] || taken[candidate.end - 1]) continue;
    const blocks = divided(candidate, kinds, wiring, crossing);
    const intervals = blocks ? Array.from({ length: blocks.count }, (_, i) => [blocks.start + i * blocks.period, blocks.start + i * blocks.period + blocks.length]) : [];
    if (!intervals.length || intervals.some(([from, to]) => taken.subarray(from, to).some(Boolean))) continue;
    for (const [from, to] of intervals) taken.fill(1, from, to);
    found.push(intervals.map(([from, to]) => order.slice(from, to)));
  }
  return found;
}

/* A number for each node, equal for equal operators with equal attributes and as many operands. */
function kindsOf(order) {
  const known = new Map();
  return Int32Array.from(order, (node) => {
    const key = `${DATA.op[node]} ${DATA.attrs[node]} ${DATA.operands[node].length}`;
    if (!known.has(key)) known.set(key, known.size);
    return known.get(key);
  });
}

/* The most contractions on a path to each node: 0 for masks and shapes, which are computed beside the layers. */
function contractionDepths(order, { operands }) {
  const depth = new Int32Array(order.length);
  order.forEach((node, k) => { depth[k] = operands[k].reduce((most, operand) => (operand < 0 ? most : Math.max(most, depth[operand])), 0) + (FAMILY(node) === "contraction"); });
  return depth;
}

/* How many values are computed before each position and read from there on. */
function crossingOf(order, { last }, shared) {
  const change = new Int32Array(order.length + 2);
  order.forEach((node, k) => { if (last[k] > k && !shared.has(node)) { change[k + 1]++; change[last[k] + 1]--; } });
  for (let k = 1; k < change.length; k++) change[k] += change[k - 1];
  return change;
}

/* A periodic interval as blocks that are wired alike. Of the ways to divide it, the one that cuts the fewest values, then that with the most blocks. */
function divided({ start, end, period, length }, kinds, wiring, crossing) {
  const ways = length < period ? [{ start, period, length, count: 2, cut: 0 }] : [];
  for (let shift = 0; length === period && shift < period && start + shift + 2 * period <= end; shift++) {
    ways.push({ start: start + shift, period, length, count: Math.floor((end - start - shift) / period), cut: crossing[start + shift + period] });
  }
  ways.sort((a, b) => a.cut - b.cut || b.count - a.count || a.start - b.start);
  return ways.slice(0, MOST_WAYS).find((way) => isWiredAlike(way, kinds, wiring));
}

/* True if each operand inside of a block is at the same distance in all of them, and a block has more than one kind of node. */
function isWiredAlike({ start, period, length, count }, kinds, { operands }) {
  const inside = (k, block) => operands[k].map((operand) => (operand >= start + block * period ? k - operand : 0));
  for (let k = start; k < start + length; k++) {
    const first = inside(k, 0);
    for (let block = 1; block < count; block++) if (inside(k + block * period, block).some((distance, i) => distance !== first[i])) return false;
  }
  return kinds.subarray(start, start + length).some((kind) => kind !== kinds[start]);
}

/* Of each block that is not to be open, what is drawn in its place: its last node stands for it. */
function closedBlocks(nodes, operandsOf, isOpen) {
  const lists = repeatedBlocks(nodes, operandsOf);
  return lists.flatMap((blocks, k) => blocks.map((members, i) => ({ members, key: members[members.length - 1], title: `Block ${String.fromCharCode(65 + (k % 26))}${k < 26 ? "" : Math.floor(k / 26)} · ${i + 1} of ${blocks.length}` })))
    .filter((block) => !isOpen(block));
}

/* The number of nodes of a block and its operators, the most frequent ones first, in lines; at most `most` operators. */
function contentsOf({ members }, most) {
  const counts = new Map();
  for (const node of members) if (KIND(node) === "call") counts.set(OPERATOR(node), (counts.get(OPERATOR(node)) || 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name, count]) => `${count} ${clip(name, 24)}`);
  return [`${members.length} nodes`, ...sorted.slice(0, most), ...(sorted.length > most ? [`… ${sorted.length - most} more operators`] : [])];
}

"use strict";
/* Runs in a worker. Takes {widths, heights, edges: [[from, to], …], method}; gives centres of the nodes and the points of each edge.
   "dagre" suits graphs of up to a thousand nodes; "layers" takes time linear in nodes and edges. */

const GAP_X = 26, GAP_Y = 46, LONGEST_ROUTE = 24, MOST_BENDS = 80000;

function byDagre({ widths, heights, edges }) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: GAP_X, ranksep: GAP_Y, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  widths.forEach((width, i) => graph.setNode(String(i), { width, height: heights[i] }));
  edges.forEach(([from, to], k) => graph.setEdge(String(from), String(to), {}, String(k)));
  dagre.layout(graph);
  const nodes = widths.map((_, i) => graph.node(String(i)));
  const paths = edges.map(([from, to], k) => graph.edge(String(from), String(to), String(k)).points.flatMap((p) => [p.x, p.y]));
  return { x: nodes.map((n) => n.x), y: nodes.map((n) => n.y), paths };
}

/* The layer of each node: the longest path from a node without operands. Such nodes, and trees of them, stand right above their first user. */
function layersOf(count, edges) {
  const out = Array.from({ length: count }, () => []), degree = new Int32Array(count), layer = new Int32Array(count);
  const isTree = new Uint8Array(count).fill(1), queue = [];
  for (const [from, to] of edges) { out[from].push(to); degree[to]++; }
  for (let i = 0; i < count; i++) if (degree[i] === 0) queue.push(i);
  for (let k = 0; k < queue.length; k++) {
    for (const to of out[queue[k]]) {
      if (!isTree[queue[k]] || out[queue[k]].length > 1) isTree[to] = 0;
      layer[to] = Math.max(layer[to], layer[queue[k]] + 1);
      if (--degree[to] === 0) queue.push(to);
    }
  }
  for (const i of queue.reverse()) {
    if (!isTree[i]) continue;
    let least = Infinity;
    for (const to of out[i]) least = Math.min(least, layer[to]);
    if (least < Infinity) layer[i] = Math.max(layer[i], least - 1);
  }
  return layer;
}

/* Sugiyama's scheme, cheaply: layers, bends where an edge passes layers, barycentre sweeps for order, then places near the neighbours. */
function byLayers({ widths, heights, edges }) {
  const count = widths.length, layer = Array.from(layersOf(count, edges));
  const width = widths.slice(), above = widths.map(() => []), below = widths.map(() => []), bends = [];
  let room = MOST_BENDS;
  const join = (from, to) => { below[from].push(to); above[to].push(from); };
  for (const [from, to] of edges) {
    const span = layer[to] - layer[from], route = [];
    if (span > 1 && span <= LONGEST_ROUTE && room > span) {
      room -= span;
      let last = from;
      for (let l = layer[from] + 1; l < layer[to]; l++) {
        const bend = width.length;
        width.push(8); above.push([]); below.push([]); layer.push(l);
        join(last, bend); route.push(bend); last = bend;
      }
      join(last, to);
    } else if (span > 0) join(from, to);
    bends.push(route);
  }
  const rows = [];
  for (let i = 0; i < width.length; i++) (rows[layer[i]] ||= []).push(i);
  const place = new Float64Array(width.length), key = new Float64Array(width.length);
  rows.forEach((row) => row.forEach((node, k) => { place[node] = k; }));
  const mean = (node, near) => { let sum = 0; for (const other of near) sum += place[other]; return near.length ? sum / near.length : place[node]; };
  for (let sweep = 0; sweep < 6; sweep++) {
    const down = sweep % 2 === 0, order = down ? rows : rows.slice().reverse();
    for (const row of order) {
      for (const node of row) key[node] = mean(node, down ? above[node] : below[node]);
      row.sort((a, b) => key[a] - key[b] || a - b).forEach((node, k) => { place[node] = k; });
    }
  }
  const x = place;
  for (const row of rows) { let left = 0; for (const node of row) { x[node] = left + width[node] / 2; left += width[node] + GAP_X; } }
  for (let sweep = 0; sweep < 5; sweep++) {
    const down = sweep % 2 === 0, order = down ? rows : rows.slice().reverse();
    for (const row of order) settle(row, x, width, (node) => mean(node, down ? above[node] : below[node]));
  }
  return placed({ count, heights, edges, rows, bends, x });
}

/* Moves the nodes of a row towards where they want to be; keeps their order and gaps. */
function settle(row, x, width, wanted) {
  const goals = row.map(wanted);
  let right = -Infinity, shift = 0;
  row.forEach((node, k) => {
    x[node] = Math.max(goals[k], right + width[node] / 2);
    right = x[node] + width[node] / 2 + GAP_X;
    shift += goals[k] - x[node];
  });
  shift /= row.length;
  for (const node of row) x[node] += shift;
}

function placed({ count, heights, edges, rows, bends, x }) {
  const y = new Float64Array(x.length);
  let top = 0;
  for (const row of rows) {
    let tall = 0;
    for (const node of row) if (node < count) tall = Math.max(tall, heights[node]);
    for (const node of row) y[node] = top + tall / 2;
    top += tall + GAP_Y;
  }
  const paths = edges.map(([from, to], k) => {
    const points = [x[from], y[from] + heights[from] / 2];
    for (const bend of bends[k]) points.push(x[bend], y[bend]);
    points.push(x[to], y[to] - heights[to] / 2);
    return points;
  });
  return { x: Array.from(x.subarray(0, count)), y: Array.from(y.subarray(0, count)), paths };
}

if (typeof WorkerGlobalScope !== "undefined") {
  onmessage = ({ data }) => postMessage({ id: data.id, ...(data.method === "dagre" ? byDagre(data) : byLayers(data)) });
}

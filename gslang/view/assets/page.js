"use strict";
/* The page: two views of one history, the slider, search, keys, light and dark. */

const $ = (id) => document.getElementById(id);
const MOST_FOR_DAGRE = 800, DAGRE_MILLISECONDS = 3000, KEPT_LAYOUTS = 40;

const page = { step: 0, weights: false, blocks: false, open: new Set(), selected: -1, wanted: 0 };
const views = { left: new View($("left"), select), right: new View($("right"), select) };
const panel = new Panel($("panel"), { goToNode, goToStep, operandsNow, blockNow, openBlocks });
const current = {};  // side → {state, graph}
const layouts = new Map();

// ── layout, in a worker ──

const workerUrl = URL.createObjectURL(new Blob([JSON.parse($("worker").textContent)], { type: "text/javascript" }));

function run(method, graph) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerUrl);
    const limit = method === "dagre" ? setTimeout(() => { worker.terminate(); reject(new Error("too slow")); }, DAGRE_MILLISECONDS) : 0;
    const end = () => { clearTimeout(limit); worker.terminate(); };
    worker.onmessage = ({ data }) => { end(); resolve(data); };
    worker.onerror = (event) => { event.preventDefault(); end(); reject(new Error(event.message)); };
    worker.postMessage({ method, widths: graph.spaces, heights: graph.heights, edges: graph.edges });
  });
}

function layoutOf(key, graph) {
  if (!layouts.has(key)) {
    const small = graph.nodes.length <= MOST_FOR_DAGRE && graph.edges.length <= 2 * MOST_FOR_DAGRE;
    layouts.set(key, small ? run("dagre", graph).catch(() => run("layers", graph)) : run("layers", graph));
    if (layouts.size > KEPT_LAYOUTS) layouts.delete(layouts.keys().next().value);
  }
  return layouts.get(key);
}

// ── what is shown ──

const stepsOf = (step) => (!STEPS ? { left: 0 } : step === 0 ? { left: 0, right: STEPS } : { left: step - 1, right: step });

const count = (alive) => alive.reduce((sum, one) => sum + one, 0).toLocaleString("en");

async function show(move) {
  const turn = ++page.wanted, sides = stepsOf(page.step), at = page.step ? ` ${page.step}` : "";
  const titles = STEPS ? { left: `Before${at} · `, right: `After${at} · ` } : { left: "" };
  delete document.body.dataset.ready;
  describeStep();
  panel.render(page.step, page.selected);
  await Promise.all(Object.entries(sides).map(async ([side, moment]) => {
    const view = views[side], busy = view.section.querySelector(".busy"), state = stateAfter(moment), always = page.step ? regions(page.step, side) : new Map(), graph = drawn(state, page.weights, always, page.blocks ? (block) => page.open.has(block.key) : null, textWidth);
    current[side] = { state, graph };
    view.section.querySelector("h2").textContent = `${titles[side]}${count(state.alive)} nodes${page.blocks ? `, ${graph.blocks.size} closed blocks` : ""}`;
    const timer = setTimeout(() => { busy.hidden = false; }, 150);
    const layout = await layoutOf(`${moment}/${page.weights}/${page.blocks ? [...page.open].sort().join(" ") : "-"}/${page.step ? side : ""}`, graph);
    clearTimeout(timer); busy.hidden = true;
    if (turn !== page.wanted) return;
    view.marked = regions(page.step, side);
    view.outputs = state.outputs;
    view.selected = page.selected;
    view.show(graph, layout);
    view.canvas.setAttribute("aria-label", `${view.section.querySelector("h2").textContent || "Graph"}: ${graph.nodes.length} nodes; the panel has the details of the selected one`);
    if (page.step > 0 && move) view.fit([...view.marked.keys()]); else if (move) view.start();
  }));
  if (turn === page.wanted && page.blocks) panel.render(page.step, page.selected);
  if (turn === page.wanted) requestAnimationFrame(() => { document.body.dataset.ready = String(page.step); });
}

function describeStep() {
  const { step } = page, change = STEPS && step ? DATA.changes[step - 1] : null;
  $("step").value = step;
  $("where").textContent = !STEPS ? "" : change ? `${step} of ${STEPS}: ${change.rule}` : `whole run: ${STEPS} step${STEPS === 1 ? "" : "s"}`;
  $("step").setAttribute("aria-valuetext", $("where").textContent);
  $("previous").disabled = step === 0; $("next").disabled = step === STEPS;
}

function goToStep(step) {
  panel.miss = null;
  page.step = Math.max(0, Math.min(STEPS, step));
  page.selected = -1;
  show(true);
}

function select(node) {
  page.selected = node;
  if (node < 0) panel.miss = null;
  for (const view of Object.values(views)) { view.selected = node; view.redraw(); }
  panel.render(page.step, node);
}

/* Selects a node and brings it into sight, in each view that has it; weights that stand inside of others are shown first. */
async function goToNode(node) {
  select(node);
  const sides = Object.keys(stepsOf(page.step)), living = sides.filter((side) => current[side].state.alive[node]);
  if (living.length && !living.some((side) => current[side].graph.index.has(node))) await toggleWeights();
  const closed = living.map((side) => blockOf(side, node)).filter((block) => block && block.key !== node);
  if (closed.length) await openBlocks(...closed);
  for (const side of living) if (current[side].graph.index.has(node)) views[side].fit([node]);
}

function operandsNow(node) {
  const sides = Object.values(current), { state } = sides.find((side) => side.state.alive[node]) || sides[0], users = [];
  for (let user = 0; user < state.alive.length; user++) if (state.alive[user] && state.operandsOf(user).includes(node)) users.push(user);
  return { operands: state.operandsOf(node), users };
}

/* The closed block that a node is in, on a side. */
function blockOf(side, node) {
  const { graph } = current[side];
  return graph.blocks.get(graph.nodes[graph.index.get(node)]);
}

function blockNow(node) {
  return Object.keys(stepsOf(page.step)).map((side) => current[side] && blockOf(side, node)).find(Boolean);
}

function openBlocks(...blocks) {
  for (const block of blocks) page.open.add(block.key);
  return show(false);
}

function toggleBlocks() {
  page.blocks = !page.blocks;
  page.open.clear();
  $("blocks").setAttribute("aria-pressed", String(page.blocks));
  return show(true);
}

function toggleWeights() {
  page.weights = !page.weights;
  $("weights").setAttribute("aria-pressed", String(page.weights));
  return show(true);
}

// ── search ──

function find() {
  const query = $("search").value, side = current.right ? ["right", "left"] : ["left"], nodes = new Set();
  for (const name of side) for (let node = 0; node < DATA.op.length; node++) if (current[name].state.alive[node]) nodes.add(node);
  const { first, count } = search([...nodes].sort((a, b) => a - b), query, 100);
  $("found").textContent = query.trim() ? `${count.toLocaleString("en")} found` : "";
  $("results").hidden = !first.length;
  $("results").replaceChildren(...first.map((node) => element("li", {}, element("button", { type: "button", onclick: () => { closeSearch(); goToNode(node); } }, `${DATA.label[node]} · ${OPERATOR(node)}  ${TYPE(node)}`))));
  return first;
}

function closeSearch() { $("results").hidden = true; $("search").blur(); }

// ── light and dark ──

function useTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme === "dark" ? "Light" : "Dark";
  const style = getComputedStyle(document.documentElement), names = [...DATA.families, "canvas", "ink", "dim", "box", "edge", "accent"];
  const colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  for (const view of Object.values(views)) { view.colours = colours; view.isDark = theme === "dark"; view.redraw(); }
  $("legend").replaceChildren(...DATA.families.filter((family) => DATA.operators.some((operator) => DATA.families[operator[1]] === family)).map((family) => {
    const mark = element("i");
    mark.style.background = colours[family];
    return element("li", {}, mark, family);
  }));
}

const switchTheme = () => useTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

// ── events ──

const shownViews = () => Object.keys(stepsOf(page.step)).map((side) => views[side]);
const each = (action) => () => shownViews().forEach(action);
const fit = each((view) => view.fit()), closer = each((view) => view.zoom(1.25)), farther = each((view) => view.zoom(0.8));
const KEYS = {
  ArrowLeft: each((view) => view.pan(-80, 0)), ArrowRight: each((view) => view.pan(80, 0)), ArrowUp: each((view) => view.pan(0, -80)), ArrowDown: each((view) => view.pan(0, 80)),
  "+": closer, "=": closer, "-": farther, f: fit, w: toggleWeights, b: toggleBlocks, t: switchTheme, "/": () => { $("search").focus(); $("search").select(); },
  "[": () => goToStep(page.step - 1), "]": () => goToStep(page.step + 1), Escape: () => select(-1),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && event.target.closest(".searching")) { closeSearch(); return; }
  const inField = event.target.matches("input") || (event.target === $("panel") && event.key.startsWith("Arrow"));
  if (!inField && KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
});
$("fit").onclick = fit; $("in").onclick = closer; $("out").onclick = farther;
$("weights").onclick = toggleWeights; $("blocks").onclick = toggleBlocks; $("theme").onclick = switchTheme;
$("previous").onclick = () => goToStep(page.step - 1); $("next").onclick = () => goToStep(page.step + 1);
$("step").oninput = () => goToStep(Number($("step").value));
$("search").oninput = find;
$("search").onfocus = find;
$("search").onkeydown = (event) => { if (event.key === "Enter") { const [first] = find(); if (first !== undefined) { closeSearch(); goToNode(first); } } };
document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".searching")) $("results").hidden = true; });

const preference = matchMedia("(prefers-color-scheme: dark)");
preference.addEventListener("change", () => useTheme(preference.matches ? "dark" : "light"));

$("title").textContent = DATA.title;
$("step").max = STEPS;
$("stepper").hidden = !STEPS;
$("right").hidden = !STEPS;
useTheme(preference.matches ? "dark" : "light");
show(true);

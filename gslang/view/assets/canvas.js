"use strict";
/* A graph on a canvas: pan, zoom, hit test. Only what is in sight is drawn; text only where it can be read. */

const TITLE_FONT = "600 12px system-ui, 'Segoe UI', Roboto, sans-serif", TEXT_FONT = "11px ui-monospace, 'DejaVu Sans Mono', Menlo, monospace";
const LEAST_SCALE = 0.0004, MOST_SCALE = 4;

const measuring = document.createElement("canvas").getContext("2d"), measured = new Map();
function textWidth(text, isTitle) {
  const key = (isTitle ? "t" : "x") + text;
  let width = measured.get(key);
  if (width === undefined) {
    measuring.font = isTitle ? TITLE_FONT : TEXT_FONT;
    width = measuring.measureText(text).width;
    measured.set(key, width);
  }
  return width;
}

const regionColour = (number, isDark) => `hsl(${Math.round((number * 137.508 + 20) % 360)} 85% ${isDark ? 62 : 48}%)`;

class View {
  constructor(section, onSelect) {
    this.section = section;
    this.canvas = section.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.onSelect = onSelect;
    this.scale = 1; this.left = 0; this.top = 0;
    this.picture = null; this.marked = new Map(); this.selected = -1;
    this.colours = {}; this.isDark = false; this.asked = false;
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    this.listen();
  }

  /* `graph` as `drawn` gives it, with x, y, paths of the layout. */
  show(graph, layout) {
    this.picture = { ...graph, ...layout };
    const { x, y, widths, heights } = this.picture;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < x.length; i++) {
      left = Math.min(left, x[i] - widths[i] / 2); right = Math.max(right, x[i] + widths[i] / 2);
      top = Math.min(top, y[i] - heights[i] / 2); bottom = Math.max(bottom, y[i] + heights[i] / 2);
    }
    this.bounds = x.length ? [left, top, right, bottom] : [0, 0, 1, 1];
    this.boxes = this.picture.paths.map((points) => {
      let box = [Infinity, Infinity, -Infinity, -Infinity];
      for (let k = 0; k < points.length; k += 2) {
        box = [Math.min(box[0], points[k]), Math.min(box[1], points[k + 1]), Math.max(box[2], points[k]), Math.max(box[3], points[k + 1])];
      }
      return box;
    });
    this.redraw();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1, { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    this.redraw();
  }

  fit(nodes) {
    if (!this.picture) return;
    let [left, top, right, bottom] = this.bounds;
    const { index, x, y, widths, heights } = this.picture, some = (nodes || []).filter((node) => index.has(node)).map((node) => index.get(node));
    if (some.length) {
      left = Math.min(...some.map((i) => x[i] - widths[i] / 2)) - 120; right = Math.max(...some.map((i) => x[i] + widths[i] / 2)) + 120;
      top = Math.min(...some.map((i) => y[i] - heights[i] / 2)) - 90; bottom = Math.max(...some.map((i) => y[i] + heights[i] / 2)) + 90;
    }
    const { clientWidth: w, clientHeight: h } = this.canvas;
    this.scale = Math.max(LEAST_SCALE, Math.min(some.length ? 1 : 1.25, (w - 40) / (right - left), (h - 70) / (bottom - top)));
    this.left = (left + right) / 2 - w / 2 / this.scale;
    this.top = (top + bottom) / 2 - h / 2 / this.scale;
    this.redraw();
  }

  /* The first rows in a readable size: what a long graph shows when it is opened. */
  start() {
    this.fit();
    if (!this.picture || this.scale >= 0.45) return;
    const { x, y, widths } = this.picture, { clientWidth: w } = this.canvas;
    let first = 0;
    for (let i = 1; i < y.length; i++) if (y[i] < y[first]) first = i;
    const near = x.map((_, i) => i).filter((i) => y[i] < y[first] + 900);
    const left = Math.min(...near.map((i) => x[i] - widths[i] / 2)), right = Math.max(...near.map((i) => x[i] + widths[i] / 2));
    this.scale = Math.min(0.9, Math.max(0.45, (w - 40) / (right - left)));
    this.left = (right - left < (w - 40) / this.scale ? (left + right) / 2 : x[first]) - w / 2 / this.scale;
    this.top = this.bounds[1] - 40 / this.scale;
    this.redraw();
  }

  zoom(factor, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    const scale = Math.max(LEAST_SCALE, Math.min(MOST_SCALE, this.scale * factor));
    this.left += px / this.scale - px / scale;
    this.top += py / this.scale - py / scale;
    this.scale = scale;
    this.redraw();
  }

  pan(dx, dy) { this.left += dx / this.scale; this.top += dy / this.scale; this.redraw(); }

  listen() {
    const { canvas } = this;
    let from = null, moved = false;
    canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; moved = false; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const dx = event.clientX - from[0], dy = event.clientY - from[1];
      if (!moved && Math.abs(dx) + Math.abs(dy) < 4) return;
      moved = true; canvas.classList.add("dragging"); from = [event.clientX, event.clientY];
      this.pan(-dx, -dy);
    });
    canvas.addEventListener("pointerup", (event) => {
      canvas.classList.remove("dragging");
      if (from && !moved) this.onSelect(this.nodeAt(event.offsetX, event.offsetY));
      from = null;
    });
    canvas.addEventListener("pointercancel", () => { from = null; canvas.classList.remove("dragging"); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey || !event.shiftKey) this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
      else this.pan(event.deltaX || event.deltaY, 0);
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => this.zoom(1.6, event.offsetX, event.offsetY));
  }

  nodeAt(px, py) {
    if (!this.picture) return -1;
    const { nodes, x, y, widths, heights } = this.picture, at = this.left + px / this.scale, down = this.top + py / this.scale;
    for (let i = 0; i < nodes.length; i++) if (Math.abs(x[i] - at) <= widths[i] / 2 && Math.abs(y[i] - down) <= heights[i] / 2) return nodes[i];
    return -1;
  }

  /* Where a node stands on the screen, in pixels of the canvas. */
  positionOf(node) {
    const i = this.picture.index.get(node);
    return [(this.picture.x[i] - this.left) * this.scale, (this.picture.y[i] - this.top) * this.scale];
  }

  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  draw() {
    const { context: c, picture: p, scale, left, top } = this, ratio = window.devicePixelRatio || 1, { clientWidth: w, clientHeight: h } = this.canvas;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    if (!p) return;
    c.setTransform(ratio * scale, 0, 0, ratio * scale, -left * scale * ratio, -top * scale * ratio);
    const sight = [left - 20, top - 20, left + w / scale + 20, top + h / scale + 20], seen = [];
    for (let i = 0; i < p.nodes.length; i++) {
      if (p.x[i] + p.widths[i] / 2 >= sight[0] && p.x[i] - p.widths[i] / 2 <= sight[2] && p.y[i] + p.heights[i] / 2 >= sight[1] && p.y[i] - p.heights[i] / 2 <= sight[3]) seen.push(i);
    }
    this.drawRegions(seen);
    this.drawEdges(sight);
    if (scale < 0.22) this.drawFar(seen); else this.drawBoxes(seen);
    this.section.dataset.drawn = String(seen.length);
  }

  drawRegions(seen) {
    const { context: c, picture: p } = this, pad = Math.max(7, 3 / this.scale);
    for (const i of seen) {
      const block = p.blocks.get(p.nodes[i]), region = block ? this.marked.get(block.members.find((node) => this.marked.has(node))) : this.marked.get(p.nodes[i]);
      if (region === undefined) continue;
      c.fillStyle = regionColour(region, this.isDark);
      c.globalAlpha = 0.32;
      c.beginPath(); c.roundRect(p.x[i] - p.widths[i] / 2 - pad, p.y[i] - p.heights[i] / 2 - pad, p.widths[i] + 2 * pad, p.heights[i] + 2 * pad, 12); c.fill();
      c.globalAlpha = 1;
      c.strokeStyle = c.fillStyle; c.lineWidth = Math.max(2, 1 / this.scale); c.stroke();
    }
  }

  drawEdges(sight) {
    const { context: c, picture: p, boxes, colours, scale } = this, chosen = this.selected >= 0 ? p.index.get(this.selected) : undefined, special = [];
    c.strokeStyle = colours.edge; c.fillStyle = colours.edge; c.lineWidth = Math.max(1.2, 0.6 / scale); c.globalAlpha = scale < 0.05 ? 0.35 : 1;
    c.beginPath();
    p.paths.forEach((points, k) => {
      const box = boxes[k];
      if (box[2] < sight[0] || box[0] > sight[2] || box[3] < sight[1] || box[1] > sight[3]) return;
      if (chosen !== undefined && (p.edges[k][0] === chosen || p.edges[k][1] === chosen)) special.push(points); else trace(c, points, scale);
    });
    c.stroke();
    c.globalAlpha = 1;
    if (scale >= 0.22) {
      c.beginPath();
      p.paths.forEach((points, k) => { const box = boxes[k]; if (box[2] >= sight[0] && box[0] <= sight[2] && box[3] >= sight[1] && box[1] <= sight[3]) head(c, points); });
      c.fill();
    }
    c.strokeStyle = colours.accent; c.lineWidth = Math.max(2.4, 1.5 / scale);
    c.beginPath();
    for (const points of special) trace(c, points, scale);
    c.stroke();
  }

  /* Far away: rectangles by family, one path for each colour. */
  drawFar(seen) {
    const { context: c, picture: p, colours } = this, groups = new Map();
    for (const i of seen) { const family = FAMILY(p.nodes[i]); if (!groups.has(family)) groups.set(family, []); groups.get(family).push(i); }
    for (const [family, members] of groups) {
      c.fillStyle = colours[family];
      c.beginPath();
      for (const i of members) c.rect(p.x[i] - p.widths[i] / 2, p.y[i] - p.heights[i] / 2, p.widths[i], p.heights[i]);
      c.fill();
    }
    const i = this.selected >= 0 ? p.index.get(this.selected) : undefined;
    if (i !== undefined) {
      c.strokeStyle = colours.accent; c.lineWidth = 4 / this.scale;
      c.strokeRect(p.x[i] - p.widths[i] / 2, p.y[i] - p.heights[i] / 2, p.widths[i], p.heights[i]);
    }
  }

  drawBoxes(seen) {
    const { context: c, picture: p, colours, scale } = this, selected = this.selected >= 0 ? p.index.get(this.selected) : undefined;
    c.textBaseline = "middle"; c.textAlign = "center";
    for (const i of seen) {
      const node = p.nodes[i], x = p.x[i] - p.widths[i] / 2, y = p.y[i] - p.heights[i] / 2, w = p.widths[i], h = p.heights[i], lines = p.lines[i], isBlock = p.blocks.has(node), isLeaf = !isBlock && KIND(node) !== "call", isSelected = i === selected;
      const colour = isBlock ? colours.dim : colours[FAMILY(node)];
      if (isBlock) for (const shift of [8, 4]) { c.beginPath(); c.roundRect(x + shift, y - shift, w, h, 6); c.fillStyle = colours.box; c.fill(); c.strokeStyle = colour; c.lineWidth = 1.2; c.stroke(); }
      c.beginPath(); c.roundRect(x, y, w, h, isLeaf ? 12 : 6);
      c.fillStyle = isLeaf || lines.length ? colours.box : colour; c.fill();
      if (!isLeaf && lines.length) { c.fillStyle = colour; c.beginPath(); c.roundRect(x, y, w, 24, [6, 6, 0, 0]); c.fill(); }
      c.beginPath(); c.roundRect(x, y, w, h, isLeaf ? 12 : 6);
      c.strokeStyle = isSelected ? colours.accent : colour;
      c.lineWidth = isSelected ? 4 : this.outputs && this.outputs.has(node) ? 3 : 1.2; c.stroke();
      c.font = TITLE_FONT; c.fillStyle = isLeaf ? colours.ink : isBlock ? colours.canvas : "#ffffff";
      c.fillText(p.titles[i], x + w / 2, y + 12.5);
      if (scale >= 0.4) {
        c.font = TEXT_FONT; c.fillStyle = colours.ink; c.textAlign = "left";
        lines.forEach((line, k) => c.fillText(line, x + 9, y + 35 + 15 * k));
        c.textAlign = "center";
        this.drawType(node, p.x[i], y + h + 13);
      }
    }
  }

  /* The type of a value, at the beginning of its edges. */
  drawType(node, x, y) {
    const { context: c, colours } = this, text = clip(TYPE(node), 40);
    if (!text) return;
    c.font = TEXT_FONT;
    const width = textWidth(text, false) + 6;
    c.globalAlpha = 0.88; c.fillStyle = colours.canvas; c.fillRect(x - width / 2, y - 7, width, 14); c.globalAlpha = 1;
    c.fillStyle = colours.dim; c.fillText(text, x, y);
  }
}

/* A smooth line through points: straight ends, quadratic curves around the middle ones. */
function trace(c, points, scale) {
  const last = points.length - 2;
  c.moveTo(points[0], points[1]);
  if (scale < 0.12) { c.lineTo(points[last], points[last + 1]); return; }
  if (last === 2) {
    const middle = (points[1] + points[3]) / 2;
    c.bezierCurveTo(points[0], middle, points[2], middle, points[2], points[3]);
    return;
  }
  for (let k = 2; k < last - 2; k += 2) c.quadraticCurveTo(points[k], points[k + 1], (points[k] + points[k + 2]) / 2, (points[k + 1] + points[k + 3]) / 2);
  c.quadraticCurveTo(points[last - 2], points[last - 1], points[last], points[last + 1]);
}

function head(c, points) {
  const x = points[points.length - 2], y = points[points.length - 1];
  c.moveTo(x, y); c.lineTo(x - 4, y - 7); c.lineTo(x + 4, y - 7); c.closePath();
}

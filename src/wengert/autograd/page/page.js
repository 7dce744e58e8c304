// Draws the graph of the data element: boxes in groups that fold, details of what is clicked, search, heat maps.
// An item is a node or a group. Every string of the data reaches the page as text, never as markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const FIRST_SHOWN = 60;    // a larger graph begins with groups folded
const MANY_USES = 6;       // arrows of a parameter with more uses are shown when it is selected
const PAINT_ALL = 600;     // of more items, only those near the window are in the page
const TITLE_LENGTH = 34;
const PAD = 14, HEADER = 24;

const element = (id) => document.getElementById(id);
const svg = element("graph"), scene = element("scene"), panel = element("panel");

// -- items ----------------------------------------------------------------------------------------------------------

const items = data.nodes.map((node, id) => ({ id, node, group: null, children: [], users: [], open: false }));
const root = makeGroup(data.groups, null);
const groups = items.filter((item) => item.group && item !== root);
const edges = [];          // {from, to, times}, of nodes
for (const item of items.slice(0, data.nodes.length)) {
  for (const [number, times] of item.node.inputs || []) {
    edges.push({ from: items[number], to: item, times });
    items[number].users.push(item);
  }
}
for (const edge of edges) addInnerEdge(edge);

function makeGroup(group, parent) {
  const item = { id: items.length, node: null, group, parent, children: [], open: false,
    inner: new Map(), entering: new Set(), leaving: new Set() };
  items.push(item);
  for (const child of group.children) {
    const made = typeof child === "number" ? items[child] : makeGroup(child, item);
    made.parent = item;
    item.children.push(made);
  }
  return item;
}

function pathOf(item) {
  const path = [];
  for (let at = item; at; at = at.parent) path.push(at);
  return path.reverse();
}

// An edge concerns the layout of the innermost group that has both ends, between its children that hold them.
function addInnerEdge(edge) {
  const a = pathOf(edge.from), b = pathOf(edge.to);
  let depth = 0;
  while (a[depth + 1] === b[depth + 1]) depth++;
  const from = a[depth + 1], to = b[depth + 1], inner = a[depth].inner;
  const key = from.id + ">" + to.id;
  if (!inner.has(key)) inner.set(key, { from, to });
  // What comes from outside of a group, or leads there, needs room inside: see placeByRank.
  for (const item of a.slice(depth + 2)) item.parent.leaving.add(item);
  for (const item of b.slice(depth + 2)) item.parent.entering.add(item);
}

function nodesIn(item) {
  if (item.node) return [item];
  if (!item.all) item.all = item.children.flatMap(nodesIn);
  return item.all;
}

function sourceLine(source) {
  const match = /([^/\\]*:\d+), in /.exec(source || "");
  return match ? match[1] : "";
}

const short = (text) => text.length > TITLE_LENGTH ? text.slice(0, TITLE_LENGTH - 1) + "…" : text;
const plural = (n, word, words = word + "s") => `${n.toLocaleString("en")} ${n === 1 ? word : words}`;

// What stands in the box of an item that is a node, or a group that is folded.
function linesOf(item) {
  if (!item.lines) item.lines = (item.node ? nodeLines(item) : groupLines(item)).map(short);
  return item.lines;
}

function nodeLines({ node, users }) {
  const lines = [node.title, ...(node.shapes || []).slice(0, 2)];
  if (node.leaf && users.length > MANY_USES) lines.push(`used by ${plural(users.length, "node")}`);
  if (node.source) lines.push(sourceLine(node.source));
  return lines;
}

function groupLines(item) {
  const inside = nodesIn(item).filter(({ node }) => !node.leaf);
  const names = [...new Set(inside.map(({ node }) => node.name.replace(/Backward\d*$/, "")))];
  return ["▸ " + item.group.label, plural(inside.length, "operation"), names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : "")];
}

// -- layout ---------------------------------------------------------------------------------------------------------

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();
function textWidth(text, first) {
  const key = first + text;
  if (!widths.has(key)) {
    ruler.font = first ? "600 13px system-ui, sans-serif" : "12px system-ui, sans-serif";
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

function isOpen(item) { return item.group !== null && item.open; }

// Gives an item its width and height, and what is inside of an open group its place, relative to the group.
function place(item) {
  if (!isOpen(item)) {
    const lines = linesOf(item);
    item.w = Math.max(70, ...lines.map((line, i) => textWidth(line, i === 0))) + 20;
    item.h = 14 + 16 * lines.length;
    return;
  }
  item.children.forEach(place);
  const head = item === root ? 0 : HEADER;
  const isSequence = item.children.length > 3 && item.children.every((child) => child.group || child.node.leaf);
  const size = isSequence ? placeInRows(item) : placeByRank(item);
  for (const child of item.children) {
    child.rx += PAD;
    child.ry += PAD + head;
  }
  item.w = Math.max(size.w, item === root ? 0 : textWidth(item.group.label, true) + 40) + 2 * PAD;
  item.h = size.h + 2 * PAD + head;
  item.routeShift = { x: PAD, y: PAD + head };
}

// Steps and ranges, in the order in which they ran, row by row; parameters that they share stand above.
function placeInRows(item) {
  const leaves = item.children.filter((child) => child.node);
  const steps = item.children.filter((child) => child.group);
  const widest = Math.max(...steps.map((step) => step.w)), highest = Math.max(...steps.map((step) => step.h));
  const columns = Math.max(1, Math.round(Math.sqrt(steps.length * 1.8 * (highest + 40) / (widest + 40))));
  item.routes = new Map();
  for (const child of item.children) child.entry = child.exit = undefined;
  let y = 0, w = 0;
  const rows = [leaves];
  for (let i = 0; i < steps.length; i += columns) rows.push(steps.slice(i, i + columns));
  for (const row of rows.filter((row) => row.length)) {
    let x = 0;
    for (const child of row) {
      child.rx = x;
      child.ry = y;
      x += child.w + 40;
    }
    w = Math.max(w, x - 40);
    y += Math.max(...row.map((child) => child.h)) + 40;
  }
  return { w, h: y - 40 };
}

const layouts = new Map();   // steps look alike: what has been laid out once is not laid out again

function placeByRank(item) {
  const index = new Map(item.children.map((child, i) => [child, i]));
  const uses = new Map(), arrows = [];
  for (const { from, to } of item.inner.values()) {
    uses.set(from, (uses.get(from) || 0) + 1);
    if (from.node && from.node.leaf && uses.get(from) > 1 && from.users.length > MANY_USES) continue;
    arrows.push([index.get(from), index.get(to)]);
  }
  const entering = [...item.entering].map((child) => index.get(child)).filter((i) => !item.children[i].node?.leaf);
  const leaving = [...item.leaving].map((child) => index.get(child)).filter((i) => !item.children[i].node?.leaf);
  const key = JSON.stringify([item.children.map((child) => [Math.round(child.w), child.h]), arrows, entering, leaving]);
  if (!layouts.has(key)) layouts.set(key, layOut(item.children, arrows, entering, leaving));
  const { places, routes, entries, exits, size } = layouts.get(key);
  item.children.forEach((child, i) => {
    child.rx = places[i].x - child.w / 2;
    child.ry = places[i].y - child.h / 2;
    child.entry = entries.get(i);
    child.exit = exits.get(i);
  });
  item.routes = new Map(routes.map(([from, to, points]) => [item.children[from].id + ">" + item.children[to].id, points]));
  return size;
}

// arrows: pairs of numbers of children. entering, leaving: those that arrows from outside lead to, or start from; these
// get a way of their own, so that they run past other boxes.
function layOut(children, arrows, entering, leaving) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 34, edgesep: 12 });
  children.forEach((child, i) => graph.setNode(i, { width: child.w, height: child.h }));
  for (const [from, to] of arrows) graph.setEdge(from, to, {});
  const ports = entering.length + leaving.length < 12;
  for (const i of ports ? entering : []) {
    graph.setNode(`to ${i}`, { width: 10, height: 1 });
    graph.setEdge(`to ${i}`, i, {});
  }
  for (const i of ports ? leaving : []) {
    graph.setNode(`from ${i}`, { width: 10, height: 1 });
    graph.setEdge(i, `from ${i}`, {});
  }
  dagre.layout(graph);
  const { width, height } = graph.graph();
  return {
    places: children.map((_, i) => graph.node(i)),
    routes: arrows.map(([from, to]) => [from, to, graph.edge(from, to).points]),
    entries: new Map(ports ? entering.map((i) => [i, graph.edge(`to ${i}`, i).points]) : []),
    exits: new Map(ports ? leaving.map((i) => [i, graph.edge(i, `from ${i}`).points]) : []),
    size: { w: Math.max(width, 1), h: Math.max(height, 1) },
  };
}

// -- what is shown ----------------------------------------------------------------------------------------------------

let shown = [];    // items in the page, the outer before the inner ones
let arrows = [];   // {from, to, route, quiet} between items that are shown
let selected = null;

function arrange() {
  root.open = true;
  place(root);
  root.x = root.y = 0;
  shown = [];
  show(root);
  const seen = new Map(), uses = new Map();
  for (const { from, to } of edges) {
    const a = from.shownAs, b = to.shownAs, key = a.id + ">" + b.id;
    if (a === b || seen.has(key)) continue;
    const routes = a.parent === b.parent ? a.parent.routes : null;
    const arrow = { from: a, to: b, route: routes && routes.get(key), quiet: false };
    seen.set(key, arrow);
    if (a.node && a.node.leaf) uses.set(a, (uses.get(a) || 0) + 1);
  }
  arrows = [...seen.values()];
  for (const arrow of arrows) arrow.quiet = (uses.get(arrow.from) || 0) > MANY_USES;
}

function show(group) {
  for (const child of group.children) {
    child.x = group.x + child.rx;
    child.y = group.y + child.ry;
    shown.push(child);
    if (isOpen(child)) {
      show(child);
    } else {
      for (const item of nodesIn(child)) item.shownAs = child;
    }
  }
}

const boxes = () => shown.filter((item) => !isOpen(item));

// -- painting -----------------------------------------------------------------------------------------------------------

const view = { x: 0, y: 0, scale: 1 };   // where the graph's origin is in the window
let painted = null;                      // the part of the graph that is in the page; null for all of it

function make(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  return made;
}

function windowPart(margin) {
  const w = svg.clientWidth / view.scale, h = svg.clientHeight / view.scale;
  const x = -view.x / view.scale, y = -view.y / view.scale;
  return { left: x - margin * w, top: y - margin * h, right: x + (1 + margin) * w, bottom: y + (1 + margin) * h };
}

const meets = (part, x, y, w, h) => x < part.right && y < part.bottom && x + w > part.left && y + h > part.top;

function paint() {
  painted = shown.length > PAINT_ALL ? windowPart(0.6) : null;
  const inside = (item) => !painted || meets(painted, item.x, item.y, item.w, item.h);
  const parts = [];
  const outer = shown.filter((item) => isOpen(item) && inside(item));
  parts.push(...outer.map(paintItem));
  for (const arrow of arrows) {
    const near = arrow.from === selected || arrow.to === selected;
    if (arrow.quiet && !near) continue;
    const left = Math.min(arrow.from.x, arrow.to.x), top = Math.min(arrow.from.y, arrow.to.y);
    const right = Math.max(arrow.from.x + arrow.from.w, arrow.to.x + arrow.to.w);
    if (painted && !meets(painted, left, top, right - left, arrow.to.y + arrow.to.h - top)) continue;
    parts.push(make("path", { class: near ? "edge near" : "edge", d: pathOfArrow(arrow) }));
  }
  parts.push(...boxes().filter(inside).map(paintItem));
  scene.replaceChildren(...parts);
  move();
}

function move() {
  scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
  svg.classList.toggle("far", view.scale < 0.3);
}

let waiting = false;
function moved() {
  move();
  if (!painted || waiting) return;
  const part = windowPart(0);
  if (part.left < painted.left || part.top < painted.top || part.right > painted.right || part.bottom > painted.bottom) {
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }
}

function paintItem(item) {
  const open = isOpen(item);
  const kind = open ? "open" : item.group ? "folded" : item.node.leaf ? "leaf" : "operation";
  const part = make("g", { class: `item ${kind}`, "data-item": item.id, transform: `translate(${item.x} ${item.y})` });
  if (item === selected) part.classList.add("selected");
  const box = make("rect", { width: item.w, height: item.h, rx: item.node && item.node.leaf ? 14 : 5 });
  part.append(box);
  if (open) {
    part.append(make("text", { class: "first", x: 10, y: 18 }, "▾ " + item.group.label));
    return part;
  }
  linesOf(item).forEach((line, i) => {
    const look = i === 0 ? "first" : line === sourceLine(item.node && item.node.source) ? "faint" : "";
    part.append(make("text", { class: look, x: item.w / 2, y: 21 + 16 * i, "text-anchor": "middle" }, line));
  });
  if (heat) heatItem(item, part, box);
  return part;
}

// A smooth line through points that are relative to what is inside of a group.
function curve(points, group, first) {
  const x = group.x + group.routeShift.x, y = group.y + group.routeShift.y;
  const at = points.map((p) => [p.x + x, p.y + y]);
  let d = first ? `M${at[0]}` : "";
  for (let i = 1; i < at.length - 1; i++) {
    const next = at[i + 1], last = i === at.length - 2;
    d += ` Q${at[i]} ${last ? next : [(at[i][0] + next[0]) / 2, (at[i][1] + next[1]) / 2]}`;
  }
  return { d: at.length === 2 ? `${d} L${at[1]}` : d, start: at[0], end: at[at.length - 1] };
}

function pathOfArrow({ from, to, route }) {
  if (route) return curve(route, from.parent, true).d;
  const exit = from.exit && from.parent !== to.parent && curve(from.exit, from.parent, true);
  const entry = to.entry && from.parent !== to.parent && curve(to.entry, to.parent, false);
  const [x1, y1] = exit ? exit.end : [from.x + from.w / 2, from.y + from.h];
  const [x2, y2] = entry ? entry.start : [to.x + to.w / 2, to.y];
  if (y2 >= y1) {
    const bend = Math.min(60, (y2 - y1) / 2);
    return `${exit ? exit.d : `M${x1} ${y1}`} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}${entry ? entry.d : ""}`;
  }
  const right = to.x >= from.x + from.w;
  const x3 = right ? from.x + from.w : from.x, y3 = from.y + from.h / 2;
  const x4 = right ? to.x : to.x + to.w, y4 = to.y + to.h / 2;
  const middle = (x3 + x4) / 2;
  return `M${x3} ${y3} C${middle} ${y3} ${middle} ${y4} ${x4} ${y4}`;
}

// -- looking around -----------------------------------------------------------------------------------------------------

function fit() {
  const scale = Math.min(svg.clientWidth / root.w, svg.clientHeight / root.h, 1.3);
  Object.assign(view, { scale, x: (svg.clientWidth - root.w * scale) / 2, y: (svg.clientHeight - root.h * scale) / 2 });
  paint();
}

// As fit, but never so small that nothing can be read: then the top of the picture.
function begin() {
  fit();
  if (view.scale < 0.6) {
    Object.assign(view, { scale: 0.8, x: Math.max(8, (svg.clientWidth - root.w * 0.8) / 2), y: 8 });
    paint();
  }
}

function zoom(factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
  const scale = Math.min(4, Math.max(0.01, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  moved();
}

function bringIntoView(item) {
  if (view.scale < 0.4) view.scale = 0.9;
  const x = view.x + (item.x + item.w / 2) * view.scale, y = view.y + (item.y + item.h / 2) * view.scale;
  const w = svg.clientWidth, h = svg.clientHeight;
  if (x < 60 || y < 40 || x > w - 60 || y > h - 40) {
    view.x += w / 2 - x;
    view.y += h / 2 - y;
  }
}

function setOpen(item, open) {
  if (item === root || !item.group) return;
  const x = view.x + item.x * view.scale, y = view.y + item.y * view.scale;
  item.open = open;
  arrange();
  view.x = x - item.x * view.scale;   // it stays where it was in the window
  view.y = y - item.y * view.scale;
  if (selected) select(visibleFor(selected));
  renewHeat();
  paint();
  tell(`${item.group.label} ${open ? "unfolded" : "folded"}: ${plural(boxes().length, "box", "boxes")} shown`);
}

let laying = 0;   // counts, so that what was asked for last wins

// Large groups are laid out a few at a time, the inner ones first, so that the page answers meanwhile.
async function setAllOpen(open) {
  const turn = ++laying;
  const wasOpen = new Map(groups.map((item) => [item, item.open]));
  for (const [done, item] of (open ? groups : []).entries()) {
    if (!layOutSoon(item)) continue;
    tell(`laying out: ${done} of ${plural(groups.length, "group")}`);
    await new Promise((next) => setTimeout(next));
    if (turn !== laying || groups.some((item) => item.open !== wasOpen.get(item))) return;
  }
  for (const item of groups) item.open = open;
  arrange();
  if (selected) select(visibleFor(selected));
  renewHeat();
  begin();
  tell(`${open ? "unfolded" : "folded"}: ${plural(boxes().length, "box", "boxes")} shown`);
}

let rested = performance.now();

// Lays out what is inside of a group that has only nodes, for later; returns whether it is time to let the page answer.
function layOutSoon(item) {
  if (item.children.some((child) => child.group)) return false;
  const before = item.open;
  item.open = true;
  place(item);
  item.open = before;
  place(item);
  const late = performance.now() - rested > 60;
  if (late) rested = performance.now();
  return late;
}

// The item itself, or the folded group that it is in.
function visibleFor(item) {
  const folded = pathOf(item).find((outer) => outer.group && !outer.open);
  return folded || item;
}

function reveal(item) {
  for (const outer of pathOf(item).slice(0, -1)) outer.open = true;
  arrange();
  renewHeat();
  select(item);
  bringIntoView(item);
  paint();
}

// Opens groups, the outermost first and neighbours together, while what is shown stays easy to look at.
function openSome() {
  let count = root.children.length;
  let level = [root];
  while (level.length) {
    const next = [];
    for (const group of level) {
      const inside = group.children.filter((child) => child.group);
      const more = inside.reduce((sum, child) => sum + child.children.length - 1, 0);
      if (data.folded && count + more > FIRST_SHOWN) continue;
      count += more;
      for (const child of inside) child.open = true;
      next.push(...inside);
    }
    level = next;
  }
}

const tell = (text) => { element("status").textContent = text; };

// -- heat maps ------------------------------------------------------------------------------------------------------------

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const NOT_FINITE = "#ff2d78", NO_VALUE = "#9aa3ad";
const MEASURES = {
  time: { label: "time", of: ({ forward, backward }) => forward === undefined && backward === undefined ? null : (forward || 0) + (backward || 0), join: "sum", format: formatTime },
  memory: { label: "memory held for the backward pass", of: ({ bytes }) => bytes || 0, join: "sum", format: formatBytes },
  gradient: { label: "norm of the gradient that arrives", of: ({ gradient }) => gradient === undefined ? null : Number(gradient), join: "max", format: formatNumber },
};
let heat = null;   // {measure, low, high, log}

function formatNumber(x) { return x === 0 ? "0" : Number(x.toPrecision(4)).toString().replace("e+", "e"); }
function formatTime(us) { return us >= 1e6 ? `${formatNumber(us / 1e6)} s` : us >= 1e3 ? `${formatNumber(us / 1e3)} ms` : `${formatNumber(us)} µs`; }
function formatBytes(n) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${formatNumber(n)} ${units[i]}`;
}

// The measure of an item; null for none. A group has the sum of what is inside, or the largest, and not a number if any is not.
function valueOf(item, measure) {
  const values = nodesIn(item).map(({ node }) => MEASURES[measure].of(node)).filter((value) => value !== null);
  if (!values.length) return null;
  const odd = values.find((value) => !Number.isFinite(value) && Number.isNaN(value) || Math.abs(value) === Infinity);
  if (odd !== undefined) return NaN;
  return MEASURES[measure].join === "sum" ? values.reduce((a, b) => a + b, 0) : Math.max(...values);
}

function renewHeat() {
  if (!heat) return;
  const values = boxes().map((item) => valueOf(item, heat.measure)).filter((value) => value !== null && Number.isFinite(value));
  const positive = values.filter((value) => value > 0);
  heat.high = Math.max(...values, 0);
  heat.log = positive.length > 0 && heat.high / Math.min(...positive) > 50;
  heat.low = heat.log ? Math.min(...positive) : Math.min(...values, heat.high);
  paintLegend();
}

function colorOf(value) {
  if (value === null) return NO_VALUE;
  if (!Number.isFinite(value)) return NOT_FINITE;
  const { low, high, log } = heat;
  let part = high === low ? 1 : log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
  part = Math.min(1, Math.max(0, part)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(part));
  return mix(VIRIDIS[i], VIRIDIS[i + 1], part - i);
}

function channels(color) { return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)); }
function mix(a, b, part) {
  const other = channels(b);
  return "#" + channels(a).map((c, i) => Math.round(c + (other[i] - c) * part).toString(16).padStart(2, "0")).join("");
}

// Black or white, whichever has more contrast (relative luminance as of WCAG).
function textOn(color) {
  const [r, g, b] = channels(color).map((c) => c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

function heatItem(item, part, box) {
  const color = colorOf(valueOf(item, heat.measure));
  part.classList.add("heated");
  part.style.setProperty("--text-on-heat", textOn(color));
  box.style.fill = color;
}

function paintLegend() {
  const legend = element("legend");
  legend.hidden = !heat;
  if (!heat) return;
  const { label, format, join } = MEASURES[heat.measure];
  const scale = html("div", "", "scale");
  scale.style.background = `linear-gradient(to right, ${VIRIDIS.join(", ")})`;
  const ends = html("div", "", "ends");
  ends.append(html("span", format(heat.low)), html("span", heat.log ? "logarithmic" : "linear", "faint"), html("span", format(heat.high)));
  legend.replaceChildren(html("strong", label), html("span", join === "sum" ? " (of a group: the sum)" : " (of a group: the largest)", "faint"), scale, ends);
  for (const [color, text] of [[NO_VALUE, "not measured"], [NOT_FINITE, "not finite"]]) {
    if (!boxes().some((item) => colorOf(valueOf(item, heat.measure)) === color)) continue;
    const swatch = html("span", "", "swatch");
    swatch.style.background = color;
    const row = html("div", "");
    row.append(swatch, " " + text);
    legend.append(row);
  }
}

function setHeat(measure) {
  heat = measure ? { measure } : null;
  renewHeat();
  paintLegend();
  paint();
}

for (const [value, label] of [["", "kind"], ["time", "time"], ["memory", "memory"], ["gradient", "gradient norm"]]) {
  const reason = data.missing[value];
  const option = new Option(reason ? `${label} (${reason})` : label, value);
  option.disabled = Boolean(reason);
  if (reason) option.title = reason;
  element("heat").add(option);
}
element("heat").addEventListener("change", (event) => setHeat(event.target.value));

// -- details --------------------------------------------------------------------------------------------------------------

function html(tag, text, look) {
  const made = document.createElement(tag);
  if (look) made.className = look;
  made.textContent = text;
  return made;
}

function facts(pairs) {
  const list = html("dl", "");
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value === "") continue;
    list.append(html("dt", name), html("dd", value));
  }
  return list;
}

function linksTo(title, found) {
  if (!found.length) return [];
  const list = html("ul", "");
  for (const item of found.slice(0, 12)) {
    const button = html("button", item.node.title + (item.node.source ? ` (${sourceLine(item.node.source)})` : ""));
    button.type = "button";
    button.addEventListener("click", () => reveal(item));
    const row = html("li", "");
    row.append(button);
    list.append(row);
  }
  if (found.length > 12) list.append(html("li", `and ${found.length - 12} more`));
  return [html("h3", title), list];
}

const measureText = (item, measure) => {
  const value = valueOf(item, measure);
  return value === null ? null : Number.isFinite(value) ? MEASURES[measure].format(value) : "not finite";
};

function describeNode(item) {
  const { node } = item;
  const times = [["forward", node.forward], ["backward", node.backward]].filter(([, us]) => us !== undefined);
  const parts = [
    html("h2", node.title),
    facts([
      ["operation", node.leaf ? "a parameter, or another leaf" : node.name],
      ["stands for", node.count > 1 ? `${node.count} of a kind` : null],
      ["parameters", (node.parameters || []).join(", ")],
      ["output", (node.shapes || []).join("; ")],
      ["source", node.source],
      ["bytes saved", node.leaf ? null : formatBytes(node.bytes || 0)],
      ["time", times.map(([name, us]) => `${name} ${formatTime(us)}`).join(", ") || (node.leaf ? null : "not measured")],
      ["gradient norm", node.gradient === undefined ? "not measured" : typeof node.gradient === "string" ? node.gradient : formatNumber(node.gradient)],
    ]),
  ];
  if (node.saved) {
    parts.push(html("h3", node.count > 1 ? "Saved tensors (of the first)" : "Saved tensors"));
    for (const saved of node.saved) {
      const part = html("section", "");
      part.append(html("strong", saved.name), ` ${saved.dtype} [${saved.shape.join(", ")}], ${formatBytes(saved.bytes)}`);
      const told = Object.entries(saved.statistics).map(([name, x]) => `${name} ${typeof x === "string" ? x : formatNumber(x)}`);
      if (told.length) part.append(html("div", told.join(", "), "faint"));
      part.append(html("code", saved.values.join("  ")));
      parts.push(part);
    }
  }
  parts.push(...linksTo("Made from", (node.inputs || []).map(([number]) => items[number])), ...linksTo("Used by", item.users));
  return parts;
}

function describeGroup(item) {
  const inside = nodesIn(item), operations = inside.filter(({ node }) => !node.leaf);
  const counts = new Map();
  for (const { node } of operations) counts.set(node.name, (counts.get(node.name) || 0) + 1);
  const lines = [...new Set(operations.map(({ node }) => sourceLine(node.source)).filter(Boolean))];
  const toggle = html("button", item.open ? "Fold" : "Unfold");
  toggle.type = "button";
  toggle.id = "toggle";
  toggle.addEventListener("click", () => setOpen(item, !item.open));
  const parts = [
    html("h2", item.group.label),
    toggle,
    facts([
      ["group", item.group.kind],
      ["holds", plural(operations.length, "operation")],
      ["bytes saved", measureText(item, "memory")],
      ["time", measureText(item, "time") || "not measured"],
      ["gradient norm", measureText(item, "gradient") && `at most ${measureText(item, "gradient")}`],
      ["source", lines.slice(0, 8).join(", ") + (lines.length > 8 ? ", …" : "")],
    ]),
    html("h3", "Operations"),
  ];
  const list = html("ul", "");
  for (const [name, count] of [...counts].sort((a, b) => b[1] - a[1]).slice(0, 15)) list.append(html("li", `${name} ×${count}`));
  return [...parts, list];
}

function select(item) {
  selected = item;
  panel.hidden = item === null;
  if (item === null) return;
  element("details").replaceChildren(...(item.node ? describeNode(item) : describeGroup(item)));
  panel.scrollTop = 0;
  tell([item.node ? item.node.title : item.group.label, ...linesOf(item).slice(1)].join(", "));
}

function deselect() {
  select(null);
  paint();
  svg.focus();
}
element("close").addEventListener("click", deselect);

// -- search -----------------------------------------------------------------------------------------------------------------

const search = element("search"), results = element("results");
const texts = items.slice(0, data.nodes.length).map(({ node }) =>
  [node.title, node.name, ...(node.parameters || []), ...(node.shapes || []), node.source || ""].join("\n").toLowerCase());
let found = [], choice = 0;

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  found = [];
  let count = 0;
  if (words.length) {
    texts.forEach((text, i) => {
      if (words.every((word) => text.includes(word)) && ++count <= 50) found.push(items[i]);
    });
  }
  choice = 0;
  results.replaceChildren(...found.map((item, i) => {
    const row = html("li", item.node.title + " ");
    row.setAttribute("role", "option");
    row.append(html("small", [...(item.node.shapes || []).slice(0, 1), sourceLine(item.node.source)].filter(Boolean).join(" · ")));
    row.addEventListener("mousedown", (event) => { event.preventDefault(); choose(i); });
    return row;
  }));
  if (words.length) results.append(html("li", count > 50 ? `50 of ${count} shown` : count ? "" : "nothing found", "faint"));
  if (results.lastChild && !results.lastChild.textContent) results.lastChild.remove();
  results.hidden = !words.length;
  mark();
  tell(words.length ? `${plural(count, "node")} found` : "");
}

function mark() {
  [...results.children].forEach((row, i) => row.setAttribute("aria-selected", String(i === choice && i < found.length)));
  const row = results.children[choice];
  if (row) row.scrollIntoView({ block: "nearest" });
}

function choose(i) {
  if (!found[i]) return;
  results.hidden = true;
  reveal(found[i]);
  svg.focus();
}

search.addEventListener("input", find);
search.addEventListener("focus", () => { if (search.value) find(); });
search.addEventListener("blur", () => { results.hidden = true; });
search.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && found.length) {
    choice = (choice + step + found.length) % found.length;
    mark();
  } else if (event.key === "Enter") {
    choose(choice);
  } else if (event.key === "Escape") {
    search.value = "";
    find();
    svg.focus();
  } else {
    return;
  }
  event.preventDefault();
});

// -- mouse and keys -----------------------------------------------------------------------------------------------------------

function itemAt(event) {
  const part = event.target.closest("[data-item]");
  return part ? items[Number(part.dataset.item)] : null;
}

let drag = null;
svg.addEventListener("pointerdown", (event) => {
  drag = { x: event.clientX, y: event.clientY, far: false };
});
window.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (!drag.far && Math.hypot(dx, dy) < 4) return;
  svg.classList.add("dragging");
  Object.assign(drag, { x: event.clientX, y: event.clientY, far: true });
  view.x += dx;
  view.y += dy;
  moved();
});
window.addEventListener("pointerup", () => {
  svg.classList.remove("dragging");
  setTimeout(() => { drag = null; });   // the click that follows still sees it
});
svg.addEventListener("click", (event) => {
  if (drag && drag.far) return;
  const item = itemAt(event);
  if (item === selected) return;
  select(item);
  if (item && !isOpen(item)) bringIntoView(item);   // the details may cover it
  paint();
});
svg.addEventListener("dblclick", (event) => {
  const item = itemAt(event);
  if (item && item.group) setOpen(item, !item.open);
});
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = svg.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

function step(key) {
  const order = boxes();
  let next = null;
  if (!selected || isOpen(selected)) {
    next = items[0].shownAs;
  } else if (key === "ArrowLeft" || key === "ArrowRight") {
    const sorted = order.sort((a, b) => a.y - b.y || a.x - b.x);
    next = sorted[sorted.indexOf(selected) + (key === "ArrowRight" ? 1 : -1)];
  } else {
    const [here, there] = key === "ArrowUp" ? ["to", "from"] : ["from", "to"];
    const arrow = arrows.find((arrow) => arrow[here] === selected);
    next = arrow && arrow[there];
  }
  if (!next) return;
  select(next);
  bringIntoView(next);
  paint();
}

const PANS = { ArrowUp: [0, 60], ArrowDown: [0, -60], ArrowLeft: [60, 0], ArrowRight: [-60, 0] };
svg.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  if (key in PANS && event.shiftKey) {
    view.x += PANS[key][0];
    view.y += PANS[key][1];
    moved();
  } else if (key in PANS) {
    step(key);
  } else if (key === "Enter" && selected) {
    const group = selected.group ? selected : selected.parent;
    setOpen(group, !group.open);
  } else if (key === "+" || key === "=") {
    zoom(1.25);
  } else if (key === "-") {
    zoom(0.8);
  } else if (key === "0") {
    fit();
  } else if (key === "?") {
    showKeys();
  } else if (key === "Escape") {
    deselect();
  } else {
    return;
  }
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, select")) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});
panel.addEventListener("keydown", (event) => { if (event.key === "Escape") deselect(); });

function showKeys() {
  const keys = element("keys");
  keys.hidden = !keys.hidden;
  element("help").setAttribute("aria-expanded", String(!keys.hidden));
}
element("help").addEventListener("click", showKeys);
element("fold-all").addEventListener("click", () => setAllOpen(false));
element("unfold-all").addEventListener("click", () => setAllOpen(true));
element("zoom-in").addEventListener("click", () => zoom(1.25));
element("zoom-out").addEventListener("click", () => zoom(0.8));
element("fit").addEventListener("click", fit);
window.addEventListener("resize", paint);

element("title").textContent = data.title;
openSome();
arrange();
begin();
tell(`${plural(data.nodes.length, "node")}, ${plural(boxes().length, "box", "boxes")} shown`);

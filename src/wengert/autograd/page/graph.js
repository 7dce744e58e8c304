// Draws the graph of the data element: boxes in groups that fold, details of what is clicked, search, heat maps. One program
// in several files: this one has what is drawn and where, paint.js how it looks, heat.js colours, panels.js the rest.
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

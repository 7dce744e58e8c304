// How the graph looks in the window, and looking around in it.

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

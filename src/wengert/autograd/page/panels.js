// Details, search, mouse and keys; and the beginning.

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

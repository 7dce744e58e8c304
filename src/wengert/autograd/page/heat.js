// Colours by time, memory or gradient norm.

// -- heat maps ------------------------------------------------------------------------------------------------------------

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const NOT_FINITE = "#ff2d78", NO_VALUE = "#9aa3ad", ZERO = "#ffffff";
const MEASURES = {
  time: { label: "time", of: ({ forward, backward }) => forward === undefined && backward === undefined ? null : (forward || 0) + (backward || 0), join: "sum", format: formatTime },
  memory: { label: "memory held for the backward pass", of: ({ bytes }) => bytes || 0, join: "sum", format: formatBytes },
  gradient: { label: "norm of the gradient that arrives", of: ({ gradient }) => gradient === undefined ? null : Number(gradient), join: "max", format: formatNumber },
};
let heat = null;   // {measure, low, high, log, zero: whether that has a colour of its own}

function formatNumber(x, digits = 4) { return x === 0 ? "0" : Number(x.toPrecision(digits)).toString().replace("e+", "e"); }
function formatTime(us) { return us >= 1e6 ? `${formatNumber(us / 1e6, 3)} s` : us >= 1e3 ? `${formatNumber(us / 1e3, 3)} ms` : `${formatNumber(us, 3)} µs`; }
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
  heat.log = positive.length > 0 && heat.high > Math.min(...positive);
  heat.zero = heat.log || heat.measure === "gradient";
  heat.low = Math.min(...(heat.zero ? positive : values), heat.high);
  paintLegend();
}

function colorOf(value) {
  if (value === null) return NO_VALUE;
  if (!Number.isFinite(value)) return NOT_FINITE;
  if (value === 0 && heat.zero) return ZERO;
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
  for (const [color, text] of [[ZERO, "exactly zero"], [NO_VALUE, "not measured"], [NOT_FINITE, "not finite"]]) {
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

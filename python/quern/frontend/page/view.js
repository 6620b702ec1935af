// SPDX-License-Identifier: BSL-1.0
// The tree of a function: nodes, source, and the links between them.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const small = new Set(["constant", "load"]);
const nodes = new Map(data.nodes.map(n => [n.id, { ...n, children: [] }]));
for (const n of nodes.values()) if (n.parent !== undefined) nodes.get(n.parent).children.push(n);
const root = nodes.get(data.root);
let by = "exclusive_ns";

function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

function duration(ns) {
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toPrecision(3)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toPrecision(3)} ms`;
  return `${(ns / 1e9).toPrecision(3)} s`;
}

function percent(share) {
  if (share < 0.001) return "";
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

const allOwn = Math.max(1, data.nodes.reduce((sum, n) => sum + n.exclusive_ns, 0));

function words(n) {
  if (small.has(n.kind)) return "";
  if (!n.evaluations) return "not evaluated";
  if (!n.inclusive_ns) return `${n.evaluations.toLocaleString("en")} ×, some ns`;
  const mean = duration(n.inclusive_ns / n.evaluations), own = percent(n.exclusive_ns / allOwn);
  return `${n.evaluations.toLocaleString("en")} × ${mean}${own && `, own ${own}`}`;
}

function nameOf(n) {
  return n === root ? `def ${data.name}` : n.name || n.kind;
}

function change(n) {
  const earlier = data.before && data.before[n.id];
  if (!earlier || !earlier.evaluations || !n.evaluations || !earlier.inclusive_ns) return null;
  const ratio = n.inclusive_ns / n.evaluations / (earlier.inclusive_ns / earlier.evaluations);
  const made = element("span", "number soft", `${ratio.toFixed(2)} × before`);
  if (ratio > 1.05) made.classList.add("worse"); else if (ratio < 0.95) made.classList.add("better");
  return made;
}

function label(n) {
  const made = element("span", "node");
  made.tabIndex = 0;
  made.dataset.id = n.id;
  made.title = n.reason || "";
  n.mark = element("span", `mark ${n.decision}`);
  made.append(n.mark, nameOf(n), element("span", "number soft", words(n)));
  const changed = change(n);
  if (changed) made.append(changed);
  made.addEventListener("click", event => { event.preventDefault(); choose(n, true); });
  made.addEventListener("keydown", event => { if (event.key === "Enter") choose(n, true); });
  n.label = made;
  return made;
}

// Pre-order with a stack: trees may be deeper than calls may nest.
function draw() {
  const open = [[root, at("tree")]];
  while (open.length) {
    const [n, into] = open.pop();
    const inner = n.children.some(c => !small.has(c.kind)) || n.children.length > 0;
    const made = element(inner ? "details" : "div", inner ? "" : "leaf");
    if (small.has(n.kind)) made.classList.add("small");
    if (inner) {
      made.open = true;
      const summary = element("summary");
      summary.append(label(n));
      made.append(summary);
      for (const child of [...n.children].reverse()) open.push([child, made]);
    } else {
      made.append(label(n));
    }
    n.box = made;
    into.append(made);
  }
}

function ofLines() {
  const lines = new Map();
  for (const n of nodes.values()) {
    const before = lines.get(n.line) || 0;
    lines.set(n.line, by === "exclusive_ns" ? before + n[by] : Math.max(before, n[by]));
  }
  return lines;
}

// The node with the most has the strongest colour, and the line with the most a full bar.
function colour() {
  const values = [...nodes.values()].map(n => n[by]);
  const most = Math.max(1, ...values), all = by === "exclusive_ns" ? allOwn : most;
  for (const n of nodes.values()) {
    n.mark.style.setProperty("--colour", `color-mix(in srgb, var(--hot) ${Math.round(100 * n[by] / most)}%, var(--cold))`);
  }
  at("scale").textContent = by === "evaluations" ? `evaluations: 0 to ${most.toLocaleString("en")}`
    : `share of the function's time: 0 to ${percent(most / all) || "0 %"}`;
  const lines = ofLines(), longest = Math.max(1, ...lines.values());
  for (const row of document.querySelectorAll(".row")) {
    const value = lines.get(Number(row.dataset.line)) || 0;
    row.querySelector(".heat span").style.width = `${100 * value / longest}%`;
    row.querySelector(".share").textContent = by === "evaluations" ? "" : percent(value / all);
  }
}

function drawSource() {
  data.source.lines.forEach((text, i) => {
    const row = element("div", "row"), line = data.source.first + i;
    row.dataset.line = line;
    row.tabIndex = 0;
    const heat = element("span", "heat");
    heat.append(element("span"));
    row.append(element("span", "line", line), heat, element("span", "share"), element("code", "", text));
    const chosen = () => chooseLine(line);
    row.addEventListener("click", chosen);
    row.addEventListener("keydown", event => { if (event.key === "Enter") chosen(); });
    at("source").append(row);
  });
}

function clear() {
  for (const each of document.querySelectorAll(".chosen")) each.classList.remove("chosen");
  for (const code of document.querySelectorAll("code:has(mark)")) code.textContent = code.textContent;
}

// Columns are bytes of UTF-8, as Python counts them.
function characters(text, bytes) {
  return new TextDecoder().decode(new TextEncoder().encode(text).slice(0, bytes)).length;
}

function markSource(n) {
  for (const row of document.querySelectorAll(".row")) {
    const line = Number(row.dataset.line);
    if (line < n.line || line > n.end_line) continue;
    row.classList.add("chosen");
    if (n.line !== n.end_line) continue;
    const code = row.querySelector("code"), text = code.textContent;
    const first = characters(text, n.column), last = characters(text, n.end_column);
    code.replaceChildren(text.slice(0, first), element("mark", "", text.slice(first, last)), text.slice(last));
  }
}

function detail(n) {
  const share = n.evaluations ? `${Math.round(100 * n.inlined / n.evaluations)} % in its parent's place` : "not evaluated";
  const rows = [["node", `${nameOf(n)} (${n.kind})`], ["place", `${data.file}:${n.line}`],
    ["evaluations", n.evaluations], ["time", duration(n.inclusive_ns)],
    ["own time", `${duration(n.exclusive_ns)} ${percent(n.exclusive_ns / allOwn)}`],
    ["decision", `${n.decision}; ${share}`], ["why", n.reason || "-"]];
  at("detail").replaceChildren(...rows.flatMap(([key, value]) => [element("dt", "", key), element("dd", "", value)]));
}

function choose(n, scroll) {
  clear();
  n.label.classList.add("chosen");
  for (let p = n.parent; p !== undefined; p = nodes.get(p).parent) nodes.get(p).box.open = true;
  markSource(n);
  detail(n);
  const row = document.querySelector(`.row[data-line="${n.line}"]`);
  if (scroll && row) row.scrollIntoView({ block: "nearest" });
}

function chooseLine(line) {
  const found = data.nodes.map(n => nodes.get(n.id)).filter(n => n.line === line && !small.has(n.kind));
  if (!found.length) return;
  choose(found[0], false);
  for (const n of found) n.label.classList.add("chosen");
  found[0].label.scrollIntoView({ block: "nearest" });
}

// Statements stay in sight; below them, what takes one hundredth of the call or more.
function foldShort() {
  for (const n of nodes.values()) {
    if (n.box.tagName === "DETAILS") n.box.open = n === root || n.inclusive_ns >= 0.01 * root.inclusive_ns;
  }
}

// Scrolls the pane and not the page.
function centre(pane, inner) {
  if (!inner) return;
  pane.scrollTop += inner.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 2;
}

function showLongest() {
  if (!root.evaluations) return;
  const longest = [...nodes.values()].reduce((most, n) => n.exclusive_ns > most.exclusive_ns ? n : most, root);
  choose(longest, false);
  centre(at("tree"), longest.label);
  centre(at("source"), document.querySelector(".row.chosen"));
}

function notes() {
  for (const text of [...data.in_python.map(t => `Calls Python: ${t}`), ...data.as_function]) {
    at("notes").append(element("div", "banner", text));
  }
}

at("title").textContent = data.name;
at("headline").textContent = `${data.file}; ${nodes.size} nodes; ${data.calls.toLocaleString("en")} calls as a tree` +
  (root.evaluations ? `, ${duration(root.inclusive_ns / root.evaluations)} each` : "");
notes();
draw();
drawSource();
colour();
foldShort();
showLongest();
at("by").addEventListener("change", event => { by = event.target.value; colour(); });
at("small").addEventListener("change", event => at("tree").classList.toggle("with-small", event.target.checked));
at("unfold").addEventListener("click", () => { for (const d of document.querySelectorAll("#tree details")) d.open = true; });
at("short").addEventListener("click", foldShort);
at("fold").addEventListener("click", () => {
  for (const n of nodes.values()) if (n.box.tagName === "DETAILS") n.box.open = n === root || n.kind === "block";
});

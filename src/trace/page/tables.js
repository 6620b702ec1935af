// Tables, the task tree and what is known of the run. Names reach the page as text only.

const COLUMNS = [
  ["site", (s) => s.name.toLowerCase(), null],
  ["tasks", (s) => s.tasks, (s) => countWords(s.tasks)],
  ["total", (s) => s.total, (s) => durationWords(s.total)],
  ["share", (s) => s.total, (s) => percentWords(s.total / totalOfSites)],
  ["mean", (s) => s.mean, (s) => durationWords(s.mean)],
  ["alone", (s) => s.alone || 0, (s) => (s.alone === undefined ? "–" : durationWords(s.alone))],
  ["std. dev.", (s) => s.stddev, (s) => durationWords(s.stddev)],
  ["least", (s) => s.min, (s) => durationWords(s.min)],
  ["most", (s) => s.max, (s) => durationWords(s.max)],
  ["waits", (s) => s.suspensions, (s) => countWords(s.suspensions)],
  ["waited", (s) => s.waited || 0, (s) => durationWords(s.waited || 0)],
  ["blocked", (s) => s.blocked || 0, (s) => durationWords(s.blocked || 0)],
  ["lost", (s) => s.lost || 0, (s) => (s.lost_error ? `${durationWords(s.lost - s.lost_error)} to ` : "") + durationWords(s.lost || 0)],
  ["critical path", (s) => s.critical || 0, (s) => percentWords((s.critical || 0) / Math.max(1, run.critical))],
  ["in place", (s) => s.inlined, (s) => countWords(s.inlined)],
  ["stolen", (s) => s.stolen, (s) => countWords(s.stolen)],
];
// Events of the hardware and the kernel, where they were counted by kind of task: each for one task of the site.
const COUNTED = run.events.map((event, i) => ({ ...event, i })).filter((event) => event.why === "");
for (const { name, unit, i } of COUNTED) {
  const ofTask = (s) => (s.events.length > 0 && s.tasks > 0 ? s.events[i] / s.tasks : -1);
  const words = (value) => (unit === "ns" ? durationWords(value) : shortNumber(value));
  COLUMNS.push([`${name} / task`, ofTask, (s) => (ofTask(s) < 0 ? "–" : words(ofTask(s)))]);
}
if (["instructions", "cycles"].every((name) => COUNTED.some((event) => event.name === name))) {
  const [above, below] = ["instructions", "cycles"].map((name) => COUNTED.find((event) => event.name === name).i);
  const ratio = (s) => (s.events.length > 0 && s.events[below] > 0 ? s.events[above] / s.events[below] : -1);
  COLUMNS.push(["instructions / cycle", ratio, (s) => (ratio(s) < 0 ? "–" : shortNumber(ratio(s)))]);
}
const totalOfSites = Math.max(1, run.sites.reduce((sum, site) => sum + site.total, 0));

function swatch(colour) {
  const made = element("span", { class: "swatch" });
  made.style.background = colour;
  return made;
}

// A name that is very long opens when asked.
function nameCell(site, colour) {
  const full = (site.name || "(no name)") + (site.place ? " " : "");
  const place = element("span", { class: "soft" }, brief(site.place));
  if (full.length <= 160) return element("th", { scope: "row" }, swatch(colour), full, place);
  const cell = element("th", { scope: "row" });
  cell.append(element("details", {}, element("summary", {}, swatch(colour), brief(full)), full + " ", place));
  return cell;
}

// Hides the rows of the sites that have none of the words in their name or place.
function siteSearch(rows) {
  const field = element("input", { type: "search", id: "site-search", placeholder: "name or file" });
  const found = element("span", { class: "soft", role: "status" });
  field.addEventListener("input", () => {
    const words = String(field.value).toLowerCase().split(/\s+/);
    let shown = 0;
    for (const { site, row } of rows) {
      const text = `${site.name} ${site.place}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    found.textContent = String(field.value) === "" ? "" : `${countWords(shown)} of ${countWords(rows.length, "site")}`;
  });
  return element("p", {}, element("label", { for: "site-search" }, "Search: "), field, " ", found);
}

function drawSites() {
  if (run.sites.length === 0) {
    byId("sites").append(element("p", { class: "soft" }, "No tasks were recorded."));
    return;
  }
  const optional = ["alone", "waited", "blocked", "lost", "critical path"];
  const columns = COLUMNS.filter(([name, value]) => !optional.includes(name) || run.sites.some((site) => value(site) > 0));
  const body = element("tbody");
  const headers = columns.map(([name]) => element("th", { scope: "col", class: name === "site" ? "words" : "" }, element("button", { type: "button" }, name)));
  const rows = run.sites.map((site, index) => ({
    site,
    row: element("tr", {}, nameCell(site, siteColour(index)), ...columns.slice(1).map(([, , words]) => element("td", {}, words(site)))),
  }));
  const sort = (column, down) => {
    const value = columns[column][1];
    const order = (a, b) => (value(a.site) < value(b.site) ? -1 : value(a.site) > value(b.site) ? 1 : 0);
    rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
    body.replaceChildren(...rows.map((entry) => entry.row));
    headers.forEach((header, i) => {
      header.firstChild.textContent = columns[i][0] + (i === column ? (down ? " ▼" : " ▲") : "");
      if (i === column) header.setAttribute("aria-sort", down ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    });
  };
  headers.forEach((header, i) => header.firstChild.addEventListener("click", () =>
    sort(i, header.getAttribute("aria-sort") ? header.getAttribute("aria-sort") === "ascending" : i !== 0)));
  sort(2, true);
  if (rows.length > 1) byId("sites").append(siteSearch(rows));
  byId("sites").append(scroll("Table of sites", element("table", {}, element("thead", {}, element("tr", {}, ...headers)), body)));
  const stretch = run.sites.some((site) => site.alone !== undefined) ? " Alone: the mean on one worker, from the calibration." : "";
  byId("sites").append(element("p", { class: "soft" }, "Choose a column's name to sort by it. Waits: how often tasks gave up their worker, and waited: until they were woken. In place: run by one who waited " +
    "for them. Stolen: begun on another worker than the one that made them. Lost: ready without a processor; the less is sure, the rest may have been before." + stretch));
  for (const { name, why, counted } of run.events) {
    const text = why !== "" ? `${name}: unavailable (${why}).` : counted < 1 ? `${name}: counted ${percentWords(counted)} of the time and scaled to all of it, an estimate.` : "";
    if (text !== "") byId("sites").append(element("p", { class: "soft" }, text));
  }
}

function plainTable(label, names, rows) {
  const head = element("tr", {}, ...names.map((name, i) => element("th", { scope: "col", class: i === 0 ? "words" : "" }, name)));
  const lines = rows.map((row) => element("tr", {}, element("th", { scope: "row" }, row[0]), ...row.slice(1).map((cell) => element("td", {}, cell))));
  return scroll(label, element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines)));
}

function drawWorkers() {
  const rows = run.lanes.map((lane, i) => {
    const total = Math.max(1, lane.running + lane.managing + lane.idle);
    return [laneWords(i), percentWords(lane.running / total), percentWords(lane.managing / total), percentWords(lane.idle / total), countWords(lane.tasks),
      countWords(lane.stolen), countWords(lane.suspensions), countWords(lane.parks), lane.thread, countWords(lane.dropped)];
  });
  byId("workers").append(plainTable("Table of workers", ["worker", "tasks", "overhead", "idle", "tasks run", "stolen by it", "waits", "sleeps", "thread", "events lost"], rows));
}

function treeLine(site, tasks, more) {
  return element("li", {}, swatch(siteColour(site)), brief(siteName(site)), element("span", { class: "soft" }, ` ${countWords(tasks, "task")}${more}`));
}

// Each site's children are shown where the site appears first.
function drawTree() {
  const children = new Map();
  const made = new Map();
  for (const [parent, child, tasks] of run.tree) {
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push([child, tasks]);
    if (parent !== child) made.set(child, (made.get(child) || 0) + tasks);
    else made.set(child, made.get(child) || 0);
  }
  const seen = new Set();
  let room = 600;
  const branch = (site, tasks) => {
    const below = children.get(site) || [];
    const again = seen.has(site);
    const item = treeLine(site, tasks, again && below.length > 0 ? ", as above" : "");
    room--;
    if (again || room <= 0) return item;
    seen.add(site);
    const list = element("ul");
    for (const [child, count] of below) {
      if (room <= 0) break;
      list.append(child === site ? treeLine(child, count, ", made by others of its own kind") : branch(child, count));
    }
    if (list.children.length > 0) item.append(list);
    return item;
  };
  const box = byId("tree");
  const list = element("ul", { class: "tree" });
  run.sites.forEach((site, i) => {
    if (!(made.get(i) > 0) && (site.tasks > 0 || children.has(i)) && room > 0) list.append(branch(i, site.tasks));
  });
  run.sites.forEach((site, i) => {  // those that make each other and are made by nobody else
    if (children.has(i) && !seen.has(i) && room > 0) list.append(branch(i, site.tasks));
  });
  const words = [];
  if (run.critical > 0) {
    const most = run.sites.reduce((a, b) => ((b.critical || 0) > (a.critical || 0) ? b : a), run.sites[0] || {});
    words.push(`The critical path takes ${durationWords(run.critical)}: no number of workers ends sooner. Work divided by it, the average parallelism, is ` +
      `${shortNumber(run.parallelism)}.` + (most.critical > 0 ? ` ${percentWords(most.critical / run.critical)} of it is in ${brief(most.name || "(no name)")}.` : ""));
  }
  if (run.tree.length === 0) words.push("No site made tasks of another, or it was not recorded.");
  if (room <= 0) words.push("The tree is longer than shown here; the graph has more of it.");
  for (const text of words) box.append(element("p", {}, text));
  box.append(list);
  if (run.tree.length > 0) {
    const link = element("a", { href: URL.createObjectURL(new Blob([run.dot], { type: "text/vnd.graphviz" })), download: "task-tree.dot" }, "Download as a graph for Graphviz (DOT)");
    box.append(element("p", {}, link));
  }
}

function drawAbout() {
  const list = element("dl");
  const known = [["Program", run.program], ["Command", run.command], ["Began", run.started], ["Duration", durationWords(run.duration)], ["Machine", run.machine],
    ["Overhead of a task", run.overhead > 0 ? durationWords(run.overhead) : ""]];
  for (const [name, value] of known) {
    if (value) list.append(element("dt", {}, name), element("dd", {}, value));
  }
  byId("about").append(list);
  if (run.settings.length > 0) {
    const table = element("tbody", {}, ...run.settings.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "words" }, value))));
    byId("about").append(element("details", {}, element("summary", {}, countWords(run.settings.length, "setting")), scroll("Settings", element("table", {}, table))));
  }
}

// Fills the page from top to bottom, once; what depends on the window's width or on light and dark is drawn again.

function drawSummary() {
  const words = [run.machine, run.started, `${countWords(run.lanes.length, "worker")}, ${durationWords(run.duration)}`].filter((text) => text);
  byId("summary").textContent = words.map((each) => each.replace(/ (\S+)$/, "\u00a0$1")).join(" · ");  // a number stays beside its unit
  const lost = run.lanes.reduce((sum, lane) => sum + lane.dropped, 0);
  const notes = lost > 0 ? [`${countWords(lost, "event")} found no room and ${lost === 1 ? "is" : "are"} missing from lanes and charts, which are hatched or striped from there on: ` +
    "record again with more room (--quern:trace-events). Totals and the table of sites are not affected."] : [];
  for (const text of notes.concat(run.left_out)) byId("banner").append(element("p", { class: "banner" }, text));
}

function drawParts() {
  const what = run.efficiency;
  if (!(what.total > 0)) return;
  const bar = element("div", { class: "bar", "aria-hidden": "true" });
  const rows = [];
  const means = { work: what.inflation === undefined ? "in tasks (with inflation, which is unknown)" : "in tasks, as long as they take alone",
    overhead: "the runtime's own work: making, queueing, switching, settling tasks", starvation: "workers had nothing to do",
    inflation: "tasks took longer than alone", blocked: "threads of workers slept in the kernel within tasks: a lock of the system, input and output",
    lost: "workers were ready and had no processor: other programs had it, or a quota was used up" };
  for (const [name, colour] of Object.entries(PARTS)) {
    const known = what[name] !== undefined;
    if (!known && name !== "inflation") continue;
    const share = known ? what[name] / what.total : 0;
    if (share > 0) {
      const piece = element("span", { title: `${name}: ${percentWords(share)}` });
      piece.style.background = colour;
      piece.style.flex = `${share} 0 0`;
      bar.append(piece);
    }
    const cell = element("th", { scope: "row" }, swatch(colour), name + (what.largest === name ? " (the largest loss)" : ""));
    rows.push(element("tr", { class: what.largest === name ? "largest" : "" }, cell, element("td", {}, known ? percentWords(share) : "unknown"),
      element("td", {}, known ? durationWords(what[name]) : ""), element("td", { class: "words" }, means[name])));
  }
  byId("parts").append(bar, scroll("Parts of the workers' time", element("table", { class: "parts" }, element("tbody", {}, ...rows))));
}

function drawLegend() {
  const legend = byId("legend");
  run.sites.slice(0, COLOURS.length).forEach((site, i) => legend.append(element("li", {}, swatch(siteColour(i)), brief(siteName(i)),
    element("span", { class: "soft" }, site.place ? " " + brief(site.place) : ""))));
  if (run.sites.length > COLOURS.length) legend.append(element("li", {}, swatch(OTHER_COLOUR), countWords(run.sites.length - COLOURS.length, "other site")));
  legend.append(element("li", {}, swatch("var(--between)"), "between tasks: the runtime at work, or a short search"));
  legend.append(element("li", {}, swatch("var(--idle)"), "idle: asleep, or no task for more than 100 µs"));
  if (lanes.some((lane) => lane.dropped > 0)) {
    legend.append(element("li", {}, element("span", { class: "swatch hatched" }), "not recorded"));
  }
  if (run.decisions.length > 0) legend.append(element("li", {}, "▾ a decision (listed below)"));
}

function drawKept() {
  const { total, kept, shortest, every, stretch } = run.kept;
  const lost = run.lanes.some((lane) => lane.dropped > 0);
  const recorded = lost ? " that were recorded" : "";
  const share = kept === total ? `${lost ? "The" : "All"} ${countWords(total, "piece")} of tasks${recorded} are in this page${lost ? ", none of those after" : ""}.` :
    `Of ${countWords(total, "piece")} of tasks${recorded} ${countWords(kept)} are in this page one by one: those of ${durationWords(shortest)} or longer, and in the first ` +
    `${durationWords(stretch)} of every ${durationWords(every)} all of them (a grey line above the lanes marks where). Elsewhere the height of a colour is the share of short tasks.`;
  byId("kept").textContent = share;
}

readTheme();
drawSummary();
drawParts();
drawLegend();
drawKept();
drawSites();
drawWaits();
drawDurations();
drawCounters();
drawDecisions();
drawTree();
drawGraph();
drawWorkers();
drawAbout();
offerComparison();
canvas.style.height = AXIS + lanes.length * laneHeight + 2 + "px";
drawConcurrency();
byId("lane-part").hidden = run.kept.total === 0;
byId("no-lanes").hidden = run.kept.total !== 0;
if (lanes.length > 0) listen();
show(0, run.duration);
drawLanes();
frameConcurrency(view.from, view.to);
let windowWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth !== windowWidth) {
    windowWidth = window.innerWidth;
    drawConcurrency();
  }
  redraw();
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readTheme();
  redraw();
});
document.documentElement.dataset.drawn = "yes";  // a test looks for it

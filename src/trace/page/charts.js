// Charts as SVG: concurrency, durations, counters. Colours are classes where the style sheet knows light and dark.

const SVG = "http://www.w3.org/2000/svg";
const LEFT = 92;  // of lanes and concurrency, so that the same time is at the same place

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function chart(width, height, label) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

function line(x1, y1, x2, y2, css) {
  return shape("line", { x1, y1, x2, y2, class: css });
}

function label(x, y, words, anchor, css) {
  return shape("text", { x, y, "text-anchor": anchor || "start", class: css || "tick" }, words);
}

function titled(node, words) {
  node.append(shape("title", {}, words));
  return node;
}

function timeAxis(svg, from, to, left, right, y, count) {
  for (const t of ticks(from, to, count)) {
    const x = left + ((t - from) / (to - from)) * (right - left);
    svg.append(line(x, y, x, y + 4, "axis"), label(x, y + 16, t === 0 ? "0" : trimmed(durationWords(t)), "middle"));
  }
}

// Stacked areas, one for each of the first sites and one for all others.
const concurrency = { svg: null, frame: null, width: 0 };

// Of each step, how many workers' events had no room any more.
function unrecorded(steps) {
  const width = run.duration / steps;
  const lost = new Array(steps).fill(0);
  for (const lane of run.lanes.filter((each) => each.dropped > 0)) {
    for (let i = 0; i < steps; i++) lost[i] += Math.min(1, Math.max(0, (i + 1) - lane.until / width));
  }
  return lost;
}

// On top of what is known, in stripes: what ran there nobody knows.
function drawUnrecorded(svg, base, lost, x, y) {
  let stripes = "";
  lost.forEach((value, i) => {
    if (i % 4 < 2 && value > 0) stripes += `M${x(i).toFixed(1)} ${y(base[i]).toFixed(1)}V${y(base[i] + value).toFixed(1)}H${x(i + 1).toFixed(1)}V${y(base[i]).toFixed(1)}Z`;
  });
  svg.append(titled(shape("path", { d: stripes, class: "unknown" }), "not recorded: no room for more events"));
}

function drawConcurrency() {
  const box = byId("concurrency");
  const rows = run.concurrency;
  const used = rows.some((row) => row.some((value) => value > 0));
  if (!used) {
    box.replaceChildren(element("p", { class: "soft" }, "No single tasks were recorded."));
    return;
  }
  const width = Math.max(320, box.clientWidth);
  const height = 210;
  const right = width - 8;
  const bottom = height - 24;
  const steps = rows[0].length;
  const sums = rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0));
  const top = Math.max(run.lanes.length, ...sums);
  const y = (value) => bottom - (value / top) * (bottom - 30);
  const x = (i) => LEFT + (i / steps) * (right - LEFT);
  const lost = unrecorded(steps);
  const seen = run.lanes.length * steps - lost.reduce((a, b) => a + b, 0);
  const mean = seen > 0 ? (sums.reduce((a, b) => a + b, 0) / seen) * run.lanes.length : 0;
  const svg = chart(width, height, `Tasks that run at a time, by site: on average ${shortNumber(mean)} of ${run.lanes.length}`);
  for (const value of ticks(0, top, 4)) {
    if (Number.isInteger(value)) svg.append(line(LEFT, y(value), right, y(value), "gridline"), label(LEFT - 6, y(value) + 4, value, "end"));
  }
  const base = new Array(steps).fill(0);
  rows.forEach((row, index) => {
    let upper = "";
    let lower = "";
    for (let i = 0; i < steps; i++) {
      const above = base[i] + row[i];
      upper += `L${x(i).toFixed(1)} ${y(above).toFixed(1)}H${x(i + 1).toFixed(1)}`;
      lower = `L${x(i + 1).toFixed(1)} ${y(base[i]).toFixed(1)}H${x(i).toFixed(1)}` + lower;
      base[i] = above;
    }
    if (row.some((value) => value > 0)) {
      const name = index < rows.length - 1 ? siteName(index) : "all other sites";
      const colour = index < rows.length - 1 ? siteColour(index) : OTHER_COLOUR;
      const area = shape("path", { d: "M" + upper.slice(1) + lower + "Z", fill: colour, class: "area" });
      svg.append(titled(area, `${name}: ${shortNumber(row.reduce((a, b) => a + b, 0) / steps)} on average`));
    }
  });
  const workers = run.lanes.length;
  if (lost.some((value) => value > 0)) drawUnrecorded(svg, base, lost, x, y);
  svg.append(line(LEFT, y(workers), right, y(workers), "limit"), label(right, y(workers) - 10, countWords(workers, "worker"), "end"));
  timeAxis(svg, 0, run.duration, LEFT, right, bottom, Math.min(8, (right - LEFT) / 90));
  concurrency.frame = shape("rect", { y: y(top) - 4, height: bottom - y(top) + 4, class: "frame" });
  concurrency.width = right - LEFT;
  svg.append(concurrency.frame);
  concurrency.svg = svg;
  box.replaceChildren(svg, element("p", { class: "soft" }, `On average ${shortNumber(mean)} tasks ran at a time on ${countWords(workers, "worker")}${lost.some((value) => value > 0) ? " as long as they were recorded (striped: not recorded)" : ""}. ` +
    "The frame is what the lanes above show; colours are as there."));
}

function frameConcurrency(from, to) {
  if (!concurrency.frame) return;
  concurrency.frame.setAttribute("x", LEFT + (from / run.duration) * concurrency.width);
  concurrency.frame.setAttribute("width", Math.max(2, ((to - from) / run.duration) * concurrency.width));
}

// Tasks by duration, each bar a power of two; the dashed line is what the runtime spends on a task.
function histogram(site, low, high) {
  const width = 330;
  const height = 130;
  const bottom = height - 22;
  const most = Math.max(1, ...site.histogram);
  const x = (exponent) => 8 + ((exponent - low) / (high - low)) * (width - 16);
  const svg = chart(width, height, `Durations of ${site.name}: mean ${durationWords(site.mean)}, ${durationWords(site.min)} to ${durationWords(site.max)}`);
  site.histogram.forEach((count, i) => {
    if (count === 0) return;
    const tall = Math.max(1.5, (count / most) * (bottom - 16));
    const bar = shape("rect", { x: x(i), y: bottom - tall, width: x(i + 1) - x(i), height: tall, class: "bars" });
    svg.append(titled(bar, `${countWords(count, "task")} of ${durationWords(2 ** i)} to ${durationWords(2 ** (i + 1))}`));
  });
  svg.append(line(8, bottom, width - 8, bottom, "axis"));
  const unit = Math.max(1, Math.round((high - low) / 4));
  for (let i = low; i <= high; i += unit) svg.append(label(x(i), bottom + 15, durationWords(2 ** i), i === low ? "start" : i === high ? "end" : "middle"));
  if (run.overhead > 0) {
    const place = x(Math.min(high, Math.max(low, Math.log2(run.overhead))));
    svg.append(titled(line(place, 4, place, bottom, "limit"), `overhead of a task: ${durationWords(run.overhead)}`));
    svg.append(label(place > width / 2 ? place - 4 : place + 4, 12, "overhead " + durationWords(run.overhead), place > width / 2 ? "end" : "start"));
  }
  return svg;
}

function drawDurations() {
  const box = byId("durations");
  const known = run.sites.filter((site) => site.histogram.some((count) => count > 0));
  if (known.length === 0) {
    box.append(element("p", { class: "soft" }, "No tasks were recorded."));
    return;
  }
  const filled = known.flatMap((site) => site.histogram.map((count, i) => (count > 0 ? i : -1)).filter((i) => i >= 0));
  const line2 = run.overhead > 0 ? Math.floor(Math.log2(run.overhead)) : filled[0];
  const low = filled.concat(line2).reduce((a, b) => Math.min(a, b));
  const high = filled.concat(line2).reduce((a, b) => Math.max(a, b)) + 1;
  const grid = element("div", { class: "grid" });
  const add = (sites) => {
    for (const site of sites) {
      grid.append(element("div", {}, element("h3", {}, brief(site.name || "(no name)")), histogram(site, low, high),
        element("p", { class: "soft" }, `${countWords(site.tasks, "task")}, mean ${durationWords(site.mean)}`)));
    }
  };
  const first = 9;
  add(known.slice(0, first));
  box.append(element("p", {}, "Each bar is a power of two, its height the number of tasks. Tasks to the left of the dashed line take less time than " +
    "the runtime spends on them."), grid);
  if (known.length > first) {
    const more = element("button", { type: "button" }, `Show ${countWords(known.length - first, "further site")}`);
    more.addEventListener("click", () => {
      add(known.slice(first));
      more.remove();
    });
    box.append(more);
  }
}

function counterChart(series) {
  const width = 330;
  const height = 120;
  const left = 54;
  const bottom = height - 20;
  const times = series.points.filter((_, i) => i % 2 === 0);
  const values = series.points.filter((_, i) => i % 2 === 1);
  const least = values.reduce((a, b) => Math.min(a, b), 0);
  const most = values.reduce((a, b) => Math.max(a, b), least);
  const top = most > least ? most : least + 1;
  const x = (t) => left + (t / run.duration) * (width - left - 26);
  const y = (value) => bottom - ((value - least) / (top - least)) * (bottom - 12);
  const svg = chart(width, height, `${series.name}: from ${valueWords(Math.min(...values))} to ${valueWords(most)} ${series.unit}`);
  for (const value of ticks(least, top, 3)) {
    svg.append(line(left, y(value), width - 26, y(value), "gridline"), label(left - 5, y(value) + 4, valueWords(value), "end"));
  }
  const path = values.map((value, i) => `${i === 0 ? "M" : "L"}${x(times[i]).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  svg.append(titled(shape("path", { d: path, class: "curve" }), `${series.name}: last ${valueWords(values[values.length - 1])} ${series.unit}`));
  if (values.length === 1) svg.append(shape("circle", { cx: x(times[0]), cy: y(values[0]), r: 3, class: "bars" }));
  timeAxis(svg, 0, run.duration, left, width - 26, bottom, 3);
  return svg;
}

function drawCounters() {
  const known = run.counters.filter((series) => series.points.length > 0);
  if (known.length === 0) {
    byId("counters").append(element("p", { class: "soft" }, "None were recorded."));
    return;
  }
  const grid = element("div", { class: "grid" });
  for (const series of known) {
    grid.append(element("div", {}, element("h3", {}, brief(series.name) + (series.unit ? ` (${series.unit})` : "")), counterChart(series)));
  }
  byId("counters").append(grid);
}

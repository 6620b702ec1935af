// What tasks waited for: the locks that several wanted, and all things, tasks and lines.

function waitLines(row) {
  const words = row.lines.filter(([name, place]) => name !== "" || place !== "").map(([name, place, waits, total]) =>
    `${brief(name)}${place ? (name ? " at " : "") + place : ""}${row.lines.length > 1 ? `, ${percentWords(total / Math.max(1, row.total))}` : ""}`);
  const cell = element("td", { class: "words" });
  words.forEach((text, i) => cell.append(...(i > 0 ? [element("br")] : []), text));
  return cell;
}

// Rows of one lock put together; the one with the most time first.
function contendedLocks() {
  const locks = new Map();
  for (const row of run.waits.filter((each) => each.lock)) {
    const known = locks.get(row.thing) || { thing: row.thing, waits: 0, total: 0, max: 0, sites: [], lines: [] };
    known.waits += row.waits;
    known.total += row.total;
    known.max = Math.max(known.max, row.max);
    known.sites.push(row.site);
    known.lines.push(...row.lines);
    locks.set(row.thing, known);
  }
  return [...locks.values()].sort((a, b) => b.total - a.total);
}

function headRow(names, words) {
  return element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col", class: words.includes(name) ? "words" : "" }, name))));
}

function times(row) {
  return [countWords(row.waits), durationWords(row.total), durationWords(row.total / Math.max(1, row.waits)), durationWords(row.max)].map((text) => element("td", {}, text));
}

function drawLocks(box) {
  const locks = contendedLocks();
  if (locks.length === 0) return;
  const rows = locks.map((lock) => element("tr", {}, element("th", { scope: "row" }, lock.thing), ...times(lock),
    element("td", {}, shortNumber(lock.total / run.duration)), element("td", { class: "words" }, [...new Set(lock.sites)].map((site) => brief(siteName(site))).join(", ")), waitLines(lock)));
  const head = headRow(["lock", "waits", "waited", "mean", "longest", "tasks waiting", "tasks of", "locked at"], ["lock", "tasks of", "locked at"]);
  box.append(element("h3", {}, "Contended locks"), scroll("Contended locks", element("table", {}, head, element("tbody", {}, ...rows))),
    element("p", { class: "soft" }, "Tasks waiting: on average at any time of the run. A lock that was free, or taken within a short spin, is not counted."));
}

function drawWaits() {
  const box = byId("waits");
  if (run.talk) box.append(element("p", { id: "talk" }, run.talk.words));
  if (run.waits.length === 0) {
    box.append(element("p", { class: "soft" }, "No task has waited."));
    return;
  }
  drawLocks(box);
  const kinds = new Map();
  for (const { kind, waits, total } of run.waits) {
    const known = kinds.get(kind) || [0, 0];
    kinds.set(kind, [known[0] + waits, known[1] + total]);
  }
  const words = [...kinds].sort((a, b) => b[1][1] - a[1][1]).map(([kind, [waits, total]]) => `${kind} ${durationWords(total)} (${countWords(waits)})`);
  box.append(element("p", {}, `By kind, time and number of waits: ${words.join(", ")}.`));
  const line = (row) => element("tr", {}, element("th", { scope: "row" }, row.thing), ...times(row),
    element("td", { class: "words" }, swatch(siteColour(row.site)), brief(siteName(row.site))), waitLines(row));
  const head = headRow(["waited for", "waits", "waited", "mean", "longest", "tasks of", "at"], ["waited for", "tasks of", "at"]);
  const body = element("tbody", {}, ...run.waits.slice(0, 20).map(line));
  box.append(scroll("Table of waits", element("table", {}, head, body)));
  if (run.waits.length > 20) {
    const more = element("button", { type: "button" }, `Show ${countWords(run.waits.length - 20, "further row")}`);
    more.addEventListener("click", () => {
      body.append(...run.waits.slice(20).map(line));
      more.remove();
    });
    box.append(more);
  }
  box.append(element("p", { class: "soft" }, "From where a task gave up its worker until it was woken. All waits of tasks are counted, not those of coroutines and of threads " +
    "outside; the lines are those of a sample."));
}

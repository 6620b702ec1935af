// Another report beside this one: its data is read from the file that the user chooses, on this computer alone.

// The data of a report page, or null where the text is none.
function dataOfPage(text) {
  const mark = "<" + 'script type="application/json" id="data">';
  const begin = text.indexOf(mark);
  const end = text.indexOf("<" + "/script>", begin);
  if (begin < 0 || end < 0) return null;
  try {
    const data = JSON.parse(text.slice(begin + mark.length, end));
    return Array.isArray(data.sites) && data.efficiency ? data : null;
  } catch (error) {
    return null;
  }
}

// "+12 %", and whether more of it is worse.
function changeCell(before, now, isCost) {
  if (!(before > 0) || now === undefined) return element("td", {}, before === now ? "" : "–");
  const change = now / before - 1;
  const words = Math.abs(change) < 0.005 ? "same" : `${change > 0 ? "+" : "−"}${Math.abs(100 * change) < 999.5 ? shortNumber(Math.abs(100 * change)) + " %" : "× " + shortNumber(now / before)}`;
  return element("td", { class: !isCost || Math.abs(change) < 0.05 ? "" : change > 0 ? "worse" : "better" }, words);
}

function comparedRow(name, before, now, words, isCost) {
  const cell = (value) => element("td", {}, value === undefined ? "–" : words(value));
  return element("tr", {}, element("th", { scope: "row" }, name), cell(before), cell(now), changeCell(before, now, isCost));
}

function comparedTable(label, rows) {
  return scroll(label, element("table", {}, headRow([label, "other run", "this run", "change"], [label]), element("tbody", {}, ...rows)));
}

// By name and place; where the place has moved, by the name alone if it is the only one.
function sameSite(wanted, sites) {
  const named = sites.filter((site) => site.name === wanted.name);
  return named.find((site) => site.place === wanted.place) || (named.length === 1 ? named[0] : undefined);
}

function wholeRows(other) {
  const tasks = (data) => data.lanes.reduce((sum, lane) => sum + lane.tasks, 0);
  const rows = [comparedRow("duration", other.duration, run.duration, durationWords, true), comparedRow("workers", other.lanes.length, run.lanes.length, countWords, false),
    comparedRow("tasks", tasks(other), tasks(run), countWords, false)];
  for (const name of Object.keys(PARTS)) {
    const [before, now] = [other.efficiency[name], run.efficiency[name]];
    if (before !== undefined || now !== undefined) rows.push(comparedRow(name + ", of all workers", before, now, durationWords, name !== "work"));
  }
  if (other.critical > 0 || run.critical > 0) rows.push(comparedRow("critical path", other.critical, run.critical, durationWords, true));
  return rows;
}

function siteRows(other) {
  const rows = [];
  for (const site of run.sites.slice(0, 100)) {
    const before = sameSite(site, other.sites) || {};
    const name = brief(site.name || "(no name)");
    rows.push(comparedRow(`${name}: tasks`, before.tasks, site.tasks, countWords, false), comparedRow(`${name}: mean`, before.mean, site.mean, durationWords, true),
      comparedRow(`${name}: total`, before.total, site.total, durationWords, true));
    if (site.waited > 0 || before.waited > 0) rows.push(comparedRow(`${name}: waited`, before.waited, site.waited, durationWords, true));
  }
  for (const site of other.sites.slice(0, 100)) {
    if (!sameSite(site, run.sites)) rows.push(comparedRow(`${brief(site.name || "(no name)")}: total`, site.total, undefined, durationWords, true));
  }
  return rows;
}

function compareWith(text, fileName) {
  const other = dataOfPage(text);
  if (other === null) {
    byId("comparison").replaceChildren(element("p", { class: "bad" }, `${fileName} is no report of Quern.`));
    return;
  }
  const notes = [`Other run: ${fileName}, ${[other.program, other.command, other.started].filter((part) => part).join(" · ")}.`];
  if (other.program !== run.program) notes.push(`It is of another program: ${other.program}, and this one is ${run.program}.`);
  if (other.machine !== run.machine) notes.push(`It is of another machine: ${other.machine}.`);
  byId("comparison").replaceChildren(...notes.map((words) => element("p", {}, words)), comparedTable("Whole run", wholeRows(other)), comparedTable("Sites", siteRows(other)));
}

function offerComparison() {
  const field = byId("other-page");
  field.addEventListener("change", () => {
    const file = field.files && field.files[0];
    if (file) file.text().then((text) => compareWith(text, file.name));
  });
}

// What tuners and policies decided: each tuned value over time, and a table of the decisions.

const MOST_NUMBERS = 12;  // pictures
const FIRST_DECISIONS = 20;  // rows at first

// Of numbers that were decided about more than once: the decisions in order of time, each with the number before and after.
function changedNumbers() {
  const numbers = new Map();
  for (const decision of run.decisions) {
    for (const [part, before, after] of decision.numbers || []) {
      const name = decision.subject + (part ? `: ${part}` : "") + (decision.unit ? ` (${decision.unit})` : "");
      if (!numbers.has(name)) numbers.set(name, []);
      numbers.get(name).push({ ...decision, before, after });
    }
  }
  return [...numbers].filter(([, decisions]) => decisions.length > 1);
}

// From the least to the largest value: powers of ten if they are far apart; from zero unless they are close.
function valueScale(numbers, bottom, top) {
  const least = numbers.reduce((a, b) => Math.min(a, b));
  const most = numbers.reduce((a, b) => Math.max(a, b));
  const isLog = least > 0 && most >= 20 * least;
  const near = Math.max(0, Math.floor(least - (most - least) / 2));  // values that differ little would be a line at the top
  const low = isLog ? Math.floor(Math.log10(least)) : least > most / 2 ? near : Math.min(0, least);
  const high = isLog ? Math.ceil(Math.log10(most)) : Math.max(most, low + 1);
  const place = (value) => bottom - (((isLog ? Math.log10(value) : value) - low) / (high - low)) * (bottom - top);
  const marks = isLog ? ticks(low, high, 4).filter(Number.isInteger).map((power) => 10 ** power) : ticks(low, high, 3);
  return { place, marks };
}

function valueChart(name, decisions) {
  const width = 330;
  const height = 150;
  const left = 54;
  const right = width - 26;
  const bottom = height - 20;
  const until = Math.min(run.duration, 1.25 * decisions[decisions.length - 1].at) || 1;
  const x = (t) => left + (Math.min(t, until) / until) * (right - left);
  const { place, marks } = valueScale(decisions.flatMap(({ before, after }) => [before, after]), bottom, 12);
  const last = decisions[decisions.length - 1];
  const svg = chart(width, height, `${name}: ${countWords(decisions.length, "decision")}, the last: ${last.value}`);
  for (const value of marks) {
    svg.append(line(left, place(value), right, place(value), "gridline"), label(left - 5, place(value) + 4, valueWords(value), "end"));
  }
  let path = `M${left} ${place(decisions[0].before).toFixed(1)}`;
  for (const { at, after, applied } of decisions) {
    if (applied) path += `H${x(at).toFixed(1)}V${place(after).toFixed(1)}`;
  }
  svg.append(shape("path", { d: `${path}H${right}`, class: "curve" }));
  const radius = decisions.length > 25 ? 2.5 : 4;
  for (const each of decisions) {
    const css = each.trial ? "trial" : each.applied ? "choice" : "refused";
    const point = shape("circle", { cx: x(each.at).toFixed(1), cy: place(each.after).toFixed(1), r: each.trial ? 0.8 * radius : radius, class: css });
    svg.append(titled(point, `${durationWords(each.at)}, ${each.who}: ${each.value}\n${each.why}`));
  }
  timeAxis(svg, 0, until, left, right, bottom, 4);
  return svg;
}

function drawNumbers(box) {
  const numbers = changedNumbers();
  if (numbers.length === 0) return;
  const grid = element("div", { class: "grid" });
  for (const [name, decisions] of numbers.slice(0, MOST_NUMBERS)) {
    grid.append(element("div", {}, element("h3", {}, brief(name)), valueChart(name, decisions)));
  }
  const rest = numbers.length > MOST_NUMBERS ? ` The first ${MOST_NUMBERS} of ${countWords(numbers.length, "number")} are drawn.` : "";
  box.append(grid, element("p", { class: "soft" }, "Each number up to shortly after its last change. Hollow points are trials, set in order to be measured; filled ones are choices; " +
    `red ones were not applied. Numbers that differ much are on a logarithmic axis.${rest}`));
}

// Newest first: the last of each value, so that one that changes often does not hide the others, and the newest.
function firstDecisions(choices) {
  const subjects = new Set();
  const isLast = choices.map(({ subject }) => subject !== undefined && !subjects.has(subject) && subjects.add(subject));
  let room = FIRST_DECISIONS - subjects.size;
  return choices.filter((_, i) => isLast[i] || room-- > 0).slice(0, FIRST_DECISIONS);
}

function decisionRow(decision, columns) {
  const { at, who, what, subject, inputs, trial } = decision;
  const when = element("td", {}, durationWords(at));
  const name = element("td", { class: "words name" }, who);
  if (subject === undefined) return element("tr", {}, when, name, element("td", { class: "words", colspan: 2 + columns.length }), element("td", { class: "words reason" }, what));
  const why = element("td", { class: "words reason" }, decision.why);
  if (inputs) why.append(element("span", { class: "soft" }, `${decision.why ? " " : ""}[${inputs}]`));
  const ratios = columns.map((key) => element("td", {}, decision[key] === undefined ? "–" : shortNumber(decision[key])));
  return element("tr", { class: trial ? "soft" : "" }, when, name, element("td", { class: "words subject" }, subject), element("td", { class: "value" }, decision.value.replace(" -> ", " → ")), ...ratios, why);
}

function drawDecisions() {
  const box = byId("decisions");
  if (run.decisions.length === 0) {
    box.append(element("p", { class: "soft" }, "None: nothing was tuned, and no policy changed anything."));
    return;
  }
  drawNumbers(box);
  const columns = ["predicted", "observed"].filter((key) => run.decisions.some((each) => each[key] !== undefined));
  const newest = [...run.decisions].reverse();
  const choices = newest.filter((each) => !each.trial);
  const first = firstDecisions(choices.length > 0 ? choices : newest);
  const body = element("tbody", {}, ...first.map((each) => decisionRow(each, columns)));
  const heads = [["when", ""], ["who", "words name"], ["what", "words subject"], ["value", "value"],
    ...columns.map((key) => [key === "predicted" ? "expected" : key, ""]), ["why", "words"]];
  const head = element("tr", {}, ...heads.map(([name, css]) => element("th", { scope: "col", class: css }, name)));
  box.append(scroll("Decisions", element("table", {}, element("thead", {}, head), body)));
  if (columns.length > 0) box.append(element("p", { class: "soft" }, "The cost expected or observed after the decision is divided by that before."));
  const left = newest.length - first.length;
  if (left === 0) return;
  const trials = newest.length - choices.length;
  const areTrials = choices.length > 0 && left === trials;
  const words = choices.length === 0 || trials === 0 || areTrials ? "" : `, among them ${countWords(trials, "trial")}`;
  const more = element("button", { type: "button" }, areTrials ? `and ${countWords(trials, "trial")}` : `and ${countWords(left)} more${words}`);
  more.addEventListener("click", () => {
    body.replaceChildren(...newest.map((each) => decisionRow(each, columns)));
    more.remove();
  });
  box.append(more);
}

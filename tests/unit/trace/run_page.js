// SPDX-License-Identifier: BSL-1.0
// Runs the script of a report page without a browser, where there is Node: its document is one that answers everything.
// Checks that it ends without an error, in every view, and that what it unpacks is what the page says of it.
// Usage: node run_page.js PAGE TASKS
"use strict";
const fs = require("fs");
const vm = require("vm");
const assert = require("assert");

const page = fs.readFileSync(process.argv[2], "utf8");
const part = (begin) => page.slice(page.indexOf(begin) + begin.length, page.indexOf("</script>", page.indexOf(begin)));
const data = part('<script type="application/json" id="data">');

// Any property of it is such a thing too, and any call gives one; sizes are numbers, and what was set is kept.
function anything(known) {
  const kept = Object.assign({ clientWidth: 1000, clientHeight: 600, offsetWidth: 100, offsetHeight: 40, scrollTop: 0, width: 0, height: 0, length: 0 }, known);
  return new Proxy(function () {}, {
    get(_, name) {
      if (name === Symbol.toPrimitive) return () => "";
      if (name === Symbol.iterator) return [][Symbol.iterator].bind([]);
      if (!(name in kept)) kept[name] = anything();
      return kept[name];
    },
    set(_, name, value) {
      kept[name] = value;
      return true;
    },
    apply: () => anything(),
    construct: () => anything(),
  });
}

const listeners = {};
const elements = {};
const canvas = anything({
  addEventListener: (name, act) => { listeners[name] = act; },
  getBoundingClientRect: () => ({ left: 0, top: 0, width: 1000, height: 300 }),
  getContext: () => anything({ measureText: (text) => ({ width: 6 * text.length }) }),
});
const world = vm.createContext({
  console, atob, assert, page,
  document: anything({
    activeElement: canvas,
    documentElement: anything(),
    getElementById: (id) => (elements[id] = elements[id] || (id === "lanes" ? canvas : id === "data" ? { textContent: data } : anything())),
  }),
  window: anything({ innerWidth: 1280, innerHeight: 800, devicePixelRatio: 2 }),
  getComputedStyle: () => ({ getPropertyValue: () => "#000000" }),
  requestAnimationFrame: (act) => act(),
  URL: { createObjectURL: () => "blob:" },
  Blob: class {},
});
vm.runInContext(part("<script>"), world, { filename: process.argv[2] });

if (listeners.keydown) {
  const key = (name) => listeners.keydown({ key: name, preventDefault() {} });
  for (const name of ["+", "+", ".", ",", ".", "ArrowDown", ".", "ArrowRight", "ArrowLeft", "-", "ArrowUp", "Home", "x"]) key(name);
  for (let i = 0; i < 40; i++) key("+");
  for (const [x, y] of [[500, 10], [500, 40], [200, 60], [10, 40], [999, 290]]) listeners.pointermove({ clientX: x, clientY: y });
  listeners.wheel({ deltaY: 300, deltaX: 0, clientX: 500, preventDefault() {} });
  listeners.pointerdown({ clientX: 500, clientY: 40, pointerId: 1 });
  listeners.pointermove({ clientX: 300, clientY: 40 });
  listeners.pointerup({});
}

const recorded = JSON.parse(data);
const isCut = recorded.lanes.some((lane) => lane.dropped > 0);
assert.strictEqual(String(elements.kept.textContent).startsWith("All "), !isCut && recorded.kept.kept === recorded.kept.total, elements.kept.textContent);

vm.runInContext(`
  assert.strictEqual(lanes.reduce((sum, lane) => sum + lane.pieces.begin.length, 0), run.kept.kept);
  for (const { pieces } of lanes) {
    for (let i = 1; i < pieces.begin.length; i++) assert(pieces.begin[i] >= pieces.end[i - 1], "pieces overlap");
    assert(pieces.task.every((task) => Number.isInteger(task) && task > 0));
  }
  for (const [ns, words] of [[0, "0 ns"], [999, "999 ns"], [1000, "1.00 µs"], [50e6, "50.0 ms"], [1.5e9, "1.50 s"]]) {
    assert.strictEqual(durationWords(ns), words);
  }
  assert.strictEqual(trimmed("50.0 ms") + trimmed("0.50") + trimmed("100 ns") + trimmed("1.00 s"), "50 ms0.5100 ns1 s");
  assert.deepStrictEqual(Array.from(ticks(0, 10, 5)), [0, 2, 4, 6, 8, 10]);
  assert.strictEqual(countWords(1234567, "task"), "1,234,567 tasks");
  for (const { pieces } of lanes) assert(pieces.wait.every((wait) => wait <= run.waits.length));
  assert.strictEqual(unrecorded(10).reduce((a, b) => a + b, 0) > 0, lanes.some((lane) => lane.dropped > 0 && lane.until < run.duration));
  assert.strictEqual(dataOfPage("<p>no report</p>"), null);
  assert.deepStrictEqual(dataOfPage(page).sites, run.sites);
  compareWith(page, "other.html");
  compareWith("", "empty.html");
  assert.strictEqual(sameSite(run.sites[0] || {}, run.sites), run.sites[0]);
`, world);

"use strict";
// The recording as the page carries it, and the words for its numbers. All other files use these.

// null is a number that is not finite.
const run = JSON.parse(document.getElementById("data").textContent, (key, value) => value === null ? 0 : value);
const NO_SITE = 255;
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442"];
const OTHER_COLOUR = "#8a919a";
const PARTS = { work: "#009e73", overhead: "#d55e00", starvation: "#56b4e9", inflation: "#cc79a7", blocked: "#f0e442", lost: "#999999" };

function siteColour(site) {
  return COLOURS[site] || OTHER_COLOUR;
}

function siteName(site) {
  return run.sites[site] ? run.sites[site].name || "(no name)" : "(unknown)";
}

// For where a long name would push everything else away; the table of sites has it whole.
function brief(name) {
  return name.length > 80 ? name.slice(0, 79) + "…" : name;
}

// Three digits, as in the rest of Quern's output.
function shortNumber(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

function durationWords(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (Math.abs(ns) >= size * 0.9995) return shortNumber(ns / size) + " " + unit;
  }
  return ns.toFixed(0) + " ns";
}

function countWords(count, what) {
  const digits = Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  return what ? digits + " " + what + (count === 1 ? "" : "s") : digits;
}

function percentWords(share) {
  const percent = 100 * share;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return percent.toFixed(percent > 0 && percent < 9.95 ? 1 : 0) + " %";
}

// 12,300 as 12.3 k: for axes and counters.
function valueWords(value) {
  const size = Math.abs(value);
  for (const [unit, letter] of [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (size >= unit) return trimmed(shortNumber(value / unit)) + letter;
  }
  return trimmed(size > 0 && size < 0.01 ? value.toExponential(1) : shortNumber(value));
}

function trimmed(text) {
  return text.replace(/\.\d+/, (fraction) => fraction.replace(/\.?0+$/, ""));
}

// Places for about `count` marks between two values: steps of 1, 2 or 5 times a power of ten.
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0)) return [low];
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(value);
  return found;
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Numbers of variable length (src/trace/page/packed_bytes.hpp); without bit operators, which end at 32 bits.
class PackedReader {
  constructor(base64) {
    this.bytes = bytesOf(base64);
    this.at = 0;
  }
  get more() {
    return this.at < this.bytes.length;
  }
  number() {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte % 128) * scale;
      if (!(byte >= 128)) return value;
      scale *= 128;
    }
  }
  difference() {
    const code = this.number();
    return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
  }
}

// Of a lane: {begin, end, site, suspended, wait, task}, each a list in order of time. wait: 1 + the index in run.waits, or 0.
function unpackSlices(lane) {
  const reader = new PackedReader(lane.slices);
  const slices = { begin: [], end: [], site: [], suspended: [], wait: [], task: [] };
  let at = 0;
  let task = 0;
  while (reader.more) {
    const begin = at + reader.difference();
    at = begin + reader.number();
    const code = reader.number();
    slices.wait.push(code % 2 === 1 ? reader.number() : 0);
    task += reader.difference();
    slices.begin.push(begin);
    slices.end.push(at);
    slices.site.push(code >> 1);
    slices.suspended.push(code % 2 === 1);
    slices.task.push(task);
  }
  return slices;
}

function unpackIdle(lane) {
  const reader = new PackedReader(lane.idle_times);
  const idle = { begin: [], end: [] };
  let at = 0;
  while (reader.more) {
    const begin = at + reader.difference();
    at = begin + reader.number();
    idle.begin.push(begin);
    idle.end.push(at);
  }
  return idle;
}

// The last index whose value is not above the limit, or -1.
function lastNotAbove(values, limit) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// An element with attributes and children; text is never taken for markup.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// What may be wider than the window, within reach of the keyboard.
function scroll(label, inner) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, inner);
}

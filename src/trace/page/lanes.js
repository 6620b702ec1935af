// Draws the lanes: each worker's time from left to right. Where single slices are thinner than a pixel or were left out, cells
// of the zoom levels stand for them: their height is the share of tasks, idle time hangs from the top, and the rest is between.

const lanes = run.lanes.map((lane) => ({
  ...lane,
  pieces: unpackSlices(lane),
  rests: unpackIdle(lane),
  cells: lane.levels.map(bytesOf),
}));
const AXIS = 24;  // pixels at the top
const laneHeight = Math.min(26, Math.max(5, Math.floor(600 / Math.max(1, lanes.length))));
const view = { from: 0, to: Math.max(1, run.duration), lane: 0 };
const canvas = byId("lanes");
const theme = {};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["page", "text", "soft", "line", "idle", "between", "unknown", "link"]) theme[name] = style.getPropertyValue("--" + name).trim();
}

function plotWidth() {
  return Math.max(100, canvas.clientWidth - LEFT - 8);
}

function timeAt(x) {
  return view.from + ((x - LEFT) / plotWidth()) * (view.to - view.from);
}

// Whether all slices of the window are there, so that no cells are needed.
function complete(lane) {
  if (run.kept.shortest === 0 && run.kept.every === 0) return true;
  if (run.kept.every === 0 || lane.dropped > 0) return false;
  const start = Math.floor(view.from / run.kept.every) * run.kept.every;
  return view.to <= start + run.kept.stretch;
}

function levelFor(pixelNs) {
  let level = 0;
  while (level + 1 < run.level_sizes.length && run.duration / run.level_sizes[level] > pixelNs * 1.5) level++;
  return level;
}

function drawCells(g, lane, y, height, scale) {
  const level = levelFor(1 / scale);
  const cells = lane.cells[level];
  const width = run.duration / run.level_sizes[level];
  const last = Math.min(run.level_sizes[level] - 1, Math.floor(view.to / width));
  for (let i = Math.max(0, Math.floor(view.from / width)); i <= last; i++) {
    const busy = (cells[3 * i + 1] / 255) * height;
    const idle = Math.min(height - busy, (cells[3 * i + 2] / 255) * height);
    const left = LEFT + (i * width - view.from) * scale;
    const wide = width * scale + 0.4;
    if (idle > 0) {
      g.fillStyle = theme.idle;
      g.fillRect(left, y, wide, idle);
    }
    if (busy > 0) {
      g.fillStyle = siteColour(cells[3 * i]);
      g.fillRect(left, y + height - busy, wide, busy);
    }
  }
}

function drawRests(g, lane, y, height, scale, thinnest) {
  g.fillStyle = theme.idle;
  const { begin, end } = lane.rests;
  for (let i = Math.max(0, lastNotAbove(begin, view.from)); i < begin.length && begin[i] < view.to; i++) {
    const wide = (end[i] - begin[i]) * scale;
    if (wide >= thinnest) g.fillRect(LEFT + (begin[i] - view.from) * scale, y, wide, height);
  }
}

function drawPieces(g, lane, y, height, scale, thinnest) {
  const { begin, end, site } = lane.pieces;
  for (let i = Math.max(0, lastNotAbove(begin, view.from)); i < begin.length && begin[i] < view.to; i++) {
    const wide = (end[i] - begin[i]) * scale;
    if (wide < thinnest) continue;
    const left = LEFT + (begin[i] - view.from) * scale;
    g.fillStyle = siteColour(site[i]);
    g.fillRect(left, y, Math.max(0.7, wide), height);
    if (wide > 4) {  // so that two of one colour are told apart
      g.fillStyle = theme.page;
      g.fillRect(left + wide - 0.5, y, 0.5, height);
    }
    if (wide > 60 && height >= 12) drawName(g, siteName(site[i]), site[i], Math.max(left, LEFT), Math.min(left + wide, LEFT + plotWidth()), y, height);
  }
}

// On the colour itself: black or white, whichever is readable there.
function drawName(g, name, site, left, right, y, height) {
  const room = right - left - 8;
  if (room < 30) return;
  g.font = "11px system-ui, sans-serif";
  const width = g.measureText(name).width;
  const fits = width <= room ? name : name.slice(0, Math.max(1, Math.floor((name.length * room) / width) - 1)) + "…";
  g.fillStyle = site === 0 ? "#ffffff" : "#000000";
  g.fillText(fits, left + 4, y + height / 2 + 4);
}

// From where events found no room: what happened there nobody knows.
function drawUnknown(g, lane, y, height, scale) {
  if (lane.dropped === 0 || lane.until >= view.to) return;
  const left = LEFT + Math.max(0, lane.until - view.from) * scale;
  const right = LEFT + plotWidth();
  g.fillStyle = theme.page;
  g.fillRect(left, y, right - left, height);
  g.save();
  g.beginPath();
  g.rect(left, y, right - left, height);
  g.clip();
  g.strokeStyle = theme.unknown;
  for (let x = left - height; x < right; x += 6) {
    g.beginPath();
    g.moveTo(x, y + height);
    g.lineTo(x + height, y);
    g.stroke();
  }
  g.restore();
}

function drawLane(g, lane, y, scale) {
  const height = laneHeight - (laneHeight > 8 ? 3 : 1);
  g.save();
  g.beginPath();
  g.rect(LEFT, y, plotWidth(), height);
  g.clip();
  const first = lastNotAbove(lane.pieces.begin, view.from);
  const inView = lastNotAbove(lane.pieces.begin, view.to) - first;
  const exact = complete(lane) && inView < 2 * plotWidth();
  g.fillStyle = theme.between;
  g.fillRect(LEFT, y, plotWidth(), height);
  if (exact) {
    drawRests(g, lane, y, height, scale, 0);
  } else {
    drawCells(g, lane, y, height, scale);
  }
  drawPieces(g, lane, y, height, scale, exact ? 0 : 1.5);
  drawUnknown(g, lane, y, height, scale);
  g.restore();
}

function drawLaneNames(g) {
  g.font = "11px system-ui, sans-serif";
  g.textAlign = "right";
  const every = Math.ceil(13 / laneHeight);
  lanes.forEach((lane, i) => {
    if (i % every !== 0 && i !== view.lane) return;
    const several = lanes.some((other) => other.pool !== lanes[0].pool);
    const name = (several ? lane.pool.slice(0, 8) + "/" : "worker ") + lane.rank;
    const chosen = document.activeElement === canvas && i === view.lane;
    g.fillStyle = chosen ? theme.link : theme.text;
    g.fillText((chosen ? "▸ " : "") + name, LEFT - 6, AXIS + i * laneHeight + Math.min(laneHeight / 2 + 3, laneHeight));
  });
  g.textAlign = "left";
}

// Where all slices are in the page, while elsewhere the short ones are not.
function drawStretches(g, scale) {
  const { every, stretch } = run.kept;
  g.fillStyle = theme.soft;
  for (let at = Math.floor(view.from / every) * every; every > 0 && at < view.to; at += every) {
    const left = LEFT + Math.max(0, at - view.from) * scale;
    const right = LEFT + Math.min(view.to - view.from, at + stretch - view.from) * scale;
    if (right > left) g.fillRect(left, AXIS - 2, right - left, 2);
  }
}

function drawAxis(g, scale) {
  g.font = "11px system-ui, sans-serif";
  g.textAlign = "center";
  const step = ticks(view.from, view.to, plotWidth() / 130);
  const digits = step.length > 1 ? step[1] - step[0] : 1;
  for (const t of step) {
    const x = LEFT + (t - view.from) * scale;
    g.fillStyle = theme.line;
    g.fillRect(x, 18, 1, AXIS - 18);
    g.fillStyle = theme.soft;
    g.fillText(timeWords(t, digits), Math.min(x, LEFT + plotWidth() - 22), 13);
  }
  drawStretches(g, scale);
  for (const { at } of run.decisions) {
    if (at < view.from || at > view.to) continue;
    const x = LEFT + (at - view.from) * scale;
    g.fillStyle = theme.link;
    g.beginPath();
    g.moveTo(x - 4, 16);
    g.lineTo(x + 4, 16);
    g.lineTo(x, 23);
    g.fill();
  }
  g.textAlign = "left";
}

// As many digits as the distance between two marks needs.
function timeWords(ns, step) {
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([size]) => view.to >= size) || [1, "ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return (ns / size).toFixed(digits) + " " + unit;
}

function drawLanes() {
  const tall = AXIS + lanes.length * laneHeight + 2;
  const ratio = Math.min(window.devicePixelRatio || 1, 16000 / tall);
  const width = canvas.clientWidth;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = theme.page;
  g.fillRect(0, 0, width, tall);
  const scale = plotWidth() / (view.to - view.from);
  lanes.forEach((lane, i) => drawLane(g, lane, AXIS + i * laneHeight, scale));
  drawLaneNames(g);
  drawAxis(g, scale);
}

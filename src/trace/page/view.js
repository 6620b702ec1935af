// Zooming and moving in the lanes, and what is said of the place under the pointer.

let frameAsked = false;

function redraw() {
  if (frameAsked) return;
  frameAsked = true;
  requestAnimationFrame(() => {
    frameAsked = false;
    drawLanes();
    frameConcurrency(view.from, view.to);
  });
}

function show(from, to) {
  const shortest = Math.min(run.duration, 20);
  const length = Math.min(run.duration, Math.max(shortest, to - from));
  view.from = Math.min(Math.max(0, from), run.duration - length);
  view.to = view.from + length;
  byId("view-words").textContent = `${timeWords(view.from, length / 10)} to ${timeWords(view.to, length / 10)}, ${durationWords(length)} of ${durationWords(run.duration)}`;
  redraw();
}

function zoom(factor, around) {
  const middle = around === undefined ? (view.from + view.to) / 2 : around;
  show(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
}

function pan(share) {
  const by = share * (view.to - view.from);
  show(view.from + by, view.to + by);
}

// The slice of the lane at that time, or -1.
function pieceAt(lane, time) {
  const i = lastNotAbove(lane.pieces.begin, time);
  return i >= 0 && lane.pieces.end[i] >= time ? i : -1;
}

function pieceWords(lane, i) {
  const { begin, end, site, suspended, wait, task } = lane.pieces;
  const place = run.sites[site[i]] && run.sites[site[i]].place;
  return `${brief(siteName(site[i]))}${place ? " (" + place + ")" : ""}: ${durationWords(end[i] - begin[i])}` +
    ` from ${timeWords(begin[i], (view.to - view.from) / 100)}${task[i] > 0 ? ", task " + task[i] : ""}${suspended[i] ? ", then it waited" + waitWords(wait[i]) : ""}`;
}

function waitWords(wait) {
  const row = run.waits[wait - 1];
  return row ? ` for ${row.thing}${row.lines.length > 0 && row.lines[0][1] ? " at " + row.lines[0][1] : ""}` : "";
}

function placeWords(lane, time) {
  if (lane.dropped > 0 && time > lane.until) return "not recorded: no room for more events";
  const piece = pieceAt(lane, time);
  if (piece >= 0) return pieceWords(lane, piece);
  const rest = lastNotAbove(lane.rests.begin, time);
  if (rest >= 0 && lane.rests.end[rest] >= time) return `idle for ${durationWords(lane.rests.end[rest] - lane.rests.begin[rest])}`;
  if (!complete(lane)) {
    const level = levelFor((view.to - view.from) / plotWidth());
    const i = Math.floor((time / run.duration) * run.level_sizes[level]);
    const [site, busy, idle] = lane.cells[level].subarray(3 * i, 3 * i + 3);
    if (busy > 0) return `about here: ${percentWords(busy / 255)} tasks, most of them ${brief(siteName(site))}; ${percentWords(idle / 255)} idle`;
  }
  return "between tasks: the runtime at work, or a short search";
}

function laneWords(i) {
  return `Worker ${lanes[i].rank}${lanes[i].pool ? " of " + lanes[i].pool : ""}`;
}

function decisionsAt(time) {
  const near = (4 / plotWidth()) * (view.to - view.from);
  return run.decisions.filter(({ at }) => Math.abs(at - time) <= near).slice(0, 3).map(({ at, who, what }) => `${durationWords(at)}, ${who}: ${what}`);
}

function pointed(event) {
  const box = canvas.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  const lane = Math.floor((y - AXIS) / laneHeight);
  const time = timeAt(x);
  const tip = byId("tip");
  const inside = x >= LEFT && time <= run.duration && lane < lanes.length;
  const words = !inside ? "" : lane < 0 ? decisionsAt(time).join("\n") : `${laneWords(lane)}\n${placeWords(lanes[lane], time)}`;
  tip.hidden = words === "";
  tip.textContent = words;
  tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8) + "px";
}

function say(words) {
  byId("lane-status").textContent = words;
}

// The keyboard's way to a tooltip: the task in the middle of the window, and those before and after.
let chosenPiece = -1;

function choose(step) {
  const lane = lanes[view.lane];
  const count = lane.pieces.begin.length;
  if (count === 0) return say(`${laneWords(view.lane)}: no tasks are drawn one by one.`);
  const middle = lastNotAbove(lane.pieces.begin, (view.from + view.to) / 2);
  chosenPiece = Math.min(count - 1, Math.max(0, chosenPiece < 0 ? middle : chosenPiece + step));
  const begin = lane.pieces.begin[chosenPiece];
  const end = lane.pieces.end[chosenPiece];
  if (begin < view.from || end > view.to) {
    const half = Math.max((view.to - view.from) / 2, (end - begin) * 0.6);
    show((begin + end) / 2 - half, (begin + end) / 2 + half);
  }
  say(`${laneWords(view.lane)}: ${pieceWords(lane, chosenPiece)}`);
}

function chooseLane(step) {
  view.lane = Math.min(lanes.length - 1, Math.max(0, view.lane + step));
  chosenPiece = -1;
  const y = AXIS + view.lane * laneHeight;
  const box = byId("lane-box");
  if (y < box.scrollTop || y + laneHeight > box.scrollTop + box.clientHeight) box.scrollTop = y - box.clientHeight / 2;
  say(`${laneWords(view.lane)}: ${placeWords(lanes[view.lane], (view.from + view.to) / 2)}`);
  redraw();
}

const KEYS = {
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "ArrowLeft": () => pan(-0.2), "ArrowRight": () => pan(0.2),
  "ArrowUp": () => chooseLane(-1), "ArrowDown": () => chooseLane(1), ",": () => choose(-1), ".": () => choose(1),
  "Home": () => show(0, run.duration),
};

function listen() {
  canvas.addEventListener("keydown", (event) => {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 800);
    else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), timeAt(event.clientX - canvas.getBoundingClientRect().left));
  }, { passive: false });
  let grabbed = null;
  canvas.addEventListener("pointerdown", (event) => {
    grabbed = { x: event.clientX, from: view.from, to: view.to };
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("dragged");
    canvas.focus({ preventScroll: true });
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!grabbed) return pointed(event);
    const by = ((grabbed.x - event.clientX) / plotWidth()) * (grabbed.to - grabbed.from);
    show(grabbed.from + by, grabbed.to + by);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => {
      grabbed = null;
      canvas.classList.remove("dragged");
    });
  }
  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, redraw);
  const buttons = { "zoom-in": () => zoom(0.5), "zoom-out": () => zoom(2), "pan-left": () => pan(-0.4), "pan-right": () => pan(0.4),
    "zoom-all": () => show(0, run.duration) };
  for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
}

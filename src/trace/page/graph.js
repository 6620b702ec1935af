// The graph of dependent tasks: task by task in layers, or kind by kind when there are too many.

// Each task one layer below the lowest of those that it waits for, and of their children; children that wait for no sibling, below their parent.
function layersOf(graph) {
  const depth = graph.nodes.map(() => 0);
  const before = graph.nodes.map(() => []);
  const parentOf = (i) => graph.nodes[i][3];
  for (let i = 0; i < graph.arrows.length; i += 2) before[graph.arrows[i + 1]].push(graph.arrows[i]);
  graph.nodes.forEach(([, , , parent], i) => {
    if (parent >= 0 && !before[i].some((each) => parentOf(each) === parent)) before[i].push(parent);
  });
  let hasChanged = true;
  for (let round = 0; hasChanged && round < depth.length; ++round) {  // children may have been made after what follows their parent
    hasChanged = false;
    const lowest = depth.slice();
    for (let i = depth.length - 1; i >= 0; --i) if (parentOf(i) >= 0) lowest[parentOf(i)] = Math.max(lowest[parentOf(i)], lowest[i]);
    before.forEach((all, i) => {
      const wanted = Math.max(0, ...all.map((each) => (each === parentOf(i) ? depth : lowest)[each] + 1));
      if (wanted > depth[i]) hasChanged = true;
      depth[i] = Math.max(depth[i], wanted);
    });
  }
  const layers = [];
  depth.forEach((at, i) => (layers[at] = layers[at] || []).push(i));
  return { layers, before };
}

// From the top down, each layer in the order of the mean place of what its tasks wait for.
function placesOf({ layers, before }, step, height) {
  const widest = Math.max(...layers.map((layer) => layer.length));
  const places = [];
  layers.forEach((layer, row) => {
    const wanted = new Map(layer.map((i) => [i, before[i].reduce((sum, each) => sum + places[each].x, 0) / Math.max(1, before[i].length)]));
    layer.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
    layer.forEach((i, column) => {
      places[i] = { x: (column + 0.5 + (widest - layer.length) / 2) * step, y: (row + 0.5) * height };
    });
  });
  return { places, width: widest * step, height: layers.length * height };
}

function kindName(graph, kind) {
  return graph.kinds[kind].name || "(no name)";
}

function cut(text, length) {
  return text.length > length ? text.slice(0, length - 1) + "…" : text;
}

// Names fit into boxes up to 100 tasks; more are squares, which say their names when they are pointed at.
function drawTasks(graph) {
  const small = graph.nodes.length > 100;
  const [step, gap, half, tall] = small ? [26, 44, 8, 8] : [78, 56, 33, 14];
  const { places, width, height } = placesOf(layersOf(graph), step, gap);
  const svg = chart(width, height, `Graph of ${countWords(graph.nodes.length, "dependent task")}`);
  svg.setAttribute("style", `width: ${width}px; height: ${height}px`);
  const arrow = (from, to, css) => {
    const [a, b] = [places[from], places[to]];
    const middle = (a.y + b.y) / 2;
    const aside = b.y - a.y > 1.5 * gap && Math.abs(b.x - a.x) < half ? 0.8 * step : 0;  // around what lies between
    svg.append(shape("path", { d: `M${a.x} ${a.y + tall}C${a.x + aside} ${middle} ${b.x + aside} ${middle} ${b.x} ${b.y - tall}`, class: css }));
  };
  const boxAt = ({ x, y }, attributes) => shape("rect", { x: x - half, y: y - tall, width: 2 * half, height: 2 * tall, rx: 4, ...attributes });
  const isFirst = graph.nodes.map(() => true);
  for (let i = 0; i < graph.arrows.length; i += 2) {
    const [from, to] = [graph.arrows[i], graph.arrows[i + 1]];
    if (graph.nodes[from][3] === graph.nodes[to][3]) isFirst[to] = false;
    arrow(from, to, graph.nodes[from][2] && graph.nodes[to][2] ? "edge chain" : "edge");
  }
  graph.nodes.forEach(([kind, ns, isInChain, parent], i) => {
    if (parent >= 0 && isFirst[i]) arrow(parent, i, "edge made");
    const words = `${kindName(graph, kind)} ${i + 1}${ns > 0 ? `, ${durationWords(ns)}` : ""}${isInChain ? ", in the longest chain" : ""}`;
    svg.append(boxAt(places[i], { class: "under" }), titled(boxAt(places[i], { class: isInChain ? "task chain" : "task", fill: siteColour(graph.kinds[kind].site) }), words));
    if (!small) svg.append(titled(label(places[i].x, places[i].y + 4, cut(kindName(graph, kind), 9), "middle", "task-name"), words));
  });
  return svg;
}

// Kinds in a column, arcs to later ones on the right and to earlier ones and themselves on the left.
function drawKinds(graph) {
  const [tall, middle, half] = [34, 450, 130];
  const svg = chart(900, graph.kinds.length * tall + 8, "Graph of kinds of dependent tasks");
  const y = (kind) => (kind + 0.5) * tall;
  const most = Math.max(...graph.kind_edges.map(([, , edges]) => edges), 1);
  for (const [from, to, edges] of graph.kind_edges) {
    const side = to > from ? 1 : -1;
    const x = middle + side * half;
    const reach = x + side * Math.min(290, 34 + 26 * Math.abs(to - from));
    const [a, b] = from === to ? [y(from) - 6, y(from) + 6] : [y(from), y(to)];
    const words = `${kindName(graph, from)} → ${kindName(graph, to)}: ${countWords(edges, "edge")}`;
    svg.append(titled(shape("path", { d: `M${x} ${a}C${reach} ${a} ${reach} ${b} ${x} ${b}`, class: "edge", style: `stroke-width: ${1 + 3 * Math.log(1 + edges) / Math.log(1 + most)}` }), words));
  }
  graph.kinds.forEach((kind, i) => {
    const words = `${kindName(graph, i)} ${kind.place}: ${countWords(kind.tasks, "task")}`;
    svg.append(titled(shape("rect", { x: middle - half, y: y(i) - 12, width: 2 * half, height: 24, rx: 4, class: "task", fill: siteColour(kind.site) }), words));
    svg.append(titled(label(middle, y(i) + 4, `${cut(kindName(graph, i), 22)}: ${valueWords(kind.tasks)}`, "middle", "task-name"), words));
  });
  return svg;
}

function graphWords(graph) {
  const words = [`${countWords(graph.tasks, "dependent task")}, ${countWords(graph.edges, "edge")} between them by the data that they name.`];
  if (graph.chain > 0) {
    const workers = run.lanes.length;
    words.push(`The longest chain takes ${durationWords(graph.chain)} of the ${durationWords(graph.work)} in their functions: on average ${shortNumber(graph.possible)} tasks at a time are possible; ` +
      `${shortNumber(graph.used)} ran, on ${countWords(workers, "worker")}.` + (graph.possible < workers ? " The dependences leave workers without work: smaller tasks, or fewer accesses that write." : ""));
  } else words.push("The longest chain is not known: not all pieces of tasks were recorded.");
  if (graph.replayed > 0) words.push(`${countWords(graph.replayed, "further task")} of replayed steps ${graph.replayed === 1 ? "is" : "are"} not in it: each step has the graph of the recorded one.`);
  const repeated = graph.domains.filter((times) => times > 1);
  if (repeated.length > 0 && graph.domains.length === 1) {
    words.push(`${countWords(repeated[0], "domain")} made the same graph, drawn once: ${countWords(graph.nodes.length, "task")}, ${countWords(graph.arrows.length / 2, "edge")}.`);
  } else if (repeated.length > 0) words.push("Domains that made equal graphs are drawn once.");
  return words;
}

function drawGraph() {
  const graph = run.graph;
  byId("graph-part").hidden = !graph;
  if (!graph) return;
  const box = byId("graph");
  for (const text of graphWords(graph)) box.append(element("p", {}, text));
  const isWhole = graph.nodes.length > 0;
  box.append(scroll("Graph of dependent tasks", isWhole ? drawTasks(graph) : drawKinds(graph)));
  const help = isWhole ? "From top to bottom. Thick: the longest chain by time." + (graph.nodes.some(([, , , parent]) => parent >= 0) ? " Dashed: from a task to its children." : "") :
    "A row for each kind of task, arcs to later ones on the right and to earlier ones on the left; the wider, the more edges.";
  const more = graph.more_kinds > 0 ? ` ${countWords(graph.more_kinds, "further kind")} of tasks ${graph.more_kinds === 1 ? "is" : "are"} not shown.` : "";
  box.append(element("p", { class: "soft" }, help + more + " QUERN_GRAPH=run.dot writes it for Graphviz."));
  const rows = graph.kinds.map((kind, i) => [element("span", {}, swatch(siteColour(kind.site)), brief(kindName(graph, i)), element("span", { class: "soft" }, " " + brief(kind.place))), countWords(kind.tasks),
    graph.chain > 0 ? durationWords(kind.chain) : "–", graph.chain > 0 ? percentWords(kind.chain / graph.chain) : "–"]);
  box.append(plainTable("Kinds of dependent tasks", ["kind", "tasks", "in the longest chain", "share of it"], rows));
}

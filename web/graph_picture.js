// The picture of a part of the model: boxes with marginals in them, arrows or lines between them.

const DETAILED = 70; // variables up to which boxes show their states
const STATES_IN_BOX = 4;
const LETTER = 7.4; // about the width of one

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function boxSize(model, v, isDetailed) {
  const letters = Math.min(model.names[v].length, isDetailed ? 20 : 9);
  const width = Math.max(isDetailed ? 116 : 36, LETTER * letters + 16);
  const shown = Math.min(model.states[v].length, STATES_IN_BOX);
  const isMore = model.states[v].length > STATES_IN_BOX;
  return {width, height: isDetailed ? 24 + 14 * (shown + (isMore ? 1 : 0)) + 4 : 26};
}

// States in a box: the first ones in their order, or the most probable.
function statesInBox(model, v) {
  const order = model.states[v].map((_, i) => i);
  if (order.length <= STATES_IN_BOX || !model.marginals[v]) return order.slice(0, STATES_IN_BOX);
  return order.sort((a, b) => model.marginals[v][b] - model.marginals[v][a] || a - b).slice(0, STATES_IN_BOX);
}

function detailedParts(model, v, size) {
  const parts = [
    svg("text", {class: "name", x: size.width / 2, y: 16, "text-anchor": "middle"}, cut(model.names[v], 20)),
  ];
  const barLeft = 0.5 * size.width,
    barWidth = size.width - barLeft - 8;
  statesInBox(model, v).forEach((s, i) => {
    const y = 24 + 14 * i;
    const p = model.marginals[v] ? model.marginals[v][s] : 0;
    parts.push(
      svg("text", {class: "state", x: 8, y: y + 9}, cut(model.states[v][s], Math.floor((barLeft - 12) / 6.3))),
      svg("rect", {class: "track", x: barLeft, y: y + 1, width: barWidth, height: 9, rx: 2}),
      svg("rect", {class: "level", x: barLeft, y: y + 1, width: (barWidth * p).toFixed(2), height: 9, rx: 2}),
    );
  });
  if (model.states[v].length > STATES_IN_BOX) {
    parts.push(
      svg(
        "text",
        {class: "state", x: 8, y: 24 + 14 * STATES_IN_BOX + 9},
        `… ${model.states[v].length - STATES_IN_BOX} more`,
      ),
    );
  }
  return parts;
}

// The probabilities of all states side by side below the name.
function compactParts(model, v, size) {
  const parts = [
    svg("text", {class: "name", x: size.width / 2, y: 13, "text-anchor": "middle"}, cut(model.names[v], 9)),
  ];
  let left = 4;
  const width = size.width - 8;
  (model.marginals[v] || []).slice(0, 8).forEach((p, s) => {
    parts.push(
      svg("rect", {class: `part part-${s % 8}`, x: left.toFixed(2), y: 17, width: (width * p).toFixed(2), height: 6}),
    );
    left += width * p;
  });
  return parts;
}

function describe(model, v) {
  const around = neighboursOf(model)[v];
  const list = (word, members) =>
    members.length === 0
      ? ""
      : `; ${word} ${members
          .slice(0, 8)
          .map((u) => model.names[u])
          .join(", ")}${members.length > 8 ? " and more" : ""}`;
  const numbers = model.marginals[v]
    ? statesInBox(model, v)
        .map((s) => `${model.states[v][s]} ${probability(model.marginals[v][s])}`)
        .join(", ")
    : "no marginals";
  return (
    `${model.names[v]}${isObserved(model, v) ? ", observed" : ""}: ${numbers}` +
    list("parents", around.parents) +
    list("children", around.children) +
    list("with", around.others)
  );
}

// What is drawn for a set of variables: these, and small squares for factors over more than two of them.
function partOf(model, members) {
  const place = new Map(members.map((v, i) => [v, i]));
  const edges = [],
    seen = new Set();
  let numSquares = 0;
  const add = (a, b) => {
    const key = `${a} ${b}`;
    if (!seen.has(key)) edges.push([a, b]);
    seen.add(key);
  };
  for (const scope of model.scopes) {
    const inside = scope.map((v) => place.get(v)).filter((i) => i !== undefined);
    if (inside.length < 2) continue;
    if (model.isNetwork) {
      const child = place.get(scope[scope.length - 1]);
      if (child !== undefined) for (const i of inside) if (i !== child) add(i, child);
    } else if (scope.length === 2) {
      add(Math.min(...inside), Math.max(...inside));
    } else {
      const square = members.length + numSquares++;
      for (const i of inside) add(i, square);
    }
  }
  return {members, numSquares, edges};
}

function edgePath(edge, sizes, isLayered) {
  const points = edge.points.map((p) => ({...p}));
  const last = points.length - 1;
  if (!isLayered) {
    const [begin, end] = [points[0], points[last]].map((p) => `${p.x.toFixed(1)},${p.y.toFixed(1)}`);
    return `M${begin}L${end}`;
  }
  points[0].y += sizes[edge.from].height / 2;
  points[last].y -= sizes[edge.to].height / 2 + 5;
  let path = `M${points[0].x.toFixed(1)},${points[0].y.toFixed(1)}`;
  for (let i = 1; i <= last; ++i) {
    const p = points[i - 1],
      q = points[i],
      middle = ((p.y + q.y) / 2).toFixed(1);
    path += `C${p.x.toFixed(1)},${middle} ${q.x.toFixed(1)},${middle} ${q.x.toFixed(1)},${q.y.toFixed(1)}`;
  }
  return path;
}

// An <svg> with a box per variable; choose(v) is called when one is chosen. One box is in the order of the Tab key,
// the arrow keys go to the next in their direction.
function graphPicture(model, members, choose) {
  const isDetailed = members.length <= DETAILED;
  const part = partOf(model, members);
  const sizes = [
    ...members.map((v) => boxSize(model, v, isDetailed)),
    ...Array.from({length: part.numSquares}, () => ({width: 10, height: 10})),
  ];
  const layout = model.isNetwork ? layeredLayout(sizes, part.edges) : stressLayout(sizes, part.edges);
  const margin = 14,
    width = layout.width + 2 * margin,
    height = layout.height + 2 * margin;
  const marker = newId("arrow");
  const lines = layout.edges.map((edge) =>
    svg("path", {
      class: "edge",
      d: edgePath(edge, sizes, model.isNetwork),
      "marker-end": model.isNetwork ? `url(#${marker})` : null,
    }),
  );
  const boxes = members.map((v, i) => {
    const {x, y} = layout.centres[i],
      size = sizes[i];
    const kind = `node${isObserved(model, v) || model.soft[v] ? " seen" : ""}${model.isAsked[v] ? " asked" : ""}`;
    return svg(
      "g",
      {
        class: kind,
        transform: `translate(${(x - size.width / 2).toFixed(1)},${(y - size.height / 2).toFixed(1)})`,
        role: "button",
        tabindex: i === 0 ? 0 : -1,
        "aria-pressed": "false",
        "aria-label": describe(model, v),
        "data-variable": v,
      },
      svg("title", {}, describe(model, v)),
      svg("rect", {class: "box", width: size.width, height: size.height, rx: 5}),
      isDetailed ? detailedParts(model, v, size) : compactParts(model, v, size),
    );
  });
  const squares = Array.from({length: part.numSquares}, (_, k) => {
    const {x, y} = layout.centres[members.length + k];
    return svg("rect", {class: "factor", x: x - 5, y: y - 5, width: 10, height: 10});
  });
  const picture = svg(
    "svg",
    {
      viewBox: `${-margin} ${-margin} ${width} ${height}`,
      role: "group",
      "aria-label": `Graph of ${plural(members.length, "variable")}`,
    },
    svg(
      "defs",
      {},
      svg(
        "marker",
        {id: marker, viewBox: "0 0 8 8", refX: 2, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
        svg("path", {class: "head", d: "M0,0L8,4L0,8Z"}),
      ),
    ),
    lines,
    squares,
    boxes,
  );
  addKeys(boxes, members, layout.centres, choose);
  return {
    picture,
    width,
    height,
    numLines: layout.edges.length,
    numSquares: part.numSquares,
    mark: (v) => boxes.forEach((box, i) => box.setAttribute("aria-pressed", String(members[i] === v))),
  };
}

function addKeys(boxes, members, centres, choose) {
  const go = (from, dx, dy) => {
    let next = -1,
      least = Infinity;
    centres.slice(0, members.length).forEach((p, i) => {
      const along = (p.x - centres[from].x) * dx + (p.y - centres[from].y) * dy;
      const aside = Math.abs((p.x - centres[from].x) * dy - (p.y - centres[from].y) * dx);
      if (along > 1 && along + 2 * aside < least) [next, least] = [i, along + 2 * aside];
    });
    if (next < 0) return;
    boxes[from].setAttribute("tabindex", -1);
    boxes[next].setAttribute("tabindex", 0);
    boxes[next].focus();
  };
  const directions = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  boxes.forEach((box, i) => {
    box.addEventListener("click", () => choose(members[i]));
    box.addEventListener("keydown", (event) => {
      const direction = Object.hasOwn(directions, event.key) ? directions[event.key] : null;
      if (direction) go(i, ...direction);
      if (event.key === "Enter" || event.key === " ") choose(members[i]);
      if (direction || event.key === "Enter" || event.key === " ") event.preventDefault();
    });
  });
}

// The picture of a part of the model: boxes with marginals in them, arrows or lines between them.

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
    svg(
      "path",
      {
        class: "edge",
        d: edgePath(edge, sizes, model.isNetwork),
        "marker-end": model.isNetwork ? `url(#${marker})` : null,
      },
      svg("title"),
    ),
  );
  const boxes = members.map((v, i) => {
    const {x, y} = layout.centres[i],
      size = sizes[i];
    const box = svg("g", {
      transform: `translate(${(x - size.width / 2).toFixed(1)},${(y - size.height / 2).toFixed(1)})`,
      role: "button",
      tabindex: i === 0 ? 0 : -1,
      "aria-pressed": "false",
      "data-variable": v,
    });
    fillBox(box, model, v, size, isDetailed);
    return box;
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
        {
          id: marker,
          viewBox: "0 0 8 8",
          refX: 2,
          refY: 4,
          markerWidth: 8,
          markerHeight: 8,
          markerUnits: "userSpaceOnUse",
          orient: "auto",
        },
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
    // The ends of each line that joins two variables, and the line.
    lines: layout.edges
      .map((edge, i) => ({from: members[edge.from], to: members[edge.to], line: lines[i]}))
      .filter(({from, to}) => from !== undefined && to !== undefined),
    boxes: members.map((v, i) => ({v, box: boxes[i]})),
    update: () => members.forEach((v, i) => fillBox(boxes[i], model, v, sizes[i], isDetailed)),
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

// A browser of the tree that a search explored: rows of edges, "smoke = yes", below which the nodes of that edge open.

function treeSection(model, tree) {
  if (!tree) return null;
  const edgesOf = tree.nodes.map((node) => node.edges);
  const hasBounds = tree.nodes.some((node) =>
    node.edges.some((edge) => Number.isFinite(real(edge.lower)) || Number.isFinite(real(edge.upper))),
  );
  const body = h("tbody");
  const label = (node, edge) =>
    node.variable < 0
      ? `joint query, number ${edge.state}`
      : `${model.names[node.variable]} = ${model.states[node.variable][edge.state]}`;

  // A row and those that are open below it, in the order of the table.
  const makeRow = (nodeIndex, edge, depth) => {
    const node = tree.nodes[nodeIndex];
    const mass = node.mass * edge.probability;
    const row = {edge, depth, open: null, element: null, toggle: null};
    const text = [h("span", {class: "hidden"}, `level ${depth + 1}: `), label(node, edge)];
    if (edge.children.length > 0) {
      row.toggle = button([h("span", {class: "twist", "aria-hidden": "true"}), text], () => setOpen(row, !row.open), {
        "aria-expanded": "false",
        class: "toggle",
      });
      row.toggle.addEventListener("keydown", (event) => onKey(row, event));
    }
    const note =
      edge.left_out > 0
        ? `${plural(edge.left_out, "node")} below not in this page`
        : edge.evaluated
          ? null
          : "not evaluated";
    row.element = h(
      "tr",
      {},
      h(
        "th",
        {scope: "row", class: "path", style: {"--depth": Math.min(depth, 24)}},
        row.toggle || h("span", {class: "leaf"}, text),
        note && h("span", {class: "note"}, ` ${note}`),
      ),
      h(
        "td",
        {class: "numeric share", "data-label": "Share"},
        bar(edge.probability),
        h("span", {class: "number"}, probability(edge.probability)),
      ),
      h("td", {class: "numeric", "data-label": "Mass"}, probability(mass)),
      h("td", {class: "numeric", "data-label": "Q"}, short(edge.q)),
      hasBounds &&
        h(
          "td",
          {class: "numeric", "data-label": "Bounds of Q"},
          `[${bound(edge.lower, -1, 4)}, ${bound(edge.upper, 1, 4)}]`,
        ),
      h("td", {class: "numeric", "data-label": "Visits"}, whole(edge.visits)),
    );
    return row;
  };
  const rowsOf = (nodes, depth) =>
    nodes.flatMap((n) => {
      const rows = edgesOf[n].map((edge) => makeRow(n, edge, depth));
      const left = tree.nodes[n].left_out;
      if (left > 0) {
        rows.push({
          open: null,
          element: h(
            "tr",
            {},
            h(
              "th",
              {scope: "row", class: "path", style: {"--depth": Math.min(depth, 24)}},
              h(
                "span",
                {class: "note"},
                `${plural(left, "state")} of ${model.names[tree.nodes[n].variable]} with less mass`,
              ),
            ),
          ),
        });
      }
      return rows;
    });

  function setOpen(row, isOpen) {
    if (!row.toggle || Boolean(row.open) === isOpen) return;
    row.toggle.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) {
      row.open = rowsOf(row.edge.children, row.depth + 1);
      row.element.after(...row.open.map((below) => below.element));
    } else {
      for (const below of row.open) {
        if (below.toggle) setOpen(below, false);
        below.element.remove();
      }
      row.open = null;
    }
  }
  function onKey(row, event) {
    const toggles = [...body.querySelectorAll(".toggle")];
    const at = toggles.indexOf(row.toggle);
    const next = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: toggles.length - 1};
    if (event.key === "ArrowRight") setOpen(row, true);
    if (event.key === "ArrowLeft") setOpen(row, false);
    if (Object.hasOwn(next, event.key) && toggles[next[event.key]]) toggles[next[event.key]].focus();
    if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") event.preventDefault();
  }

  const top = rowsOf(tree.roots, 0);
  body.append(...top.map((row) => row.element));
  const openBest = () => {
    let rows = top;
    for (let depth = 0; depth < 60 && rows.length > 0; ++depth) {
      const best = rows.filter((row) => row.toggle).sort((a, b) => b.edge.probability - a.edge.probability)[0];
      if (!best) break;
      setOpen(best, true);
      rows = best.open;
    }
  };
  const heads = ["Path", "Share", "Mass", "Q", hasBounds && "Bounds of Q", "Visits"].filter(Boolean);
  const table = h(
    "table",
    {class: "tree"},
    h("caption", {class: "hidden"}, "Explored tree"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((text, c) => h("th", {scope: "col", class: c > 0 ? "numeric" : null}, text)),
      ),
    ),
    body,
  );
  return h(
    "div",
    {},
    h(
      "p",
      {class: "hint"},
      `The search has ${plural(tree.num_nodes, "node")}${tree.nodes.length < tree.num_nodes ? "; " : ". "}`,
      tree.nodes.length < tree.num_nodes ? `the ${whole(tree.nodes.length)} with the most mass are here. ` : "",
      "Share: probability of the state given what is above it; mass: of the whole path; Q: value of the edge in nats, ",
      "by the ",
      "sampler that the search ended with. With the keyboard, → opens and ← closes.",
    ),
    h(
      "div",
      {class: "controls"},
      button("Open the most probable path", openBest),
      button("Close all", () => top.forEach((row) => setOpen(row, false))),
    ),
    scrolled(table, "Explored tree"),
  );
}

// A table that can be sorted by its heads, searched and read in portions: only what is shown is drawn.
//
// A column is {title, value(row): what it is sorted by, cell(row): what is shown, numeric}. A row is found when
// `found(row)` contains what is looked for. `filters` are further choices: [label, [[value, text, keeps(row)], ...]].

const ROWS_AT_ONCE = 25;

function richTable({label, columns, rows, found, filters = [], noun = "row", sorted = null}) {
  let order = sorted || {column: -1, isDown: false};
  let limit = ROWS_AT_ONCE;
  let wanted = "";
  const chosen = filters.map(() => 0);
  const body = h("tbody");
  const told = status();
  const next = button(
    "",
    () => {
      limit += 4 * ROWS_AT_ONCE;
      draw();
    },
    {class: "quiet"},
  );

  const heads = columns.map((column, c) => {
    const head = h("th", {scope: "col", class: column.numeric ? "numeric" : null});
    if (!column.value) return fill(head, {}, [column.title]);
    const turn = () => {
      const isDown = order.column === c ? !order.isDown : Boolean(column.numeric);
      order = {column: c, isDown};
      draw();
    };
    return fill(head, {}, [button([column.title, h("span", {class: "arrow", "aria-hidden": "true"})], turn)]);
  });

  const kept = () => {
    const list = rows.filter(
      (row) =>
        (!wanted || found(row).toLowerCase().includes(wanted)) &&
        filters.every(([, options], f) => options[chosen[f]][2](row)),
    );
    if (order.column < 0) return list;
    const value = columns[order.column].value;
    const compare = (a, b) => {
      const x = value(a),
        y = value(b);
      return typeof x === "number" && typeof y === "number" ? x - y : collator.compare(String(x), String(y));
    };
    return list
      .map((row, i) => [row, i])
      .sort((a, b) => (order.isDown ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1])
      .map(([row]) => row);
  };

  function draw() {
    const list = kept();
    body.replaceChildren(
      ...list.slice(0, limit).map((row) =>
        h(
          "tr",
          {},
          columns.map((column, c) =>
            h(
              c === 0 ? "th" : "td",
              {scope: c === 0 ? "row" : null, class: column.numeric ? "numeric" : null, "data-label": column.title},
              column.cell(row),
            ),
          ),
        ),
      ),
    );
    heads.forEach((head, c) => {
      if (!columns[c].value) return;
      head.setAttribute("aria-sort", order.column !== c ? "none" : order.isDown ? "descending" : "ascending");
    });
    const shown = Math.min(limit, list.length);
    told.textContent =
      list.length === rows.length && shown === list.length
        ? plural(rows.length, noun)
        : `${whole(shown)} shown of ${plural(list.length, noun)}` +
          (list.length < rows.length ? ` found among ${whole(rows.length)}` : "");
    next.hidden = shown === list.length;
    next.textContent = `Show ${whole(Math.min(4 * ROWS_AT_ONCE, list.length - shown))} more`;
  }

  const controls = [];
  if (found && rows.length > 7) {
    const search = h("input", {
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
      on: {
        input: () => {
          wanted = search.value.trim().toLowerCase();
          limit = ROWS_AT_ONCE;
          draw();
        },
      },
    });
    controls.push(labelled("Search", search));
  }
  filters.forEach(([name, options], f) =>
    controls.push(
      labelled(
        name,
        choice(
          options.map(([value, text]) => [value, text]),
          options[0][0],
          (value) => {
            chosen[f] = options.findIndex((option) => option[0] === value);
            limit = ROWS_AT_ONCE;
            draw();
          },
        ),
      ),
    ),
  );
  draw();
  const table = h(
    "table",
    {class: "rich"},
    h("caption", {class: "hidden"}, label),
    h("thead", {}, h("tr", {}, heads)),
    body,
  );
  const element = h(
    "div",
    {},
    controls.length > 0 && h("div", {class: "controls"}, controls),
    told,
    scrolled(table, label),
    next,
  );
  element.refresh = draw; // where the numbers of the rows have changed
  return element;
}

// One that is short and stays as it is: a row is a list of cells, `numeric` says which columns hold numbers.
function plainTable(label, header, rows, numeric = []) {
  const kind = (c) => (numeric.includes(c) ? "numeric" : null);
  return scrolled(
    h(
      "table",
      {},
      h("caption", {class: "hidden"}, label),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          header.map((text, c) => h("th", {scope: "col", class: kind(c)}, text)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((cell, c) => h(c === 0 ? "th" : "td", {scope: c === 0 ? "row" : null, class: kind(c)}, cell)),
          ),
        ),
      ),
    ),
    label,
  );
}

// The model's graph with evidence and marginals on it: the whole where it is small, else what is near a variable.

const WHOLE_GRAPH = 250; // variables
const NEARBY = 60;

// What is at most `steps` away, nearest first, and whether that is all of it.
function nearby(model, start, steps) {
  const around = neighboursOf(model);
  const distance = new Map([[start, 0]]);
  const queue = [start];
  let isAll = true;
  for (let i = 0; i < queue.length; ++i) {
    const v = queue[i];
    if (distance.get(v) === steps) continue;
    for (const u of [...around[v].parents, ...around[v].children, ...around[v].others]) {
      if (distance.has(u)) continue;
      if (queue.length >= NEARBY) {
        isAll = false;
        break;
      }
      distance.set(u, distance.get(v) + 1);
      queue.push(u);
    }
  }
  return {members: queue.sort((a, b) => a - b), isAll};
}

function firstChosen(model) {
  const asked = model.isAsked.indexOf(true);
  if (asked >= 0) return asked;
  const seen = model.observed.findIndex((state) => state >= 0);
  if (seen >= 0) return seen;
  const around = neighboursOf(model);
  const degree = (v) => around[v].parents.length + around[v].children.length + around[v].others.length;
  let most = 0;
  for (let v = 1; v < model.size; ++v) if (degree(v) > degree(most)) most = v;
  return most;
}

function graphSection(model) {
  if (!model.scopes) return h("p", {}, "The graph has too many edges to be in a page.");
  if (model.size === 0) return null;
  let isWhole = model.size <= WHOLE_GRAPH,
    centre = firstChosen(model),
    steps = 2,
    zoom = 1,
    drawn = null;
  const frame = h("div", {class: "graph", role: "region", "aria-label": "Picture of the graph", tabindex: 0});
  const panel = h("div", {class: "panel", "aria-live": "polite"});
  const told = status();

  const size = () => {
    drawn.picture.setAttribute("width", (drawn.width * zoom).toFixed(0));
    drawn.picture.setAttribute("height", (drawn.height * zoom).toFixed(0));
  };
  const setZoom = (value) => {
    zoom = Math.min(3, Math.max(0.1, value));
    size();
  };
  const fit = () => setZoom(Math.min(1.2, (frame.clientWidth - 4) / drawn.width));

  const links = (word, members) =>
    members.length === 0
      ? null
      : h(
          "p",
          {},
          `${word}: `,
          members.slice(0, 40).map((u) => [button(model.names[u], () => choose(u), {class: "link"}), " "]),
          members.length > 40 && `and ${members.length - 40} more`,
        );
  function choose(v) {
    const around = neighboursOf(model)[v];
    const isDrawn = frame.querySelector(`[data-variable="${v}"]`) !== null;
    const goThere = () => {
      isWhole = false;
      centre = v;
      draw();
    };
    panel.replaceChildren();
    fill(panel, {}, [
      h("h3", {}, model.names[v], " ", badges(model, v)),
      marginalList(model, v),
      links("Parents", around.parents),
      links("Children", around.children),
      links("Shares factors with", around.others),
      button("Show its neighbourhood", goThere),
    ]);
    if (!isDrawn) {
      centre = v;
      isWhole = false;
      draw();
    }
    drawn.mark(v);
  }

  function draw() {
    const part = isWhole ? {members: model.names.map((_, v) => v), isAll: true} : nearby(model, centre, steps);
    drawn = graphPicture(model, part.members, choose);
    frame.replaceChildren(drawn.picture);
    field.value = model.names[centre];
    what.value = isWhole ? "whole" : "near";
    const lines = plural(drawn.numLines, model.isNetwork ? "arrow" : "line");
    const squares = drawn.numSquares > 0 ? `, ${plural(drawn.numSquares, "factor")} over more than two (squares)` : "";
    told.textContent = isWhole
      ? `All ${plural(model.size, "variable")}, ${lines}${squares}.`
      : `What is at most ${steps === 1 ? "one step" : `${steps} steps`} from ${model.names[centre]}: ` +
        `${whole(part.members.length)} of ` +
        `${plural(model.size, "variable")}, ${lines}${squares}.` +
        (part.isAll ? "" : ` More are near, ${NEARBY} are drawn.`);
    if (frame.clientWidth > 0) {
      // Letters that cannot be read help no one: rather a part of it, to be scrolled.
      setZoom(Math.min(1.2, Math.max(0.6, (frame.clientWidth - 4) / drawn.width)));
    } else {
      size();
    }
    if (!isWhole) drawn.mark(centre);
  }

  const suggestions = h("datalist", {id: newId("names")});
  const suggest = () => {
    const wanted = field.value.toLowerCase();
    const found = [];
    for (let v = 0; v < model.size && found.length < 40; ++v) {
      if (model.names[v].toLowerCase().includes(wanted)) found.push(h("option", {value: model.names[v]}));
    }
    suggestions.replaceChildren(...found);
  };
  const field = h("input", {
    list: suggestions.id,
    autocomplete: "off",
    spellcheck: "false",
    on: {
      input: suggest,
      change: () => {
        const v = model.index.get(field.value);
        if (v === undefined) {
          told.textContent = `There is no variable ${field.value}.`;
          return;
        }
        centre = v;
        isWhole = false;
        draw();
        choose(v);
      },
    },
  });
  const kinds = [["near", "what is near a variable"]];
  if (isWhole) kinds.unshift(["whole", "the whole graph"]);
  const what = choice(kinds, isWhole ? "whole" : "near", (value) => {
    isWhole = value === "whole";
    draw();
  });
  const controls = h(
    "div",
    {class: "controls"},
    labelled("Show", what),
    labelled("Variable", field),
    suggestions,
    labelled(
      "Steps",
      choice(
        [
          ["1", "1"],
          ["2", "2"],
          ["3", "3"],
        ],
        "2",
        (value) => {
          steps = Number(value);
          isWhole = false;
          draw();
        },
      ),
    ),
    h(
      "span",
      {class: "buttons"},
      button("+", () => setZoom(zoom * 1.25), {"aria-label": "Larger"}),
      button("−", () => setZoom(zoom / 1.25), {"aria-label": "Smaller"}),
      button("Fit", fit),
    ),
  );
  const section = h(
    "div",
    {},
    h(
      "p",
      {class: "hint"},
      model.size > WHOLE_GRAPH
        ? `The model has ${plural(model.size, "variable")}, too many for one picture: choose one to see it. `
        : "",
      "Choose a box to see its numbers; with the keyboard, arrow keys go from box to box and Enter chooses. ",
      "Coloured boxes were observed, dashed ones asked for.",
    ),
    controls,
    told,
    h("div", {class: "with-panel"}, frame, panel),
  );
  // It is drawn when it is seen, or printed: layouts take a moment, and the width is known then.
  const first = () => {
    if (drawn) return;
    draw();
    choose(centre);
    if (isWhole) drawn.mark(-1);
  };
  addEventListener("beforeprint", first);
  new IntersectionObserver(
    (entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      first();
    },
    {rootMargin: "600px"},
  ).observe(section);
  suggest();
  return section;
}

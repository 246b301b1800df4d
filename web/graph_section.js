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

const nats = (x) => `${short(x, 3)} nats`;

// The influence of the ends of a line on one another, or what each variable would tell about the chosen one: mutual
// information given the evidence. Returns a sentence that says what is seen.
function showInfluence(model, drawn, shading, chosen) {
  const {live} = model;
  for (const {line} of drawn.lines) {
    line.style.removeProperty("stroke-width");
    line.querySelector("title").textContent = "";
  }
  for (const {box} of drawn.boxes) box.querySelector(".box").style.removeProperty("fill");
  if (shading === "none" || !live.isPossible()) return "";
  if (shading === "value") {
    if (chosen < 0) return "Choose a box.";
    const told = live.information(chosen);
    const most = Math.max(...told.map((x, v) => (v === chosen ? 0 : x)), 1e-12);
    for (const {v, box} of drawn.boxes) {
      if (v === chosen) continue;
      const share = Math.round(60 * Math.sqrt(told[v] / most));
      box.querySelector(".box").style.setProperty("fill", `color-mix(in srgb, var(--fill) ${share}%, var(--raised))`);
      box.querySelector("title").textContent += `; would tell ${nats(told[v])} about ${model.names[chosen]}`;
    }
    const [best] = told.map((x, v) => [x, v]).filter(([, v]) => v !== chosen).sort((a, b) => b[0] - a[0]);
    const whose = `${model.names[chosen]}, whose entropy is ${nats(model.entropies[chosen])}`;
    return best && best[0] > 1e-12
      ? `The darker a box, the more an observation of it would tell about ${whose}. The most: ${model.names[best[1]]}, ${nats(best[0])}.`
      : `No observation would tell anything about ${whose}.`;
  }
  if (!live.canTellAll()) return "The model is too large for the page to compute the influence of each arrow.";
  const told = new Map([...new Set(drawn.lines.map(({from}) => from))].map((v) => [v, live.information(v)]));
  const most = Math.max(...drawn.lines.map(({from, to}) => told.get(from)[to]), 1e-12);
  for (const {from, to, line} of drawn.lines) {
    const information = told.get(from)[to];
    line.style.setProperty("stroke-width", (0.6 + 6 * Math.sqrt(information / most)).toFixed(2));
    line.querySelector("title").textContent =
      `${model.names[from]} and ${model.names[to]} tell ${nats(information)} about one another`;
  }
  return `The thicker a line, the more its ends tell about one another given the evidence: at most ${nats(most)}.`;
}

function graphSection(model) {
  if (!model.scopes) return h("p", {}, "The graph has too many edges to be in a page.");
  if (model.size === 0) return null;
  let isWhole = model.size <= WHOLE_GRAPH,
    centre = firstChosen(model),
    steps = 2,
    zoom = 1,
    drawn = null,
    shading = "none";
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
  let chosen = -1;
  function choose(v) {
    const around = neighboursOf(model)[v];
    chosen = v;
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
      model.live && h("p", {class: "hint"}, "Click a state to observe it."),
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
    if (shading === "value") explain.textContent = showInfluence(model, drawn, shading, chosen);
  }

  function draw() {
    const part = isWhole ? {members: model.names.map((_, v) => v), isAll: true} : nearby(model, centre, steps);
    drawn = graphPicture(model, part.members, choose);
    frame.replaceChildren(drawn.picture);
    if (shading !== "none") explain.textContent = showInfluence(model, drawn, shading, chosen);
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
    showCentre();
  }
  // Where the picture is larger than its frame, what was asked for is in the middle.
  function showCentre() {
    const box = frame.querySelector(`[data-variable="${centre}"]`)?.getBoundingClientRect();
    if (!box) return;
    const seen = frame.getBoundingClientRect();
    frame.scrollLeft += box.x + box.width / 2 - seen.x - seen.width / 2;
    frame.scrollTop += box.y + box.height / 2 - seen.y - seen.height / 2;
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
    model.live &&
      labelled(
        "Show influence",
        choice(
          [
            ["none", "no"],
            ["edges", model.isNetwork ? "of arrows" : "of lines"],
            ["value", "on the chosen variable"],
          ],
          shading,
          (value) => {
            shading = value;
            explain.textContent = showInfluence(model, drawn, shading, chosen);
          },
        ),
      ),
    pictureButtons(() => drawn?.picture, "graph"),
  );
  const explain = h("p", {class: "hint", role: "status"});
  if (model.live) {
    model.live.listen(() => {
      if (!drawn) return;
      drawn.update();
      explain.textContent = showInfluence(model, drawn, shading, chosen);
      if (chosen >= 0) choose(chosen);
    });
  }
  const section = h(
    "div",
    {},
    h(
      "p",
      {class: "hint"},
      model.size > WHOLE_GRAPH
        ? `The model has ${plural(model.size, "variable")}, too many for one picture: choose one to see it. `
        : "",
      model.live ? "Click a state in a box to observe it. " : "",
      "Choose a box to see its numbers; with the keyboard, arrow keys go from box to box and Enter chooses. ",
      "Coloured boxes were observed, dashed ones asked for.",
    ),
    controls,
    told,
    explain,
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

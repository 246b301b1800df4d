// A variable as a box: its name, and its states with their probabilities. A state can be clicked where the page can
// answer again.

const DETAILED = 70; // variables up to which boxes show their states
const STATES_IN_BOX = 4;
const LETTER = 7.4; // about the width of one
const ROW = 15;

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function boxSize(model, v, isDetailed) {
  const letters = Math.min(model.names[v].length, isDetailed ? 22 : 9);
  const width = Math.max(isDetailed ? 156 : 36, LETTER * letters + 16);
  const shown = Math.min(model.states[v].length, STATES_IN_BOX);
  const isMore = model.states[v].length > STATES_IN_BOX;
  return {width, height: isDetailed ? 24 + ROW * (shown + (isMore ? 1 : 0)) + 4 : 26};
}

// States in a box: the first ones in their order, or the most probable.
function statesInBox(model, v) {
  const order = model.states[v].map((_, i) => i);
  if (order.length <= STATES_IN_BOX || !model.marginals[v]) return order.slice(0, STATES_IN_BOX);
  return order.sort((a, b) => model.marginals[v][b] - model.marginals[v][a] || a - b).slice(0, STATES_IN_BOX);
}

// A row of a box: the state, its bar with one standard error to each side, and the number.
function stateRow(model, v, s, size, top) {
  const left = 0.4 * size.width,
    width = size.width - left - 44;
  const p = model.marginals[v] ? model.marginals[v][s] : null;
  const error = model.errors[v] || 0;
  const at = (share) => left + width * Math.min(1, Math.max(0, share));
  const row = svg(
    "g",
    {class: `row${model.observed[v] === s ? " seen" : ""}${model.live ? " can-click" : ""}`, "data-state": s},
    svg("title", {}, `${model.names[v]} = ${model.states[v][s]}: ${precise(p)}`),
    svg("rect", {class: "back", x: 2, y: top, width: size.width - 4, height: ROW}),
    svg("text", {class: "state", x: 8, y: top + 11}, cut(model.states[v][s], Math.floor((left - 12) / 6.1))),
    svg("rect", {class: "track", x: left, y: top + 3, width, height: 9, rx: 2}),
    svg("rect", {class: "level", x: left, y: top + 3, width: (width * (p ?? 0)).toFixed(2), height: 9, rx: 2}),
    error > 0 &&
      svg("line", {class: "whisker", x1: at(p - error), x2: at(p + error), y1: top + 7.5, y2: top + 7.5}),
    svg(
      "text",
      {class: "number", x: size.width - 7, y: top + 11, "text-anchor": "end"},
      p === null ? "–" : p > 0 && p < 0.0005 ? "<.001" : p < 1 && p > 0.9995 ? ">.999" : p.toFixed(3),
    ),
  );
  if (model.live) {
    row.addEventListener("click", () => model.live.toggle(v, s));
  }
  return row;
}

function detailedParts(model, v, size) {
  const top = 22;
  const left = model.states[v].length - STATES_IN_BOX;
  return [
    svg("text", {class: "name", x: size.width / 2, y: 16, "text-anchor": "middle"}, cut(model.names[v], 22)),
    statesInBox(model, v).map((s, i) => stateRow(model, v, s, size, top + ROW * i)),
    left > 0 && svg("text", {class: "state", x: 8, y: top + ROW * STATES_IN_BOX + 11}, `… ${left} more`),
  ];
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

// Draws the box anew: after a change of evidence its numbers are others.
function fillBox(box, model, v, size, isDetailed) {
  const kind = `node${isObserved(model, v) || model.soft[v] ? " seen" : ""}${model.isAsked[v] ? " asked" : ""}`;
  box.setAttribute("class", kind);
  box.setAttribute("aria-label", describe(model, v));
  box.replaceChildren();
  fill(box, {}, [
    svg("title", {}, describe(model, v)),
    svg("rect", {class: "box", width: size.width, height: size.height, rx: 5}),
    (isDetailed ? detailedParts : compactParts)(model, v, size),
  ]);
}

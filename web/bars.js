// Probabilities as bars, each with its number: who sees no bars hears the numbers.

function bar(share, error = 0) {
  const percent = (x) => `${(100 * Math.min(1, Math.max(0, x))).toFixed(2)}%`;
  const whisker =
    error > 0 &&
    h("span", {
      class: "whisker",
      style: {left: percent(share - error), width: percent(Math.min(1, share + error) - Math.max(0, share - error))},
    });
  return h(
    "span",
    {class: "bar", "aria-hidden": "true"},
    h("span", {class: "fill", style: {width: percent(share)}}),
    whisker,
  );
}

const STATES_AT_ONCE = 6;

// A list of states with their probabilities. `marked`: states to be marked, with the word for it; `toggle(i)`: called
// when a state is clicked, and when it is clicked again. Of a variable with many states the most probable ones are there
// at first.
function distribution(states, probabilities, error, marked = new Map(), toggle = null) {
  const list = h("ul", {class: "distribution"});
  const name = (i) =>
    toggle
      ? button(states[i], () => toggle(i), {
          class: "observe",
          "aria-pressed": String(marked.has(i)),
          title: marked.has(i) ? "Take this observation back" : "Observe this state",
        })
      : states[i];
  const row = (i) =>
    h(
      "li",
      {class: marked.has(i) ? "marked" : null, title: `${states[i]}: ${precise(probabilities[i])}`},
      h("span", {class: "state"}, name(i), marked.has(i) && h("span", {class: "mark"}, ` ${marked.get(i)}`)),
      bar(probabilities[i], error),
      h("span", {class: "number"}, probability(probabilities[i]), error > 0 ? ` ± ${short(error, 2)}` : ""),
    );
  const order = states.map((_, i) => i);
  const isLong = states.length > STATES_AT_ONCE + 2;
  if (isLong) order.sort((a, b) => probabilities[b] - probabilities[a] || a - b);
  for (const i of order.slice(0, isLong ? STATES_AT_ONCE : states.length)) list.append(row(i));
  if (!isLong) return list;
  const rest = order.slice(STATES_AT_ONCE);
  let next = 0;
  const show = button(
    "",
    () => {
      for (const i of rest.slice(next, next + 100)) list.append(row(i));
      next += 100;
      say();
    },
    {class: "quiet"},
  );
  const say = () => {
    const left = rest.length - next;
    show.textContent = `${plural(Math.min(left, 100), "more state")}${left > 100 ? ` of ${whole(left)}` : ""}`;
    show.hidden = left <= 0;
  };
  say();
  return h("div", {}, list, show);
}

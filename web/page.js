// Puts the page together: a head, links to its parts, and the parts.

function show(page) {
  document.title = page.title;
  const parts = page.parts.filter(([, , content]) => content);
  const links = h(
    "nav",
    {"aria-label": "Parts of this page"},
    h(
      "ul",
      {},
      parts.map(([id, title]) => h("li", {}, h("a", {href: `#${id}`}, title))),
    ),
  );
  const sections = parts.map(([id, title, content]) =>
    h("section", {id, "aria-labelledby": `${id}-title`}, h("h2", {id: `${id}-title`, tabindex: -1}, title), content),
  );
  document
    .getElementById("page")
    .replaceChildren(h("header", {}, h("h1", {}, page.title)), links, h("main", {id: "content", class: page.layout}, page.intro, sections));
}

// On paper everything is open, and drawn.
function openForPrinting() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const element of opened) element.open = true;
  });
  addEventListener("afterprint", () => {
    for (const element of opened) element.open = false;
  });
}

const pages = {answer: answerPage, report: reportPage, journal: journalPage};
const data = JSON.parse(document.getElementById("data").textContent);
show(pages[data.kind](data));
openForPrinting();

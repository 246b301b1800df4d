// Elements of the page. Text of others (names, states, files) becomes text nodes and attribute values, never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

let numIds = 0;
const newId = (stem) => `${stem}-${++numIds}`;

// A field with its label.
function labelled(text, field) {
  field.id = field.id || newId("field");
  return h("span", {class: "field"}, h("label", {for: field.id}, text), field);
}

function choice(options, chosen, change) {
  const select = h("select", {on: {change: () => change(select.value)}});
  for (const [value, text] of options) select.append(h("option", {value, selected: value === chosen}, text));
  return select;
}

const button = (text, click, attributes = {}) => h("button", {type: "button", on: {click}, ...attributes}, text);

// Two columns: what, and what it is. Rows without a value are left out.
function facts(rows) {
  const list = h("dl", {class: "facts"});
  for (const [name, value] of rows) {
    if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    list.append(h("dt", {}, name), h("dd", {}, value));
  }
  return list;
}

const more = (summary, ...content) => h("details", {}, h("summary", {}, summary), ...content);

// A table that may be wider than the page; it can be scrolled by keys too.
function scrolled(table, label) {
  return h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, table);
}

// Said to screen readers when it changes.
const status = () => h("p", {class: "status", role: "status", "aria-live": "polite"});

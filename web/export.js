// A picture as a file: SVG with its colours written out, and PNG painted from that, twice as fine as on the screen.

const KEPT_STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size",
  "font-weight", "font-family", "text-anchor"];

// A copy that needs no style sheet.
function pictureCopy(picture) {
  const copy = picture.cloneNode(true);
  const inside = [...copy.querySelectorAll("*")];
  picture.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of KEPT_STYLES) inside[i].style.setProperty(name, style.getPropertyValue(name));
  });
  const box = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.prepend(
    svg("rect", {
      x: box.x,
      y: box.y,
      width: box.width,
      height: box.height,
      style: {fill: getComputedStyle(document.body).backgroundColor},
    }),
  );
  return copy;
}

const pictureText = (picture) => new XMLSerializer().serializeToString(pictureCopy(picture));

function save(blob, name) {
  const link = h("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A promise of PNG. An image of this page's own text is all that its rules let it load.
async function picturePixels(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(pictureText(picture))}`;
  await image.decode();
  const box = picture.viewBox.baseVal;
  const finer = Math.min(2, 8000 / Math.max(box.width, box.height));
  const canvas = h("canvas", {width: Math.ceil(box.width * finer), height: Math.ceil(box.height * finer)});
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// picture(): the <svg> that is shown now.
function pictureButtons(picture, name) {
  return h(
    "span",
    {class: "buttons save"},
    button("SVG", () => save(new Blob([pictureText(picture())], {type: "image/svg+xml"}), `${name}.svg`), {
      "aria-label": `Save the ${name} as SVG`,
    }),
    button("PNG", async () => save(await picturePixels(picture()), `${name}.png`), {
      "aria-label": `Save the ${name} as PNG`,
    }),
  );
}

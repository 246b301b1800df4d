"""What tests of pages share: pages that the program writes, and what a browser shows of them."""

import json
import os
import re
import subprocess
import sys

import browser as chromium
from checks import check

PROGRAM = os.path.abspath(sys.argv[1])
MODELS = os.path.abspath(sys.argv[2])


def treesample(*arguments, code=0):
    run = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=chromium.PATIENCE)
    check(run.returncode == code, f"exit code of {arguments}", run.stderr)
    return run.stdout


def page(name, *arguments):
    """The page of an answer, and the answer as JSON from the same run."""
    path = os.path.abspath(f"{name}.html")
    treesample("infer", *arguments, "--html", path, "--json", f"{name}.json")
    with open(f"{name}.json", encoding="utf-8") as file:
        return path, json.load(file)


def model(name):
    return os.path.join(MODELS, name)


def opened(browser, path, width=1600, scheme="light"):
    browser.view(width, 1000, scheme)
    browser.open(path)
    browser.wait("document.querySelector('main h2')")
    browser.settle()


def drawn_graph(browser):
    browser.run("document.querySelector('#graph').scrollIntoView()")
    browser.wait("document.querySelectorAll('#graph .node').length > 0")
    browser.settle()


def texts(browser, selector):
    return browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


def check_clean(browser, path, what):
    """Nothing is fetched, nothing goes wrong, nothing is wider than the page."""
    check(browser.requests() == ["file://" + path], f"{what}: nothing is fetched", browser.requests())
    check(browser.complaints() == [], f"{what}: no errors", browser.complaints())
    sizes = browser.run("[document.documentElement.scrollWidth, innerWidth]")
    check(sizes[0] <= sizes[1], f"{what}: nothing is wider than the page", sizes)


def type_variable(browser, name):
    """Into the field of the graph."""
    browser.run(f"""{{ const field = document.querySelector('#graph input'); field.value = {json.dumps(name)};
                     field.dispatchEvent(new Event('change')); }}""")


BOXES = """[...document.querySelectorAll('#graph .node')].map(e => {
    const [x, y] = e.getAttribute('transform').match(/-?[\\d.]+/g).map(Number);
    const box = e.querySelector('.box');
    return {v: Number(e.dataset.variable), x, y, width: +box.getAttribute('width'),
            height: +box.getAttribute('height')};
})"""


def overlaps(boxes):
    def meet(a, b, place, size):
        return abs(a[place] + a[size] / 2 - b[place] - b[size] / 2) < (a[size] + b[size]) / 2 - 1

    return [(a["v"], b["v"]) for i, a in enumerate(boxes) for b in boxes[:i]
            if meet(a, b, "x", "width") and meet(a, b, "y", "height")]


def luminance(color):
    parts = [int(x) / 255 for x in re.findall(r"\d+", color)[:3]]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


CONTRAST = """[...document.querySelectorAll('p, td, th, a, button, summary, dt, dd, li, h1, h2, label')].filter(e =>
    e.offsetParent && e.textContent.trim()).map(e => {
  let back = e;
  while (back && getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)') back = back.parentElement;
  return [getComputedStyle(e).color, back ? getComputedStyle(back).backgroundColor : 'rgb(255, 255, 255)',
          e.textContent.slice(0, 30)];
})"""

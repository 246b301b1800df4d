#!/usr/bin/env python3
"""The page in a real browser: run_page_tests.py PROGRAM MODELS_FOLDER

Headless Chromium opens pages that the program wrote, with keys and clicks of a user. Ends with 77, which is `skipped`,
where there is no Chromium (make web installs it).
"""

import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cli"))
import browser as chromium  # noqa: E402
import evidence_tests  # noqa: E402
import journal_tests  # noqa: E402
from checks import check, finish  # noqa: E402
from page_support import (BOXES, CONTRAST, check_clean, drawn_graph, luminance, model, opened, overlaps,  # noqa: E402
                          page, texts, treesample, type_variable)

SKIPPED = 77
if chromium.program() is None:
    print("skipped: there is no chromium here; `make web` installs it and runs these tests")
    sys.exit(SKIPPED)


def test_numbers(browser):
    path, answer = page("asia", model("asia.bif"), "--evidence", "xray=yes,dysp=yes", "--query", "lung", "--query",
                        "lung,tub", "--k-best", "5", "--sensitivity", "lung=yes", "--value-for", "lung")
    opened(browser, path)
    check_clean(browser, path, "asia")
    check(browser.run("document.title") == "asia.bif", "title")
    cards = " ".join(texts(browser, ".card"))
    check(f"{answer['log_z']['estimate']:.6f}".replace("-", "−") in cards, "log Z is shown", cards)
    check(f"{answer['evidence_probability']:.7f}"[:7] in cards, "P(evidence) is shown", cards)
    shown = dict(browser.run("""[...document.querySelectorAll('#marginals tbody tr')].map(row =>
        [row.querySelector('th').firstChild.textContent,
         [...row.querySelectorAll('.distribution .number')].map(e => e.textContent)])"""))
    check(list(shown) == [v["name"] for v in answer["variables"]], "all variables, in order", list(shown))
    for name, row in answer["marginals"].items():
        check(shown[name] == [f"{p:.4f}" for p in row.values()], f"marginals of {name}", shown[name])
    joint = texts(browser, "#asked .query:nth-of-type(2) .number")
    check(joint == [f"{row['probability']:.4f}" for row in answer["queries"][1]["table"]], "joint query", joint)
    best = texts(browser, "#best table.rich tbody td:nth-child(2)")
    check(best == list(answer["best"]["states"].values()), "most probable configuration", best)
    influence = texts(browser, "#influence table:not(.rich) tbody tr")
    check(len(influence) == 10, "ten parameters", influence)
    first = answer["sensitivity"]["most_influential"][0]
    check(f"{abs(first['derivative']):.4f}" in influence[0], "the most influential one", influence[0])
    check("P(tub = yes | asia = no)" in influence[0], "a parameter as a probability", influence[0])
    values = texts(browser, "#influence table.rich tbody th")
    order = sorted(answer["observation_values"]["information"].items(), key=lambda pair: -pair[1])
    check(values == [name for name, _ in order], "values of observations", values)


def test_marginals_table(browser):
    path, answer = page("cold", model("cold_store.bif"), "--evidence", "thermometer=hot")
    opened(browser, path)
    names = lambda: [text.split()[0] for text in texts(browser, "#marginals tbody th")]
    head = "[...document.querySelectorAll('#marginals thead button')].find(e => e.textContent.startsWith('{}'))"
    browser.run(head.format("Entropy") + ".click()")
    entropy = {name: -sum(p * math.log(p) for p in row.values() if p > 0) for name, row in answer["marginals"].items()}
    expected = sorted(entropy, key=lambda name: -entropy[name])
    check(names() == expected[:len(names())] and len(names()) == 25, "sorted by entropy, largest first", names()[:5])
    check(texts(browser, "#marginals [aria-sort=descending]")[0].startswith("Entropy"), "aria-sort says so")
    browser.run(head.format("Variable") + ".focus()")
    browser.key("Enter", 13, "\r")
    check(names() == sorted(entropy)[:25], "sorted by name, with the keyboard", names()[:5])
    search = "document.querySelector('#marginals input[type=search]')"
    browser.run(search + ".focus()")
    browser.call("Input.insertText", text="compressor")
    browser.settle()
    check(names() == ["compressor_fault", "compressor_running", "compressor_wear"], "search by name", names())
    check("3" in texts(browser, "#marginals .status")[0], "the number found is said")
    browser.run(f"{search}.value = ''; {search}.dispatchEvent(new Event('input'))")
    browser.run("document.querySelector('#marginals button.quiet').click()")
    check(len(names()) == 47, "the rest is shown when it is asked for", len(names()))


def test_errors_are_shown(browser):
    path, _ = page("particles", model("asia.bif"), "--method", "smc", "--budget", "4000", "--evidence", "dysp=yes")
    opened(browser, path)
    check("not known" in " ".join(texts(browser, "#certified td")), "errors that are not known are called so")
    path, answer = page("sampled", model("ising-8x8.uai"), "--select", "gap", "--leaf", "mini-bucket:4", "--budget",
                        "100", "--importance", "5000")
    opened(browser, path)
    check(max(answer["marginal_errors"]) > 0, "the model has errors of marginals", answer["marginal_errors"])
    check(browser.run("document.querySelectorAll('#marginals .whisker').length") > 0, "errors on bars")
    check("±" in " ".join(texts(browser, "#marginals .number")), "errors as numbers")
    check("interval" in texts(browser, "#certified .kind"), "an interval is called an interval")
    check("certified" in texts(browser, "#certified .kind"), "bounds are called certified")
    trace = browser.run("JSON.parse(document.getElementById('data').textContent).trace")
    took_time = len(trace) >= 3 and trace[-1][0] - trace[0][0] >= 0.3
    check((texts(browser, "#trace") != []) == took_time, "bounds over a moment are no picture")
    treesample("generate", "ising", "--n", "30", "--out", "grid.uai")
    path, answer = page("longer", "grid.uai", "--select", "gap", "--leaf", "mini-bucket:4", "--time", "1")
    opened(browser, path)
    check(browser.run("document.querySelectorAll('#trace .chart polyline').length") >= 2, "bounds over time are drawn")
    rows = texts(browser, "#trace tbody tr")
    check(len(rows) > 2, "bounds over time as a table", rows)


def test_graph(browser):
    path, answer = page("graph", model("cold_store.bif"), "--evidence", "thermometer=hot,noise=loud")
    opened(browser, path)
    drawn_graph(browser)
    boxes = browser.run(BOXES)
    names = [v["name"] for v in answer["variables"]]
    check(len(boxes) == len(names), "all variables are drawn", len(boxes))
    check(overlaps(boxes) == [], "boxes do not meet", overlaps(boxes))
    at = {names[box["v"]]: box for box in boxes}
    with open(model("cold_store.bif"), encoding="utf-8") as file:
        tables = re.findall(r"probability \( (\w+) \| ([\w, ]+) \)", file.read())
    arrows = [(parent, child) for child, parents in tables for parent in parents.split(", ")]
    check(all(at[parent]["y"] < at[child]["y"] for parent, child in arrows), "parents are above their children")
    check(browser.run("document.querySelectorAll('#graph .edge').length") == len(arrows), "all arrows", len(arrows))
    numbers = "[...document.querySelectorAll('#graph .node.seen')].map(e => +e.dataset.variable)"
    seen = {names[v] for v in browser.run(numbers)}
    check(seen == {"thermometer", "noise"}, "evidence is marked", seen)
    browser.run("document.querySelector('#graph .node[tabindex=\"0\"]').focus()")
    first = browser.run("document.activeElement.dataset.variable")
    browser.key("ArrowDown", 40)
    second = browser.run("document.activeElement.dataset.variable")
    check(second is not None and first != second, "arrow keys go from box to box", (first, second))
    browser.key("Enter", 13, "\r")
    check(texts(browser, "#graph .panel h3")[0].strip().startswith(names[int(second)]), "Enter chooses",
          texts(browser, "#graph .panel h3"))
    check(browser.run("document.activeElement.getAttribute('aria-pressed')") == "true", "and it is said")
    check("null" not in " ".join(texts(browser, "#graph .panel")), "no stray words")
    # The neighbourhood of a variable that is typed.
    type_variable(browser, "claim")
    browser.settle()
    near = {names[box["v"]] for box in browser.run(BOXES)}
    check(near == {"claim", "product_quality", "hours_warm", "product"}, "what is near a variable", near)
    type_variable(browser, "clam")
    check("no variable clam" in " ".join(texts(browser, "#graph .status")), "a name that there is not")


def test_grid(browser):
    path, _ = page("grid", model("ising-8x8.uai"))
    opened(browser, path)
    drawn_graph(browser)
    boxes = sorted(browser.run(BOXES), key=lambda box: box["v"])
    check(len(boxes) == 64 and overlaps(boxes) == [], "a grid without boxes that meet", overlaps(boxes))
    step = lambda a, b: math.hypot(boxes[a]["x"] - boxes[b]["x"], boxes[a]["y"] - boxes[b]["y"])
    near = [step(i, i + 1) for i in range(63) if i % 8 != 7] + [step(i, i + 8) for i in range(56)]
    check(max(near) < 2 * min(near), "neighbours are about equally far", (min(near), max(near)))
    check(step(0, 63) > 5 * max(near), "corners are far", step(0, 63))


def test_tree(browser):
    for name, arguments in {
            "tree search": [model("chain.uai"), "--space", "tree", "--order", "given", "--budget", "3000"],
            "search": [model("ising-8x8.uai"), "--select", "gap", "--leaf", "mini-bucket:2", "--budget",
                       "500"]}.items():
        path, _ = page("tree", *arguments)
        opened(browser, path)
        check_clean(browser, path, name)
        tree = browser.run("JSON.parse(document.getElementById('data').textContent).tree")
        check(tree is not None and len(tree["nodes"]) > 5, f"{name}: there is a tree", tree and len(tree["nodes"]))
        for node in tree["nodes"]:
            shares = [edge["probability"] for edge in node["edges"]]
            check(abs(sum(shares) - 1) < 1e-9 or sum(shares) == 0, f"{name}: shares add up to 1", shares)
            for edge in node["edges"]:
                below = {tree["nodes"][child]["mass"] for child in edge["children"]}
                mass = node["mass"] * edge["probability"]
                check(all(abs(m - mass) < 1e-12 for m in below), f"{name}: mass goes down")
        masses = [node["mass"] for node in tree["nodes"]]
        check(masses == sorted(masses, reverse=True), f"{name}: by mass, largest first")
        rows = lambda: browser.run("document.querySelectorAll('#tree tbody tr').length")
        before = rows()
        browser.run("document.querySelector('#tree .toggle').focus()")
        browser.key("ArrowRight", 39)
        check(rows() > before, f"{name}: the right arrow opens a node", rows())
        check(browser.run("document.activeElement.getAttribute('aria-expanded')") == "true", f"{name}: and it is said")
        browser.key("ArrowDown", 40)
        browser.key("Enter", 13, "\r")
        browser.key("Home", 36)
        browser.key("ArrowLeft", 37)
        check(rows() == before, f"{name}: the left arrow closes it and all below", rows())
        browser.run("document.querySelector('#tree .controls button').click()")
        check(rows() > before, f"{name}: the most probable path opens")
        heads = texts(browser, "#tree thead th")
        check(("Bounds of Q" in heads) == (name == "search"), f"{name}: bounds where there are some", heads)


HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 2'>", "__proto__",
           "constructor", "a\u2028b\u2029c", "\"quoted\" & 'so'", "{{data}}", "<!--<script>", "7", "ünïcödé 漢字"]


def test_hostile_names(browser):
    variables = [{"name": name, "states": [f"{name} s{i}" for i in range(2)]} for name in HOSTILE]
    factors = [{"scope": [name], "values": [0.25, 0.75]} for name in HOSTILE]
    file_name = "<b>model & co.json"
    with open(file_name, "w", encoding="utf-8") as file:
        json.dump({"variables": variables, "factors": factors}, file)
    query = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE[:2])
    path, answer = page("hostile", file_name, "--query", query)
    opened(browser, path)
    drawn_graph(browser)
    check(browser.run("window.hacked") is None, "no script of a name runs")
    check(browser.run("document.querySelectorAll('img, b, iframe').length") == 0, "no element of a name")
    check(browser.run("document.scripts.length") == 2, "no script of a name", browser.run("document.scripts.length"))
    check_clean(browser, path, "hostile names")
    check(browser.run("document.querySelector('h1').textContent") == file_name, "the file's name as it is")
    shown = browser.run("[...document.querySelectorAll('#marginals tbody th')].map(e => e.firstChild.textContent)")
    check(shown == [v["name"] for v in answer["variables"]] == HOSTILE, "names as they are", shown)
    numbers = texts(browser, "#marginals .number")
    check(numbers == ["0.2500", "0.7500"] * len(HOSTILE), "numbers of all of them", numbers)


def test_large(browser):
    treesample("generate", "ising", "--n", "60", "--out", "large.uai")
    path, answer = page("large", "large.uai", "--method", "smc", "--order", "given", "--budget", "360000")
    opened(browser, path)
    drawn_graph(browser)
    check_clean(browser, path, "3,600 variables")
    elements = browser.run("document.querySelectorAll('*').length")
    check(elements < 5000, "what is drawn is limited", elements)
    check(0 < len(browser.run(BOXES)) <= 60, "a neighbourhood is drawn", len(browser.run(BOXES)))
    check("3,600" in " ".join(texts(browser, "#graph .hint, #graph .status")), "and it is said of how many")
    check("of 3,600" in " ".join(texts(browser, "#marginals .status")), "so for marginals")
    type_variable(browser, "x1830")
    browser.settle()
    near = {box["v"] for box in browser.run(BOXES)}
    check({1830, 1829, 1831, 1770, 1890} <= near, "another neighbourhood", near)
    check(len(answer["variables"]) == 3600, "the model is large")


def test_widths_and_colours(browser):
    path, _ = page("looks", model("asia.bif"), "--evidence", "xray=yes", "--query", "lung,tub", "--sensitivity",
                   "lung=yes", "--value-for", "lung", "--k-best", "3", "--map", "smoke,bronc")
    backgrounds = set()
    for width in (400, 900, 1600):
        for scheme in ("light", "dark"):
            opened(browser, path, width, scheme)
            drawn_graph(browser)
            check_clean(browser, path, f"{width} {scheme}")
            backgrounds.add(browser.run("getComputedStyle(document.body).backgroundColor"))
            for color, back, text in browser.run(CONTRAST):
                light, dark = sorted((luminance(color), luminance(back)), reverse=True)
                check((light + 0.05) / (dark + 0.05) >= 4.5, f"{scheme}: contrast", (color, back, text))
    check(len(backgrounds) == 2, "light and dark differ", backgrounds)


def test_screen_reader(browser):
    path, _ = page("spoken", model("chain.uai"), "--space", "tree", "--order", "given", "--budget", "2000")
    opened(browser, path)
    drawn_graph(browser)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    value = lambda node, key: node.get(key, {}).get("value", "")
    named = ("button", "searchbox", "textbox", "combobox", "img", "image", "table", "link", "region", "navigation")
    used = [node for node in nodes if not node["ignored"] and value(node, "role") in named]
    check(len(used) > 30, "there is something to use", len(used))
    nameless = [value(node, "role") for node in used if not value(node, "name").strip()]
    check(nameless == [], "everything that can be used has a name", nameless)
    headings = [node for node in nodes if value(node, "role") == "heading"]
    check(len(headings) >= 8, "headings", len(headings))
    roles = {value(node, "role") for node in nodes}
    check({"main", "navigation", "table", "columnheader", "rowheader"} <= roles, "landmarks and tables", sorted(roles))
    browser.run("document.body.focus()")
    browser.key("Tab", 9)
    check(browser.run("document.activeElement.className") == "skip", "the first stop skips the links")


def test_print(browser):
    path, _ = page("paper", model("asia.bif"), "--evidence", "xray=yes")
    opened(browser, path, 800)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    check(browser.run("document.querySelectorAll('#graph .node').length") == 8, "the graph is drawn for the paper")
    check(browser.run("document.querySelectorAll('details:not([open])').length") == 0, "everything is open on paper")
    browser.view(800, 1000, "dark", media="print")
    check(browser.run("getComputedStyle(document.querySelector('nav')).display") == "none", "no links on paper")
    check(browser.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)", "black on paper, in the dark too")
    pdf = browser.call("Page.printToPDF", printBackground=False)["data"]
    check(len(pdf) > 20000, "a document comes out", len(pdf))
    browser.view(800)


def test_impossible(browser):
    path, answer = page("impossible", model("asia.bif"), "--evidence", "lung=yes,either=no")
    opened(browser, path)
    check_clean(browser, path, "impossible evidence")
    alert = " ".join(texts(browser, ".alert"))
    check("contradict" in alert and "lung = yes" in alert and "either = no" in alert, "the conflict is named", alert)
    check(answer["log_z"]["estimate"] == "-inf" and "−∞" in " ".join(texts(browser, ".card")), "log Z is -inf")


def test_comparison(browser):
    path = os.path.abspath("compare.html")
    treesample("compare", model("chain.uai"), "--methods", "andor,smc,sis", "--budgets", "100,1000", "--runs", "3",
               "--html", path, "--quiet")
    opened(browser, path)
    check_clean(browser, path, "comparison")
    check(browser.run("document.querySelectorAll('#figures .chart svg').length") == 2, "two figures")
    check(texts(browser, "#tables tbody th")[:3] == ["andor", "SMC", "SIS"], "methods")
    browser.run("[...document.querySelectorAll('#tables thead button')][1].click()")
    check(texts(browser, "#tables tbody th")[0] == "SIS", "sorted by error, largest first")
    treesample("infer", model("ising-8x8.uai"), "--budget", "300", "--trace", "run.csv", "--quiet")
    path = os.path.abspath("traces.html")
    treesample("compare", "--trace", "<i>a</i>=run.csv", "--html", path)
    opened(browser, path)
    check_clean(browser, path, "traces")
    check(browser.run("document.querySelectorAll('i').length") == 0, "labels are text")


def main():
    tests = [value for module in (globals(), vars(evidence_tests), vars(journal_tests)) for name, value in module.items()
             if name.startswith("test_")]
    wanted = sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        os.chdir(folder)
        for test in tests:
            if wanted and test.__name__ not in wanted:
                continue
            test(browser)
            print(test.__name__, flush=True)
        os.chdir("/")
    finish()


main()

"""Evidence that is clicked in a page: what the page computes is what the program answers for the same evidence."""

import json
import math

from checks import check
from page_support import check_clean, drawn_graph, model, opened, page, texts, treesample

# What the page knows at full precision, from the titles of its rows.
SHOWN = """Object.fromEntries([...document.querySelectorAll('#marginals tbody tr')].map(row =>
    [row.querySelector('th').firstChild.textContent, [...row.querySelectorAll('.distribution li')].map(e => e.title)]))"""


def answer_of(file, evidence, *arguments):
    given = ["--evidence", ",".join(f"{name}={state}" for name, state in evidence.items())] if evidence else []
    return json.loads(treesample("infer", file, *given, *arguments, "--json", "-", "--quiet"))


def number(text):
    return float(text.replace("−", "-"))


def shown_marginals(browser):
    while browser.run("(e => e && !e.hidden && (e.click(), true))(document.querySelector('#marginals button.quiet'))"):
        pass
    rows = {}
    for name, titles in browser.run(SHOWN).items():
        rows[name] = {title.rsplit(": ", 1)[0]: number(title.rsplit(": ", 1)[1]) for title in titles}
    return rows


def compare(browser, answer, what):
    shown = shown_marginals(browser)
    check(set(shown) == set(answer["marginals"]), f"{what}: all variables", shown.keys())
    worst = max(abs(p - shown[name][state]) for name, row in answer["marginals"].items()
                for state, p in row.items() if state in shown[name])
    check(worst < 1e-9, f"{what}: marginals are those of the program", worst)
    cards = texts(browser, "#asked .card .value")
    check(abs(number(cards[0]) - answer["log_z"]["estimate"]) < 1e-6, f"{what}: log Z", cards)
    best = texts(browser, "#best table.rich tbody td:nth-child(2)")
    expected = list(answer["best"]["states"].values())[:len(best)]
    check(best == expected, f"{what}: the most probable configuration", (best, expected))


def click_in_graph(browser, names, name, state):
    """A click with the mouse on a state in a box."""
    at = names.index(name)
    place = f"document.querySelector('#graph .node[data-variable=\"{at}\"] .row[data-state=\"{state}\"]')"
    browser.run(f"{place}.scrollIntoView({{block: 'center', inline: 'center'}})")
    browser.settle()
    x, y = browser.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({place}.getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    browser.settle()


def test_clicked_evidence(browser):
    file = model("asia.bif")
    path, answer = page("clicked", file, "--evidence", "xray=yes", "--query", "lung", "--query", "lung,tub")
    opened(browser, path)
    drawn_graph(browser)
    names = [v["name"] for v in answer["variables"]]
    states = {v["name"]: v["states"] for v in answer["variables"]}
    evidence = {"xray": "yes"}
    for name, state in [("dysp", 0), ("smoke", 1), ("xray", 0), ("xray", 1), ("smoke", 0), ("dysp", 0)]:
        word = states[name][state]
        if evidence.get(name) == word:
            del evidence[name]  # a second click takes it back
        else:
            evidence[name] = word
        click_in_graph(browser, names, name, state)
        truth = answer_of(file, evidence, "--query", "lung", "--query", "lung,tub")
        compare(browser, truth, f"clicked {name}={word}")
        joint = [number(title.rsplit(": ", 1)[1]) for title in
                 browser.run("[...document.querySelectorAll('#asked .query:nth-of-type(2) li')].map(e => e.title)")]
        worst = max(abs(p - row["probability"]) for p, row in zip(joint, truth["queries"][1]["table"], strict=True))
        check(worst < 1e-9, "joint query", joint)
        seen = browser.run("[...document.querySelectorAll('#graph .node.seen')].map(e => +e.dataset.variable)")
        check({names[v] for v in seen} == set(evidence), "evidence is marked in the graph", seen)
    check("computed in this page" in " ".join(texts(browser, "#asked .card")), "who computed it is said")
    browser.run("document.querySelector('#asked .reset').click()")
    compare(browser, answer, "back to what was observed")
    check("exact" in " ".join(texts(browser, "#asked .card")), "and what the run certified is there again")
    check_clean(browser, path, "clicked")


def test_keys_and_contradictions(browser):
    file = model("asia.bif")
    path, _ = page("keys", file)
    opened(browser, path)
    state = "[...document.querySelectorAll('#marginals .observe')].filter(e => e.closest('tr').textContent.startsWith"
    browser.run(state + "('either') && e.textContent === 'no')[0].focus()")
    browser.key("Enter", 13, "\r")
    compare(browser, answer_of(file, {"either": "no"}), "by a key in the table")
    browser.run(state + "('lung') && e.textContent === 'yes')[0].click()")
    check("contradict" in " ".join(texts(browser, "#asked .alert")), "a contradiction is named")
    browser.run("document.querySelector('#asked .take-back').click()")
    check(len(texts(browser, "#asked .chips li")) == 1, "one observation is taken back")
    check_clean(browser, path, "keys")


def test_larger_networks_and_weights(browser):
    file = model("cold_store.bif")
    path, answer = page("larger", file, "--evidence", "thermometer=hot", "--evidence", "storm~0.2,0.8")
    opened(browser, path)
    drawn_graph(browser)
    compare(browser, answer, "as it was asked")
    click_in_graph(browser, [v["name"] for v in answer["variables"]], "season", 0)
    truth = json.loads(treesample("infer", file, "--evidence", "thermometer=hot,season=summer", "--evidence",
                                  "storm~0.2,0.8", "--json", "-", "--quiet"))
    compare(browser, truth, "with soft evidence")
    path, answer = page("spins", model("ising-8x8.uai"))
    opened(browser, path)
    has_circuit = browser.run("JSON.parse(document.getElementById('data').textContent).circuit !== null")
    if has_circuit:
        browser.run("document.querySelector('#marginals .observe').click()")
        compare(browser, answer_of(model("ising-8x8.uai"), {"x0": "0"}), "a grid")


def test_influence(browser):
    """What the page computes about arrows and observations, against what the program says."""
    file = model("asia.bif")
    path, answer = page("influence", file, "--evidence", "xray=yes", "--value-for", "lung")
    opened(browser, path)
    drawn_graph(browser)
    names = [v["name"] for v in answer["variables"]]
    browser.run(f"""document.querySelector('#graph .node[data-variable="{names.index('lung')}"]')
        .dispatchEvent(new MouseEvent('click'))""")
    show = """{ const s = [...document.querySelectorAll('#graph select')].at(-1); s.value = '%s';
               s.dispatchEvent(new Event('change')); }"""
    browser.run(show % "value")
    titles = browser.run("[...document.querySelectorAll('#graph .node > title')].map(e => e.textContent)")
    told = {name: number(title.split("would tell ")[1].split()[0]) for name, title in zip(names, titles)
            if "would tell" in title}
    expected = answer["observation_values"]["information"]
    check(all(abs(told[name] - expected[name]) < 6e-3 * max(1e-3, expected[name]) for name in expected),
          "the value of observations", (told, expected))
    browser.run(show % "edges")
    said = dict(title.split(" tell ") for title in
                browser.run("[...document.querySelectorAll('#graph .edge title')].map(e => e.textContent)"))
    truth = answer_of(file, {"xray": "yes"}, "--query", "lung,either")
    joint = {tuple(row["states"].values()): row["probability"] for row in truth["queries"][0]["table"]}
    lung, either = (truth["marginals"][name] for name in ("lung", "either"))
    information = sum(p * math.log(p / (lung[a] * either[b])) for (a, b), p in joint.items() if p > 0)
    found = number(said["lung and either"].split()[0])
    check(abs(found - information) < 1e-3 * information, "the influence of an arrow", (found, information))
    check_clean(browser, path, "influence")


def test_pictures_are_saved(browser):
    path, _ = page("saved", model("asia.bif"))
    opened(browser, path)
    drawn_graph(browser)
    saved = browser.run("""(async () => {
        const blobs = [];
        URL.createObjectURL = (blob) => (blobs.push(blob), 'data:,');
        HTMLAnchorElement.prototype.click = () => {};
        for (const e of document.querySelectorAll('#graph .save button')) e.click();
        while (blobs.length < 2) await new Promise((go) => setTimeout(go, 20));
        const bytes = new Uint8Array(await blobs.find((b) => b.type === 'image/png').arrayBuffer());
        return [await blobs.find((b) => b.type === 'image/svg+xml').text(), [...bytes.slice(0, 4)], bytes.length];
    })()""")
    check(saved[0].startswith("<svg") and "xmlns=" in saved[0] and ">tub</text>" in saved[0], "SVG", saved[0][:80])
    check(saved[1] == [0x89, 0x50, 0x4E, 0x47] and saved[2] > 10000, "PNG", saved[1:])

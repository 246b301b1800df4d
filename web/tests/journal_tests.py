"""Pages of journals, also while a run writes them."""

import json
import math
import os
import signal
import subprocess
import time

import browser as chromium
from checks import check
from page_support import PROGRAM, check_clean, opened, texts, treesample


def wait_until(is_true, what):
    end = time.monotonic() + chromium.PATIENCE
    while not is_true():
        if time.monotonic() > end:
            raise RuntimeError(f"never: {what}")
        time.sleep(0.1)


def test_journal(browser):
    with open("factor.py", "w", encoding="utf-8") as file:
        file.write("def likelihood(**states):\n"
                   "    return -4.0 if tuple(states.values()) == ('failed', 'high') else -0.5\n")
    variables = [{"name": "pump", "states": ["ok", "failed"]}, {"name": "<i>load", "states": ["low", "medium", "high"]}]
    with open("paid.json", "w", encoding="utf-8") as file:
        json.dump({"variables": variables, "programs": {"mine": {"python": "factor.py"}},
                   "factors": [{"scope": ["pump"], "values": [0.9, 0.1]},
                               {"name": "likelihood", "scope": ["pump", "<i>load"], "program": "mine"}]}, file)
    treesample("infer", "paid.json", "--journal", "run.journal", "--allow-programs", "--noise", "no", "--quiet")
    path = os.path.abspath("journal.html")
    treesample("journal", "run.journal", "--html", path)
    opened(browser, path)
    check_clean(browser, path, "journal")
    check(texts(browser, ".card .value")[0] == "6", "six evaluations were paid", texts(browser, ".card"))
    check(texts(browser, "#factors tbody td")[0] == "pump, <i>load", "names are text")
    rows = dict(zip(texts(browser, "#rows tbody td:nth-child(2)"), texts(browser, "#rows tbody td:nth-child(3)")))
    expected = {f"pump={a}, <i>load={b}": -4.0 if (a, b) == (1, 2) else -0.5 for a in range(2) for b in range(3)}
    check({key: float(value.replace("−", "-")) for key, value in rows.items()} == expected, "every evaluation", rows)
    check(browser.run("document.querySelectorAll('#values .chart polyline').length") == 2, "values in their order")
    total = math.log(5 * math.exp(-0.5) + math.exp(-4.0))
    said = texts(browser, "#mass p.hint")[0].replace("−", "-")
    check(f"so far, {total:.6g}" in said and "lower bound of log Z" in said, "the mass that was found", said)
    check(browser.run("document.querySelectorAll('#best polyline').length") == 6, "the best, a line each")
    check(texts(browser, "#workers tbody td:nth-child(2)") == ["6"], "calls of the worker")
    check("with --model FILE" in texts(browser, "#logz p")[0], "log Z needs the model", texts(browser, "#logz p"))
    treesample("journal", "run.journal", "--html", path, "--model", "paid.json")
    opened(browser, path)
    check_clean(browser, path, "journal of a model")
    total = math.log(0.9 * 3 * math.exp(-0.5) + 0.1 * (2 * math.exp(-0.5) + math.exp(-4.0)))
    said = dict(zip(texts(browser, "#logz dt"), texts(browser, "#logz dd")))
    check(abs(float(said["log Z"].replace("−", "-")) - total) < 1e-5, "log Z is exact where all was asked", said)
    check("Every configuration was evaluated" in texts(browser, "#logz p.hint")[0], "and that is said")
    check("pump=ok" in " ".join(texts(browser, "#rows tbody td:nth-child(2)")), "states have their names")


def test_journal_that_grows(browser):
    with open("slow.py", "w", encoding="utf-8") as file:
        file.write("import time\ndef slow(**s):\n    time.sleep(0.02)\n    return -float(len(set(s.values())))\n")
    with open("slow.json", "w", encoding="utf-8") as file:
        json.dump({"variables": [{"name": f"v{i}", "states": 4} for i in range(6)],
                   "programs": {"slow": {"python": "slow.py"}},
                   "factors": [{"name": "slow", "scope": [f"v{i}" for i in range(6)], "program": "slow"}]}, file)
    run = subprocess.Popen([PROGRAM, "infer", "slow.json", "--calls", "1000", "--journal", "slow.journal", "--quiet",
                            "--allow-programs"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: os.path.exists("slow.journal") and os.path.getsize("slow.journal") > 2000, "the run began")
    path = os.path.abspath("slow.html")
    watch = subprocess.Popen([PROGRAM, "journal", "slow.journal", "--html", path, "--follow"])
    wait_until(lambda: os.path.exists(path), "there is a page")
    opened(browser, path)
    shown = lambda: int(texts(browser, ".card .value")[0].replace(",", ""))
    first = shown()
    browser.wait(f"Number(document.querySelector('.card .value')?.textContent.replace(',', '')) > {first}")
    run.terminate()
    run.wait(chromium.PATIENCE)
    watch.send_signal(signal.SIGINT)
    check(watch.wait(chromium.PATIENCE) == 130, "Ctrl-C ends it")
    opened(browser, path)
    check(texts(browser, "#followed") == [], "the last page waits for no other")
    check(shown() > first, "it has all", shown())
    check_clean(browser, path, "a journal that grew")


def test_journal_estimate(browser):
    """log Z of one function over all variables, by what 300 of its 16,384 values teach."""
    names = [f"v{i}" for i in range(7)]
    with open("chain.py", "w", encoding="utf-8") as file:
        file.write("def chain(**v):\n    x = list(v.values())\n"
                   "    return -0.7 * sum((a - b) ** 2 for a, b in zip(x, x[1:])) + 0.3 * x[2]\n")
    with open("chain.json", "w", encoding="utf-8") as file:
        json.dump({"variables": [{"name": name, "states": 4} for name in names],
                   "programs": {"chain": {"python": "chain.py"}},
                   "factors": [{"scope": ["v0"], "values": [4, 3, 2, 1]},
                               {"name": "chain", "scope": names, "program": "chain"}]}, file)
    sums = [4.0, 3.0, 2.0, 1.0]
    for i in range(1, 7):
        sums = [sum(sums[a] * math.exp(-0.7 * (a - b) ** 2) for a in range(4)) * math.exp(0.3 * b * (i == 2))
                for b in range(4)]
    truth = math.log(sum(sums))
    treesample("infer", "chain.json", "--calls", "300", "--journal", "chain.journal", "--allow-programs", "--quiet")
    path = os.path.abspath("estimate.html")
    treesample("journal", "chain.journal", "--html", path, "--model", "chain.json")
    opened(browser, path)
    check_clean(browser, path, "estimate")
    said = {key: value.replace("−", "-") for key, value in zip(texts(browser, "#logz dt"), texts(browser, "#logz dd"))}
    estimate, lower = float(said["log Z, estimate"]), float(said["At least (certified)"])
    check(abs(estimate - truth) < 0.02, "the estimate is near the truth", f"{estimate} {truth}")
    check(lower < truth, "the lower bound is below it", f"{lower} {truth}")
    share = float(said["Share of the mass evaluated"].split()[1]) / 100
    check(abs(share - math.exp(lower - estimate)) < 0.01, "the share is that of these two", said)
    hints = " ".join(texts(browser, "#logz p.hint"))
    check("not certified" in hints and "An error that true values of samples confirm" in hints, "its meaning", hints)
    check(browser.run("document.querySelectorAll('#logz .chart polyline').length") == 2, "both over calls")
    check("of the mass evaluated" in " ".join(texts(browser, ".card")), "a card", texts(browser, ".card"))

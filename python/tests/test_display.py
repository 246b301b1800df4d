"""What is seen in a notebook: HTML of models, answers and sessions, pictures, bars of progress, and what is logged."""
import html.parser
import logging

import numpy as np
import pytest

import treesample as ts
from treesample import _progress


class Text(html.parser.HTMLParser):
    """The text of HTML, and its tags."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def network():
    m = ts.Model()
    rain, grass = m.variable("rain<b>", ["no", "<i>yes"]), m.variable("grass", ["dry", "wet"])
    m.table([rain], [0.8, 0.2])
    m.table([rain, grass], [[0.9, 0.1], [0.2, 0.8]])
    return m


def weather():
    m = ts.Model()
    for name in ("yesterday", "today", "umbrella"):
        m.variable(name, ["no", "yes"])
    m.table(["yesterday", "today"], [[0.7, 0.3], [0.3, 0.7]])
    m.table(["today", "umbrella"], [[0.8, 0.2], [0.1, 0.9]])
    return m.repeat(links=[("yesterday", "today")], start={"yesterday": [0.5, 0.5]})


def everything():
    m = network()
    umbrella = ts.Model()
    rain, take = umbrella.variable("rain", ["no", "yes"]), umbrella.variable("umbrella", ["leave", "take"])
    umbrella.table([rain], [0.7, 0.3])
    return {
        "model": m,
        "answer": m.infer(evidence={"grass": "wet"}, query=[["rain<b>"], ["rain<b>", "grass"]]),
        "session": m.compile().observe(grass="wet"),
        "marginals": m.infer().marginals,
        "cases": m.infer_cases([{"grass": "wet"}, {}]),
        "fit": m.fit({"grass": ["wet", "dry", None]}),
        "slices": weather().smooth({"umbrella": ["yes", "no"]}),
        "decided": umbrella.decide({"umbrella": ["rain"]}, [(["rain", "umbrella"], [[20, 10], [0, 10]])]),
        "comparison": m.compare(methods=["smc", "search"], budgets=[20, 50], runs=2),
    }


def test_everything_is_seen_in_a_notebook_and_names_are_text():
    for what, shown in everything().items():
        seen = Text(shown._repr_html_())
        assert "table" in seen.tags, what
        assert "b" not in seen.tags or what in ("answer", "session"), what  # where a state was seen
        assert "i" not in seen.tags, what
        assert any(text.strip() for text in seen.texts), what


def test_numbers_of_an_answer_are_seen_and_what_was_asked_comes_first():
    answer = network().infer(evidence={"grass": "wet"}, query=[["rain<b>"]])
    seen = Text(answer._repr_html_()).texts
    assert seen.index("rain<b>") < seen.index("variable") and "given grass = wet" in seen
    assert f"{answer['rain<b>']['no']:.4f}" in seen


def test_the_page_of_an_answer_is_a_frame():
    page = network().infer().show(height=300)._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "height='300'" in page and "allow-scripts" in page
    assert "<script" not in page.split("srcdoc=", 1)[0] and Text(page).tags == ["iframe"]


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = everything()
    ax = shown["answer"].plot("rain<b>")
    widths = [bar.get_width() for bar in ax.patches]
    assert np.allclose(widths, list(shown["answer"]["rain<b>"].values())) and ax.get_title() == "rain<b>"
    two = shown["answer"].plot("rain<b>", "grass")
    assert len(two) == 2 and "observed" in two[1].get_title()
    assert shown["session"].plot("grass").get_title().endswith("(observed)")
    sampled = ts.families.ising(n=6, seed=2).infer(method="gibbs", budget=40000)
    if any(sampled.marginals.std_error(v) for v in sampled.marginals):
        assert len(sampled.plot("x0").containers) == 2  # bars, and their errors
    figure, mine = pyplot.subplots()
    assert shown["slices"].plot("today", ax=mine) is mine and len(mine.collections) == 2
    assert len(shown["fit"].plot().lines[0].get_xdata()) == shown["fit"].iterations + 1
    assert {text.get_text() for text in shown["comparison"].plot().get_legend().get_texts()} == {"smc", "search"}
    with pytest.raises(ts.Error, match="ax is one picture"):
        shown["answer"].plot("rain<b>", "grass", ax=mine)
    pyplot.close("all")


def test_a_comparison_says_which_method_to_take():
    m = ts.families.ising(n=3, seed=1)
    found = m.compare(methods=["smc", "search", "gibbs"], budgets=[2, 600], runs=2, seed=3)
    truth = m.infer().log_z.estimate
    for method, budget, run, log_z, error in zip(
        *(found[name] for name in ("method", "budget", "run", "log_z", "log_z_error"))
    ):
        if not np.isnan(log_z):
            assert error == pytest.approx(abs(log_z - truth), abs=1e-12)
            again = m.infer(method=str(method), budget=int(budget), seed=3 + int(run), time=0).log_z.estimate
            assert again == log_z
    assert found.mean("search", 600)[0] == pytest.approx(0.0, abs=1e-9)
    assert "Take infer without method" in found.advice and "search" in found.advice
    assert "inf" not in Text(found._repr_html_()).texts
    with pytest.raises(ts.Error, match="magic"):
        m.compare(methods=["magic"])


class Bar:
    """A class of bars like tqdm's."""

    made = []

    def __init__(self, total=None, unit="it", leave=True):
        self.total, self.unit, self.n, self.is_open, self.told = total, unit, 0, True, []
        Bar.made.append(self)

    def update(self, more):
        self.n += more

    def set_description_str(self, text, refresh):
        self.description = text

    def set_postfix_str(self, text, refresh):
        self.told.append(text)

    def close(self):
        self.is_open = False


def function_model():
    m = ts.Model()
    x = [m.variable(f"x{i}", 3) for i in range(5)]
    m.factor(*x)(lambda *states: -0.5 * sum(states))
    return m


def test_bars_by_the_conventions_of_tqdm():
    Bar.made.clear()
    progress = _progress.make_progress(Bar, 100)
    for calls in (10, 40, 100):
        progress(dict(seconds=1.0, phase="asking", lower=None, upper=None, estimate=-1.0, share=None, calls=calls, best=-2))
    progress.end()
    (bar,) = Bar.made
    assert (bar.total, bar.n, bar.unit, bar.is_open) == (100, 100, "call", False)
    assert bar.description == "asking" and bar.told[-1] == "log Z about -1, best -2"
    function_model().infer(calls=60, progress=Bar)
    assert all(bar.total == 60 and bar.n <= 60 and not bar.is_open for bar in Bar.made[1:])
    own = Bar(total=100)
    network().infer_cases([{"grass": "wet"}] * 5000, progress=own)
    assert own.is_open and 0 <= own.n <= 100
    network().fit({"grass": ["wet", "dry"]}, progress=Bar)
    assert not Bar.made[-1].is_open


def test_a_bar_of_tqdm(capsys):
    tqdm = pytest.importorskip("tqdm")
    ts.families.ising(n=20, seed=3).infer(time=0.5, progress=True)
    bar = tqdm.tqdm(total=60)
    function_model().infer(calls=60, progress=bar)
    bar.close()
    assert capsys.readouterr().err


def test_progress_without_tqdm(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert isinstance(_progress.make_progress(True), _progress.TerminalProgress)
    function_model().infer(calls=60, progress=True)
    assert not capsys.readouterr().err.strip(" \r").endswith("\n")


def test_runs_are_logged(caplog, tmp_path):
    with caplog.at_level(logging.DEBUG, logger="treesample"):
        network().infer(evidence={"grass": "wet"}, time=5)
        function_model().infer(calls=30)
        path = tmp_path / "m.json"
        network().write(path)
        ts.read(path)
        ts.families.ising(n=3).infer(method="smc", budget=200, sweeps=3)  # an option that smc does not use
    texts = [record.getMessage() for record in caplog.records]
    assert all(record.name == "treesample" for record in caplog.records)
    assert any(text.startswith("infer: <treesample.Answer: log Z") and "exact" in text for text in texts)
    assert any(text.startswith("read ") for text in texts)
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert any("sweeps" in record.getMessage() for record in warnings), texts
    assert any(record.levelno == logging.DEBUG for record in caplog.records)


def test_nobody_is_told_without_asking(capsys):
    network().infer()
    assert capsys.readouterr() == ("", "")

"""How a run goes, while it goes."""
import treesample as ts
from treesample import _progress


def slow_model():
    model = ts.Model()
    x = [model.variable(f"x{i}", 3) for i in range(5)]
    model.factor(*x)(lambda *states: -0.5 * sum(states))
    return model


def test_progress_in_a_notebook_is_one_output_that_ends_empty(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/html"])

    def display(data, raw, display_id):
        shown.append(data["text/html"])
        return Handle()

    progress = _progress.NotebookProgress(display)
    monkeypatch.setattr("treesample._run.make_progress", lambda given, most_calls: progress)
    ts.families.ising(n=25, seed=3).infer(time=1.0, progress=True)
    assert len(shown) > 1 and shown[0].startswith("<pre>") and shown[-1] == ""


def test_values_of_a_journal_promise_no_speed():
    pace = _progress.Pace()
    pace(dict(seconds=0.1, calls=300))  # all at once, as they are known
    for second in range(1, 9):
        now = pace(dict(seconds=float(second), calls=300 + 5 * second))
    assert 4.9 < now < 5.1


def test_progress_says_what_a_person_waits_for(capsys):
    seen = []
    slow_model().infer(calls=60, progress=lambda report: seen.append(dict(report, seconds=max(1.0, report["seconds"]))))
    assert seen and seen[-1]["calls"] <= 60
    report = dict(seconds=4.0, phase="asking", lower=None, upper=None, estimate=-2.0, share=None, calls=20, best=-0.5)
    assert _progress.line_of(report, 5.0, 100) == "   4.0 s  asking  20 calls, 5 per second  log Z about -2  best -0.5  about 16 s left"
    certified = dict(report, lower=123456.7891234, upper=123456.7891235)
    assert "log Z in [123456.789123, 123456.789124]" in _progress.line_of(certified)
    slow_model().infer(calls=60, progress=True)
    assert capsys.readouterr().err.endswith("\r")  # the line was there, and is empty in the end

"""UM-Bridge servers by keyword. The protocol itself is tested through the program (tests/cli/run_umbridge_tests.py)."""

import http.server
import json
import math
import threading
import time

import pytest
import treesample as ts

ANSWERS = {
    "/Info": {"protocolVersion": 1.0, "models": ["forward"]},
    "/ModelInfo": {"support": {"Evaluate": True}},
    "/InputSizes": {"inputSizes": [2, 1]},
    "/OutputSizes": {"outputSizes": [2, 1]},
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, answer):
        payload = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def do_GET(self):
        self.reply(ANSWERS[self.path])

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/Evaluate":
            return self.reply(ANSWERS[self.path])
        server = self.server
        with server.lock:
            server.bodies.append(body)
            server.under_way += 1
            server.most = max(server.most, server.under_way)
        time.sleep(0.01)
        with server.lock:
            server.under_way -= 1
        (depth, gravity), (slope,) = body["input"]
        self.reply({"output": [[7.0, gravity * depth / slope], [0.0]]})


@pytest.fixture
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    made.bodies, made.under_way, made.most, made.lock = [], 0, 0, threading.Lock()
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def model_of(url, **more):
    model = ts.Model()
    slope = model.variable("slope", ["1", "3"])
    depth = model.variable("depth", [0.5, 1.0, 2.5], ordered=True)
    how = dict(inputs=[[depth, 9.81], ["slope"]], output=(0, 1), transform="minus", scale=0.5, config={"level": 2})
    model.umbridge([slope, depth], url, "forward", **{**how, **more})
    return model


EXPECTED = math.log(sum(math.exp(-0.5 * 9.81 * d / s) for s in (1.0, 3.0) for d in (0.5, 1.0, 2.5)))


def test_a_server_computes_a_factor(server, tmp_path):
    url = f"http://127.0.0.1:{server.server_port}"
    answer = model_of(url).infer(calls=50, workers=4, journal=tmp_path / "j")
    assert answer.log_z.exact and math.isclose(float(answer.log_z), EXPECTED, abs_tol=1e-9)
    assert server.bodies[0]["config"] == {"level": 2} and server.most > 1
    paid = len(server.bodies)
    again = model_of(url + "/").infer(calls=50, workers=4, journal=tmp_path / "j", noise="no")  # another address
    assert float(again.log_z) == float(answer.log_z) and len(server.bodies) == paid
    with pytest.raises(ts.Error):  # another function
        model_of(url, scale=1.0).infer(calls=50, journal=tmp_path / "j")


def test_a_server_stands_beside_functions_and_tables(server):
    model = model_of(f"http://127.0.0.1:{server.server_port}")
    model.table(["slope"], [0.25, 0.75])
    model.factor("depth")(lambda depth: -depth)
    answer = model.infer(calls=50)
    terms = [
        math.exp(-0.5 * 9.81 * d / s - d) * p for s, p in ((1.0, 0.25), (3.0, 0.75)) for d in (0.5, 1.0, 2.5)
    ]
    assert math.isclose(float(answer.log_z), math.log(sum(terms)), abs_tol=1e-9)


def test_what_cannot_be_is_refused_when_it_is_said(server):
    with pytest.raises(ts.Error, match="umbridge: programs.forward.transform"):
        model_of("http://localhost:1", transform="square")
    with pytest.raises(ts.Error, match="programs.forward.umbridge"):
        model_of("https://localhost:1")
    with pytest.raises(ts.Error, match="inputs"):
        model_of("http://localhost:1", inputs=[["width"]])
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool, pytest.raises(ts.OptionError, match="workers=N keeps N under"):
        model_of("http://localhost:1").infer(calls=5, executor=pool)

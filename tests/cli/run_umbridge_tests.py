#!/usr/bin/env python3
"""UM-Bridge servers as factors: run_umbridge_tests.py PROGRAM

The server follows protocol 1.0: /Info, /ModelInfo, /InputSizes, /OutputSizes, /Evaluate, error objects with status 400.
"""
import http.server
import itertools
import json
import math
import os
import signal
import subprocess
import tempfile
import threading
import time

from checks import PROGRAM, check, read, read_json, run_tests, write

PATIENCE = 120
DEPTHS, SLOPES = [0.5, 1.0, 2.5], [1.0, 3.0]


class Server(http.server.ThreadingHTTPServer):
    """The model "forward": two vectors in, [depth, 9.81] and [slope]; out [[7, y], [0]]. `evaluate` may be replaced."""
    daemon_threads = True

    def __init__(self, evaluate=None, **answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {"/Info": {"protocolVersion": 1.0, "models": ["other", "forward"]},
                        "/ModelInfo": {"support": {"Evaluate": True, "Gradient": False}},
                        "/InputSizes": {"inputSizes": [2, 1]}, "/OutputSizes": {"outputSizes": [2, 1]}}
        self.answers.update({"/" + name: answer for name, answer in answers.items()})
        self.evaluate = evaluate or (lambda body: {"output": [[7.0, misfit(body)], [0.0]]})
        self.bodies, self.num_under_way, self.most_under_way, self.lock = [], 0, 0, threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


def misfit(body):
    (depth, gravity), (slope,) = body["input"]
    return gravity * depth / slope


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, answer, status=200):
        payload = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def do_GET(self):
        self.reply(self.server.answers.get(self.path, {"error": {"type": "NotFound", "message": "?"}}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body.get("name") != "forward":
            self.reply({"error": {"type": "ModelNotFound", "message": "no such model"}}, 400)
        elif self.path != "/Evaluate":
            self.reply(self.server.answers[self.path])
        else:
            server = self.server
            with server.lock:
                server.bodies.append(body)
                server.num_under_way += 1
                server.most_under_way = max(server.most_under_way, server.num_under_way)
            answer = server.evaluate(body)
            with server.lock:
                server.num_under_way -= 1
            status = 200
            if isinstance(answer, tuple):
                answer, status = answer
            if answer is None:
                self.close_connection = True
                return
            try:
                if callable(answer):
                    answer(self.wfile)
                else:
                    self.reply(answer, status)
            except OSError:
                pass


class Run:
    def __init__(self, url, *options, model_options=(), **fields):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        program = {"umbridge": url, "model": "forward", "inputs": [["depth", 9.81], ["slope"]],
                   "numbers": {"depth": DEPTHS}, "output": [0, 1], "transform": "minus", "scale": 0.5, "max_retries": 1,
                   "config": {"level": 2}, **fields}
        program = {name: value for name, value in program.items() if value is not None}
        model = {"variables": [{"name": "depth", "states": ["low", "middle", "high"]},
                               {"name": "slope", "states": ["1", "3"]}, {"name": "free", "states": 2}],
                 "programs": {"p": program},
                 "factors": [{"name": "f", "scope": ["slope", "depth"], "program": "p"},
                             {"scope": ["free"], "values": [0.25, 0.75]}]}
        write(self.path("model.json"), json.dumps(model))
        self.options = options
        self.start()

    def start(self):
        command = [PROGRAM, "infer", "model.json", "--json", "answer.json", "--allow-programs", "--quiet",
                   *map(str, self.options)]
        self.process = subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def wait(self):
        self.out, self.err = self.process.communicate(timeout=PATIENCE)
        self.code = self.process.returncode
        return self

    def log_z(self):
        return read_json(self.path("answer.json"))["log_z"]


def exact(value=lambda depth, slope: -0.5 * 9.81 * depth / slope):
    return math.log(sum(math.exp(value(d, s)) for d, s in itertools.product(DEPTHS, SLOPES)))


def check_exact(run, expected, what):
    run.wait()
    if check(run.code == 0, f"{what}: an answer", run.err):
        log_z = run.log_z()
        check(log_z["exact"] and abs(log_z["estimate"] - expected) < 1e-9, f"{what}: as by hand", f"{log_z} {expected}")


def check_failure(run, words, what, code=66):
    run.wait()
    check(run.code == code and words in run.err and run.err.count("\n") == 1, what, f"{run.code} {run.err}")


def test_values_are_those_of_the_server():
    with Server() as server:
        check_exact(Run(server.url(), "--noise", "no"), exact(), "minus")
        check(len(server.bodies) == 6, "every state once", f"{len(server.bodies)}")
        check(all(body["config"] == {"level": 2} and body["name"] == "forward" for body in server.bodies), "what is sent")
        check(sorted(tuple(b["input"][0]) + tuple(b["input"][1]) for b in server.bodies) ==
              sorted((d, 9.81, s) for d in DEPTHS for s in SLOPES), "the declared numbers")
    with Server() as server:
        check_exact(Run(server.url() + "/", transform="log", scale=2),
                    exact(lambda d, s: 2 * math.log(9.81 * d / s)), "log")
        check_exact(Run(server.url(), transform=None, scale=None), exact(lambda d, s: 9.81 * d / s), "none")
    with Server(lambda body: {"output": [[1.0, -math.inf if body["input"][0][0] == 1.0 else 0.0], [0.0]]}) as server:
        check_exact(Run(server.url(), transform=None), math.log(4), "-Infinity is impossible")


def test_a_small_number_is_not_zero():
    """1e-400 is read as 0, whose logarithm says impossible."""
    for number in ("1e-400", "4e-320"):
        with Server(lambda body: b'{"output": [[0.0, %s], [1e-400]]}' % number.encode()) as server:
            check_failure(Run(server.url(), transform="log", max_retries=0), f"an output of {number}, too small", number)
            check_exact(Run(server.url(), transform=None), math.log(6), "not as a logarithm")
    for number in ("0.0", "0", "0e5", "-0.0"):
        with Server(lambda body: b'{"x": [[1e-400, 1e-400]], "output": [[1e-400, %s], [1e-400, {"a": [1e-400]}]]}' %
                    (number if body["input"][0][0] == 1.0 else "1.0").encode()) as server:
            check_exact(Run(server.url(), transform="log"), math.log(4), f"{number} is impossible")


def test_workers_and_journal():
    def slowly(body):
        time.sleep(0.1)
        return {"output": [[7.0, misfit(body)], [0.0]]}

    with Server(slowly) as server:
        run = Run(server.url(), "--oracle-workers", 3, "--journal", "run.journal")
        check_exact(run, exact(), "three workers")
        check(server.most_under_way > 1, "requests at the same time", f"{server.most_under_way}")
    with Server() as other:
        text = read(run.path("model.json"))
        write(run.path("model.json"), text.replace(server.url(), other.url()))
        run.start()
        check_exact(run, exact(), "another address")
        check(not other.bodies, "the journal does not depend on it")
        write(run.path("model.json"), text.replace('"level": 2', '"level": 3'))
        run.start()
        check_failure(run, "the command of program 'p'", "but on what is computed", 64)


def test_wrong_servers():
    cases = [({"Info": {"protocolVersion": 0.9, "models": ["forward"]}}, "protocolVersion is 0.9, allowed is 1.0"),
             ({"Info": {"protocolVersion": 1.0, "models": ["backward"]}}, "it has no model 'forward', it has [\"backward\"]"),
             ({"Info": {"protocolVersion": 1.0}}, "it has no model 'forward'"), ({"Info": [1]}, "no JSON object"),
             ({"Info": b"<html>"}, "no JSON in its answer '<html>'"),
             ({"ModelInfo": {"support": {"Evaluate": False}}}, "does not support Evaluate"),
             ({"ModelInfo": {}}, "does not support Evaluate"),
             ({"InputSizes": {"inputSizes": [2, 2]}}, "has the inputSizes [2,2], the model file gives it [2,1]"),
             ({"InputSizes": {"inputSizes": [2]}}, "has the inputSizes [2], the model file gives it [2,1]"),
             ({"InputSizes": {"inputSizes": "x"}}, "has the inputSizes \"x\""),
             ({"OutputSizes": {"outputSizes": [1]}}, "has the outputSizes [1], the model file needs at least [2]")]
    for answers, words in cases:
        with Server(**answers) as server:
            check_failure(Run(server.url()), words, f"{answers}")
    with Server() as server:
        url = server.url()
    # "Connection" or "Could not establish connection", by the version of the HTTP library.
    check_failure(Run(url), "no answer: Co", "no server")


def test_wrong_answers():
    cases = [({"output": [[7.0]]}, "no output[0][1] in its answer"), ({"output": 3}, "no output[0][1]"), ({}, "no output[0][1]"),
             ({"output": [[7.0, None]]}, "output[0][1] is null, no number"),
             ({"output": [[7.0, 1.0, 2.0]]}, "output[0] has 3 entries, and outputSizes gave it 2"),
             ([], "no JSON object"), (b"", "no JSON in its answer"), (b"[" * 1000, "nested"), (b"\xff", "no JSON"),
             (({"error": {"type": "InvalidInput", "message": "the mesh\nfails"}}, 400), "the server says: InvalidInput: the mesh"),
             (({"error": 3}, 500), "the server says: 3"), ((b"<html>", 502), "HTTP status 502"),
             (({"output": [[7.0, 1.0]]}, 500), "HTTP status 500"), (None, "no answer: "),
             (b'{"output": [[' + b"0," * (1 << 25) + b"0]]}", "an answer of more than 67108864 bytes")]
    for answer, words in cases:
        with Server(lambda body, answer=answer: answer) as server:
            run = Run(server.url())
            check_failure(run, words, f"{str(answer)[:80]}")
            check("program 'p': factor 'f' at slope=" in run.err and "failed 2 times" in run.err, "the place", run.err)
            check(len(server.bodies) == 2, "tried again once", f"{len(server.bodies)}")
    with Server(lambda body: {"output": [[7.0, math.nan]]}) as server:
        check_failure(Run(server.url()), "a log-value of nan", "NaN", 65)
    with Server(lambda body: {"output": [[7.0, -1.0]]}) as server:
        check_failure(Run(server.url(), transform="log"), "an output of -1, whose logarithm is none", "log of -1")


def test_failures_by_rule():
    def fails_at_times(body):
        if body["input"][0][0] == 1.0:
            return {"error": {"type": "ModelError", "message": "diverged"}}, 500
        return {"output": [[7.0, misfit(body)], [0.0]]}

    with Server(fails_at_times) as server:
        expected = math.log(sum(math.exp(-0.5 * 9.81 * d / s) for d in (0.5, 2.5) for s in SLOPES))
        check_exact(Run(server.url(), on_failure="impossible"), expected, "impossible")


def drip(file):
    """A byte at a time, quickly enough for a timeout that is for single reads."""
    file.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    for _ in range(1000):
        file.write(b" ")
        file.flush()
        time.sleep(0.05)


def test_slow_servers():
    with Server(lambda body: drip) as server:
        begin = time.monotonic()
        check_failure(Run(server.url(), timeout_seconds=0.5), "no answer: ", "a timeout of dripping answers")
        check(time.monotonic() - begin < 30, "the timeout is for a whole answer", "")
    with Server(lambda body: time.sleep(60)) as server:
        check_failure(Run(server.url(), timeout_seconds=0.2), "no answer: ", "a timeout")
        run = Run(server.url(), "--time", 1, timeout_seconds=5000).wait()
        check(run.code == 0 and "stopped: time" in run.out, "the time limit", f"{run.code} {run.err} {run.out}")
        run = Run(server.url(), timeout_seconds=5000)
        end = time.monotonic() + PATIENCE
        while len(server.bodies) < 4 and time.monotonic() < end:
            time.sleep(0.01)
        run.process.send_signal(signal.SIGINT)
        check(run.wait().code == 130, "an interruption", f"{run.code} {run.err}")


def test_wrong_models():
    url = "http://127.0.0.1:1"
    cases = [({"numbers": {"depth": [1, 2]}}, "programs.p.numbers.depth: 2 numbers, the variable 'depth' has 3 states"),
             ({"numbers": None}, "the states of 'depth' are no numbers; declare some"),
             ({"numbers": {"x": [1]}}, "unknown variable 'x'"), ({"inputs": [["depth", "x"]]}, "unknown variable 'x'"),
             ({"inputs": [["depth"]]}, "its variables are not those of the inputs of the program 'p'"),
             ({"inputs": []}, "there is no input vector"), ({"inputs": None, "numbers": None}, "are no numbers"),
             ({"inputs": None}, "numbers need \"inputs\""),
             ({"output": [0]}, "programs.p.output"), ({"output": [-1, 0]}, "programs.p.output[0]"),
             ({"transform": "exp"}, "allowed are \"none\", \"log\" and \"minus\""), ({"model": None}, "model"),
             ({"umbridge": "https://x"}, "allowed is http://HOST[:PORT][/PATH], found 'https://x'"),
             ({"umbridge": "http://u:p@x"}, "allowed is http://"), ({"config": 3}, "programs.p.config"),
             ({"max_batch": 4}, "a UM-Bridge server evaluates one assignment at a time"),
             ({"command": ["x"]}, "exactly one of the fields command, python, umbridge"),
             ({"umbridge": None, "command": ["x"]}, "only a program with the field umbridge has this field")]
    for fields, words in cases:
        check_failure(Run(url if "umbridge" not in fields else None, **fields), words, f"{fields}", 65)
    run = Run(url)
    refused = subprocess.run([PROGRAM, "infer", "model.json"], cwd=run.folder.name, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL)
    check(refused.returncode == 77 and "requests to http://127.0.0.1:1" in refused.stderr, "consent", refused.stderr)
    run.wait()


run_tests(globals())

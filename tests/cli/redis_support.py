"""A Redis server, a client for it, and learners and workers as processes, for the tests of distributed training."""
import hashlib
import hmac
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from checks import PROGRAM

if shutil.which("redis-server") is None:
    print("skipped: redis-server is not installed")
    sys.exit(0)
LONG = 120  # seconds after which something hangs; nothing is expected to take that long
SMALL = ["--n", "8", "--budget", "60", "--samples", "8", "--batch", "32", "--replay", "500", "--assess-every", "0"]


class Server:
    """Without persistence: a server that is restarted is empty."""

    def __init__(self, folder, *more):
        self.folder, self.more, self.process = folder, more, None
        self.path = os.path.join(folder, "redis.sock")
        self.start()

    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        if os.path.exists(self.path):
            os.remove(self.path)
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--appendonly", "no",
             "--dir", self.folder, *self.more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.is_listening, "the server")

    def is_listening(self):
        try:
            return self.client()("PING") is not None
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def client(self, password=None):
        client = Client(self.path)
        if password:
            client("AUTH", password)
        return client


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LONG)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def __call__(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.read()

    def read(self):
        line = self.file.readline()
        kind, value = line[:1], line[1:-2]
        if kind == b"-":
            return RuntimeError(value.decode())
        if kind == b":":
            return int(value)
        if kind == b"$":
            return None if int(value) < 0 else self.file.read(int(value) + 2)[:-2]
        if kind == b"*":
            return None if int(value) < 0 else [self.read() for _ in range(int(value))]
        return value


def wait_for(condition, what):
    end = time.time() + LONG
    while time.time() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise SystemExit(f"FAILED: waited {LONG} s for {what}")


class Process:
    """A learner or worker whose standard error can be read while it runs."""

    def __init__(self, arguments, folder, environment=None):
        self.log = tempfile.NamedTemporaryFile(dir=folder, suffix=".log", delete=False)
        self.process = subprocess.Popen([PROGRAM, *arguments], stdout=self.log, stderr=self.log,
                                        env={**os.environ, **(environment or {})})

    def text(self):
        with open(self.log.name, errors="replace") as file:
            return file.read()

    def says(self, words):
        def is_said():
            if words in self.text():
                return True
            if self.process.poll() is not None and words not in self.text():
                raise SystemExit(f"FAILED: ended with {self.process.returncode} before it said '{words}':\n{self.text()}")
            return False
        wait_for(is_said, f"'{words}' in\n{self.log.name}")

    def wait(self):
        try:
            return self.process.wait(LONG)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise SystemExit(f"FAILED: still running after {LONG} s: {self.process.args}\n{self.text()}") from None

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Lab:
    """A folder, a server in it and what runs there; everything ends with it."""

    def __init__(self, *server_options):
        base = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = tempfile.mkdtemp(prefix="ts_redis_", dir=base)
        self.server = Server(os.path.join(self.folder, "server"), *server_options)
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        self.server.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def address(self):
        return f"unix:{self.server.path}"

    def run(self, *arguments, environment=None):
        self.processes.append(Process([str(a) for a in arguments], self.folder, environment))
        return self.processes[-1]

    def learner(self, *more, episodes=40, out="run", run="test", patience=60, environment=None):
        return self.run("train", "--out", self.path(out), "--redis", self.address(), "--run", run, "--episodes", episodes,
                        "--patience", patience, *SMALL, *more, environment=environment)

    def worker(self, *more, run="test", patience=60, environment=None):
        return self.run("worker", "--redis", self.address(), "--run", run, "--patience", patience, *more,
                        environment=environment)

    def rows(self, out="run"):
        try:
            with open(self.path(out, "progress.csv")) as file:
                return [line.rstrip("\n").split(",") for line in file][1:]
        except FileNotFoundError:
            return []

    def wait_for_rows(self, count, out="run"):
        wait_for(lambda: len(self.rows(out)) >= count, f"{count} rows")


def key(name, run="test"):
    return f"treesample:{run}:{name}"


def seal(kind, payload, run="test", secret=b"treesample: no secret"):
    return payload + hmac.new(secret, f"treesample 1 {kind} {run}\0".encode() + payload, hashlib.sha256).digest()


class Episode:
    """The fields of an episode (src/train/episode_codec.hpp) that forgeries change."""

    def __init__(self, sealed):
        self.bytes = sealed[:-32]
        place = 8
        for _ in range(2):
            place += 4 + struct.unpack_from("<I", self.bytes, place)[0]
        self.problem_at = place + 8
        counts_at = place + 3 * 8 + 6 * 8
        _, num_rows, num_targets = struct.unpack_from("<III", self.bytes, counts_at)
        self.num_values = num_rows * num_targets

    def forged(self, problem, target=None):
        changed = bytearray(self.bytes)
        struct.pack_into("<Q", changed, self.problem_at, problem)
        if target is not None:
            start = len(changed) - 4 - 4 * self.num_values  # no upper ends of intervals follow, and so it says
            struct.pack_into(f"<{self.num_values}f", changed, start, *[target] * self.num_values)
        return bytes(changed)


def network_values(path):
    with open(path, "rb") as file:
        data = file.read()
    header = struct.unpack_from("<Q", data)[0]
    count = (len(data) - 8 - header) // 4
    return struct.unpack_from(f"<{count}f", data, 8 + header)

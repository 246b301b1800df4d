#!/usr/bin/env python3
"""Distributed training when the server, its keys or somebody with access to it do what they should not:
run_redis_tests.py PROGRAM

Nothing is poisoned, doubled or waited for in silence.
"""
import concurrent.futures
import math
import os
import signal
import sys

from checks import check, finish, write
from redis_support import Episode, Lab, key, network_values, seal, wait_for

SECRET = "a secret of more than 16 bytes"


def run_together(work, items):
    # Most of the time is spent waiting.
    def guarded(item):
        try:
            work(item)
        except (Exception, SystemExit) as error:
            check(False, item, repr(error))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(guarded, items))


def check_finished(lab, learner, worker, episodes, what):
    code = learner.wait()
    check(code == 0, f"{what}: the learner ends with 0", f"not {code}\n{learner.text()}")
    if worker:
        check(worker.wait() == 0, f"{what}: the worker ends with 0", worker.text())
    rows = lab.rows()
    check([row[0] for row in rows] == [str(i + 1) for i in range(episodes)], f"{what}: a row per episode")
    check(len({row[1] for row in rows}) == episodes, f"{what}: no episode counts twice")
    for name in ("network.safetensors", "checkpoint.safetensors"):
        values = network_values(lab.path("run", name))
        check(name.startswith("check") or all(map(math.isfinite, values)), f"{what}: {name} is finite")


def one_episode(client):
    entry = client("XREAD", "BLOCK", "60000", "STREAMS", key("episodes"), "0")
    return Episode(entry[0][1][0][1][1])


def test_poison_is_refused_and_named():
    # Without a secret everybody can seal: content is checked all the same.
    with Lab() as lab:
        learner, worker = lab.learner(episodes=200), lab.worker()
        learner.says("neither a password nor a key")
        client = lab.server.client()
        episode = one_episode(client)
        forged = [episode.forged(100_000 + i, target) for i, target in
                  enumerate([3e38, -3e38, math.nan, math.inf, 1e5, -1e5])]
        forged += [episode.forged(2**32 - 1), b"TSEP0001" + episode.bytes[8:], b"", b"x" * 31, b"x" * 100]
        for payload in forged:
            client("XADD", key("episodes"), "*", "episode", seal("episode", payload))
        client("XADD", key("episodes"), "*", "episode", "not sealed")
        client("XADD", key("episodes"), "*", "episode", "")
        client("XADD", key("episodes"), "*", "a", "b", "c", "d")
        check_finished(lab, learner, worker, 200, "poison")
        text = learner.text()
        check("14 episodes were refused" in text, "all forgeries are counted", text)
        check("of this sender): worker " in text, "the worker is named", text)
        check("a target at level" in text and "allowed are" in text, "value and range are named", text)


def test_only_the_key_counts():
    with Lab() as lab:
        write(lab.path("key"), SECRET + "\n")
        os.chmod(lab.path("key"), 0o644)
        learner = lab.learner("--key-file", lab.path("key"), episodes=30)
        check(learner.wait() == 64 and "key file has the permissions 644" in learner.text(), "a key file that others can read is refused", learner.text())
        os.chmod(lab.path("key"), 0o600)
        learner = lab.learner("--key-file", lab.path("key"), episodes=30)
        client = lab.server.client()
        wait_for(lambda: client("GET", key("head")), "the head")
        # A worker without the key can neither use what the learner says nor be used.
        stranger = lab.worker()
        stranger.says("the seal does not agree")
        other = lab.worker(environment={"TREESAMPLE_KEY": "another secret of 16 bytes"})
        other.says("the seal does not agree")
        worker = lab.worker(environment={"TREESAMPLE_KEY": SECRET})
        episode = one_episode(client)
        client("XADD", key("episodes"), "*", "episode", seal("episode", episode.forged(1_000)))
        client("XADD", key("episodes"), "*", "episode", seal("options", episode.forged(1_001), secret=SECRET.encode()))
        client("XADD", key("episodes"), "*", "episode",
               seal("episode", episode.forged(1_002), run="other", secret=SECRET.encode()))
        check_finished(lab, learner, worker, 30, "key")
        check("neither a password" not in learner.text(), "with a key there is no warning")
        problems = {row[1] for row in lab.rows()}
        check(not problems & {"1000", "1001", "1002"}, "what is not sealed for this use is not used")
        check("the seal does not agree: damaged, forged, or made with another key" in learner.text(), "reported")


def test_secrets_are_checked_before_work():
    with Lab() as lab:
        cases = [
            (["--redis", "redis://192.0.2.1"], {}, 64, "neither a password nor a key"),
            (["--redis", "redis://127.evil.example.org", "--patience", "0"], {}, 64, "neither a password nor a key"),
            (["--key-file", lab.path("nothing")], {}, 66, "nothing: the key cannot be read"),
            (["--key-file", "/dev/null"], {}, 64, "regular file"),
            ([], {"TREESAMPLE_KEY": "short"}, 64, "TREESAMPLE_KEY: the key has 5 bytes"),
        ]
        for more, environment, code, words in cases:
            server = [] if "--redis" in more else ["--redis", lab.address()]
            for command in (["train", "--out", lab.path("no")], ["worker"]):
                process = lab.run(*command, *server, *more, environment=environment)
                check(process.wait() == code and words in process.text(), f"{command[0]} {more}", process.text())
        check(not os.path.exists(lab.path("no")), "nothing is left behind")
        allowed = lab.run("worker", "--redis", "redis://192.0.2.1", "--insecure", "--patience", "0")
        check(allowed.wait() == 66 and "no answer" in allowed.text(), "--insecure allows it", allowed.text())


def test_parameters_that_are_not_finite_are_refused():
    with Lab() as lab:
        learner, client = lab.learner(episodes=60), lab.server.client()
        parameters = wait_for(lambda: client("GET", key("parameters")), "parameters")
        wait_for(lambda: client("GET", key("head")) is not None, "the head")  # published after them: not to be stopped
        learner.send(signal.SIGSTOP)
        broken = parameters[:-36] + b"\x00\x00\xc0\x7f"  # NaN
        client("SET", key("parameters"), seal("parameters", broken))
        worker = lab.worker()
        worker.says("parameters refused: treesample:test:parameters: tensor '")
        check(client("XLEN", key("episodes")) == 0, "no episode with such parameters")
        learner.send(signal.SIGCONT)
        check_finished(lab, learner, worker, 60, "NaN as parameters")


def test_one_learner_per_run():
    with Lab() as lab:
        learners = [lab.learner(episodes=100, out=f"run{i}") for i in range(3)]
        wait_for(lambda: sum(x.process.poll() is not None for x in learners) == 2, "two refusals")
        winner = next(x for x in learners if x.process.poll() is None)
        for loser in learners:
            if loser is winner:
                continue
            check(loser.wait() == 66, "a second learner is refused", loser.text())
            check(f"run 'test' is in use by the learner" in loser.text() and f":{winner.process.pid} (host:pid)" in
                  loser.text() and "lasts" in loser.text(), "run, owner and expiry are named", loser.text())
            check(not os.path.exists(lab.path(f"run{learners.index(loser)}")), "a refused learner touches no files")
        worker = lab.worker()
        check(winner.wait() == 0 and worker.wait() == 0, "the first one goes on", winner.text())
        check(lab.server.client()("EXISTS", key("lease")) == 0, "the lease is given back")
        again, client = lab.learner(episodes=5, out="again"), lab.server.client()
        wait_for(lambda: client("GET", key("lease")), "the next learner")
        lab.worker()
        check(again.wait() == 0, "a finished run's name is free", again.text())


def test_a_dead_learners_run_is_taken_over():
    with Lab() as lab:
        learner, worker = lab.learner(episodes=300), lab.worker()
        episode = one_episode(lab.server.client())
        lab.wait_for_rows(5)
        learner.kill()
        check(lab.server.client()("PTTL", key("lease")) > 0, "its lease is still there")
        client = lab.server.client()
        # On a busy machine a worker may have made all 300 by now: what comes after them is not read any more.
        is_read = client("XLEN", key("episodes")) < 300
        client("XADD", key("episodes"), "*", "episode", seal("episode", episode.forged(0)))
        resumed = lab.learner("--resume", episodes=300)
        check_finished(lab, resumed, worker, 300, "taken over at once on the same machine")
        check("number 0 was taken before" in resumed.text() or not is_read, "what was taken stays taken",
              resumed.text())
    with Lab() as lab:  # a learner of another machine: its lease must expire
        client = lab.server.client()
        client("SET", key("lease"), "token elsewhere 17 99 other-machine learner", "PX", "6000")
        learner, worker = lab.learner(episodes=10), lab.worker()
        learner.says("belongs to the learner elsewhere:17 (host:pid); it can be taken over in ")
        check_finished(lab, learner, worker, 10, "taken over after it expired")
    with Lab() as lab:  # a learner that was stopped for too long
        learner, client = lab.learner(episodes=300), lab.server.client()
        wait_for(lambda: client("GET", key("head")), "the head")
        client("SET", key("lease"), "token elsewhere 17 99 other-machine learner", "PX", "60000")
        check(learner.wait() == 66, "a learner that lost its run ends", learner.text())
        check("was taken over by the learner elsewhere:17" in learner.text(), "and says so", learner.text())
        check(client("GET", key("lease")).startswith(b"token elsewhere"), "another's lease stays")
    for value in (["SET", key("lease"), "x"], ["RPUSH", key("lease"), "x"]):  # no lease at all
        with Lab() as lab:
            lab.server.client()(*value)
            learner, worker = lab.learner(episodes=10), lab.worker()
            check_finished(lab, learner, worker, 10, f"{value}")


def test_waiting_is_told():
    with Lab() as lab:
        quiet, client = lab.learner("--quiet", run="quiet", out="quiet"), lab.server.client()
        learner = lab.learner()
        learner.says("waiting for workers: no episode for 5 s, 0 of 40 so far; no worker was seen yet")
        client("XADD", key("episodes"), "*", "episode", "nonsense")
        learner.says("1 episodes were refused, the last: an unknown sender: the seal does not agree")
        check(quiet.text() == "", "nothing with --quiet", quiet.text())
        worker = lab.worker()
        check_finished(lab, learner, worker, 40, "after waiting")
    with Lab() as lab:
        worker = lab.worker(patience=6)
        worker.says("run 'test' has no learner; waiting for one for up to 6 s")
        check(worker.wait() == 66 and "has had no learner for 6 s" in worker.text(), "patience", worker.text())


def test_damaged_keys_are_named_and_repaired():
    damages = {
        "a number that was taken": (["SET", key("next"), "0"], None),
        "no number": (["SET", key("next"), "abc"], "next"),
        "a far number": (["SET", key("next"), "4294967290"], "next"),
        "a negative number": (["SET", key("next"), "-5"], None),
        "a negative number far away": (["SET", key("next"), "-50000"], "next"),
        "a list for a number": (["DEL", key("next")], ["RPUSH", key("next"), "x"], None),
        "the last ID": (["XADD", key("episodes"), "18446744073709551615-18446744073709551615", "episode", "x"], "episodes"),
        "a string for a stream": (["DEL", key("episodes")], ["SET", key("episodes"), "x"], "episodes"),
        "garbage as head": (["SET", key("head"), "garbage"], None),
        "a hash for options": (["DEL", key("options")], ["HSET", key("options"), "a", "b"], None),
        "nothing left": (["FLUSHALL"], None),
    }

    def damage(item):
        name, (*commands, named) = item
        with Lab() as lab:
            learner, worker, client = lab.learner(episodes=500), lab.worker(), lab.server.client()
            lab.wait_for_rows(3)
            for command in commands:
                client(*command)
            late = lab.worker()
            check_finished(lab, learner, worker, 500, name)
            check(late.wait() == 0, f"{name}: a worker that came later", late.text())
            check(named is None or f"key {key(named)}: " in learner.text(), f"{name}: the key is named", learner.text())

    run_together(damage, damages.items())


def test_logins():
    with Lab("--requirepass", "open sesame") as lab:
        for name, password in (("right", "open sesame"), ("wrong", "sesame")):
            write(lab.path(name), password + "\n")
        for start in (lab.learner, lab.worker):
            process = start()
            check(process.wait() == 66 and "NOAUTH" in process.text() and "--password-file" in process.text(),
                  "no password", process.text())
            process = start("--password-file", lab.path("wrong"))
            check(process.wait() == 66 and "the password is wrong" in process.text(), "wrong password", process.text())
        right = ["--password-file", lab.path("right")]
        learner, worker = lab.learner(*right), lab.worker(*right)
        check_finished(lab, learner, worker, 40, "password")
        check("neither a password" not in learner.text(), "a password is a secret")
    with Lab() as lab:
        write(lab.path("password"), "open sesame\n")
        process = lab.learner("--password-file", lab.path("password"))
        check(process.wait() == 66 and "has no password" in process.text(), "a server without password", process.text())


def test_a_full_server_is_told_and_loses_nothing():
    with Lab() as lab:
        learner, worker, client = lab.learner(episodes=300), lab.worker(), lab.server.client()
        lab.wait_for_rows(3)
        client("CONFIG", "SET", "maxmemory", "1")
        learner.says("the server is full")
        worker.says("the server is full")
        client("CONFIG", "SET", "maxmemory", "0")
        check_finished(lab, learner, worker, 300, "full server")
        check("was taken before" not in learner.text(), "nothing was sent twice")


def test_a_server_that_goes_and_comes_back():
    with Lab() as lab:
        learner, worker = lab.learner(episodes=300), lab.worker()
        lab.wait_for_rows(3)
        lab.server.kill()
        learner.says("no answer from")
        worker.says("no answer from")
        lab.server.start()
        check_finished(lab, learner, worker, 300, "restarted server")
        check("answers again" in learner.text(), "told", learner.text())


def test_resume_and_interruption():
    with Lab() as lab:
        process = lab.learner("--resume")
        check(process.wait() == 64 and "holds no run to go on with" in process.text(), "nothing to resume", process.text())
        check(not os.path.exists(lab.path("run")), "nothing is made")
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with Lab() as lab:
            learner, worker = lab.learner(episodes=100_000), lab.worker()
            lab.wait_for_rows(3)
            worker.send(number)
            check(worker.wait() == code, f"worker: exit code after {number}", worker.process.returncode)
            learner.send(number)
            check(learner.wait() == code, f"learner: exit code after {number}", learner.process.returncode)
            check(lab.server.client()("EXISTS", key("lease")) == 0, "its lease is given back")
            done = len(lab.rows())
            resumed, worker = lab.learner("--resume", episodes=done + 5), lab.worker()
            check_finished(lab, resumed, worker, done + 5, "resumed")
    with Lab() as lab:
        waiting = lab.worker(run="nobody")
        waiting.says("neither a password")
        waiting.send(signal.SIGTERM)
        check(waiting.wait() == 143, "a worker that waits", waiting.process.returncode)


if __name__ == "__main__":
    chosen = sys.argv[2:] or [name for name in globals() if name.startswith("test_")]
    run_together(lambda name: globals()[name](), chosen)
    finish()

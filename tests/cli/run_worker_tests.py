#!/usr/bin/env python3
"""Workers anywhere answer questions, and what may go wrong between them and the coordinator: run_worker_tests.py PROGRAM
"""
import concurrent.futures
import json
import os
import signal
import time

from checks import check, finish, read, read_json, write
from redis_support import key, seal, wait_for
from worker_run import VALUE, WorkerLab, local_answer

SECRET = "a secret of more than 16 bytes"
PASSWORD = "correct horse"
SLOW = "time.sleep(0.3); " + VALUE


def check_end(lab, coordinator, expected, what):
    check(coordinator.wait() == 0, f"{what}: the coordinator ends with 0", coordinator.text())
    if coordinator.process.returncode == 0:
        check(lab.answer() == expected[0], f"{what}: the same bits as locally")


def test_workers_join_and_leave():
    expected = local_answer()
    with WorkerLab() as lab:
        coordinator = lab.coordinator()
        first = lab.answerer()
        lab.wait_for_calls(5)
        second = lab.answerer("--workers", "2")
        lab.wait_for_calls(15)
        first.send(signal.SIGTERM)
        check(first.wait() == 143 and "interrupted" in first.text(), "a worker leaves", first.text())
        check_end(lab, coordinator, expected, "workers come and go")
        check(second.wait() == 0 and "the run is finished" in second.text(), "workers end with the run", second.text())
        check(len(lab.calls()) <= expected[1] + 1, "nothing is paid twice but what a leaving worker had in hand",
              f"{len(lab.calls())} of {expected[1]}")
        client = lab.server.client()
        left = {name.decode() for name in client("KEYS", "*")}
        check(left == {key("model"), key("safe")}, "what stays on the server", f"{left}")
        check(0 < client("TTL", key("model")) <= 3600, "and for how long")
        again = lab.coordinator()
        check_end(lab, again, expected, "a second run needs no worker")
        check(lab.program_counts()["paid"] == 0, "because all is in the journal")


def test_batches_and_failures():
    settings = {"body": "return 'broken' if s == [1, 1, 1, 1] else " + VALUE[7:],
                "program_fields": {"max_batch": 4, "on_failure": "impossible", "max_retries": 1}}
    expected = local_answer(**settings)
    with WorkerLab(**settings) as lab:
        lab.answerer(), lab.answerer()
        check_end(lab, lab.coordinator(), expected, "batches and failures")
        listing = lab.run("journal", lab.path("run.journal"))
        check(listing.wait() == 0, "the journal can be read", listing.text())
    with WorkerLab(body="return 'broken'", program_fields={"max_retries": 0}) as lab:
        lab.answerer()
        coordinator = lab.coordinator()
        check(coordinator.wait() == 66, "a failure ends the run", coordinator.text())
        check("program 'p': factor 'f' at a=0" in coordinator.text() and "failed: " in coordinator.text(),
              "with what the worker says", coordinator.text())


def test_nobody_is_there():
    with WorkerLab() as lab:
        coordinator = lab.coordinator("--time", "7")
        check(coordinator.wait() == 0 and "stopped: time" in coordinator.text(),
              "a coordinator without workers keeps to its time", coordinator.text())
        check("run 'test' has no workers (treesample worker" in coordinator.text(), "and says what it waits for",
              coordinator.text())
        worker = lab.answerer("--stay", patience=6)
        worker.says("run 'test' has ended, and the next has no coordinator yet; waiting for one for up to 6 s")
        check(worker.wait() == 66 and "no coordinator for 6 s" in worker.text(), "its patience ends", worker.text())
        late = lab.answerer()
        check(late.wait() == 0 and "the run is finished" in late.text(), "a run that has ended needs no worker", late.text())
    with WorkerLab() as lab:
        worker = lab.answerer(patience=60)
        worker.says("run 'test' has no coordinator; waiting for one for up to 60 s")
        check_end(lab, lab.coordinator(), local_answer(), "a worker that came first")
        check("run 'test' has a coordinator" in worker.text(), "says that it came", worker.text())


def test_one_coordinator_per_run():
    with WorkerLab() as lab:
        first = lab.coordinator()
        lab.answerer("--stay")
        lab.wait_for_calls(1)
        first.send(signal.SIGSTOP)
        lab.server.client()("PEXPIRE", key("lease"), "60000")
        first.send(signal.SIGCONT)
        second = lab.coordinator(journal="other.journal")
        check(second.wait() in (0, 66), "the second is refused, or came after the first", second.text())
        if second.process.returncode == 66:
            check("is in use by the coordinator" in second.text() and f":{first.process.pid} (host:pid)" in second.text(),
                  "owner and run are named", second.text())
        check(first.wait() == 0, "the first goes on", first.text())
    with WorkerLab(body=SLOW) as lab:
        coordinator, client = lab.coordinator(), lab.server.client()
        wait_for(lambda: client("GET", key("model")), "the head")
        client("SET", key("lease"), "token elsewhere 17 99 other-machine learner", "PX", "60000")
        lab.answerer()
        check(coordinator.wait() == 66 and "was taken over by the learner elsewhere:17" in coordinator.text(),
              "a coordinator that lost its run ends", coordinator.text())


def test_journal_of_two():
    with WorkerLab(body=SLOW) as lab:
        first = lab.coordinator()
        wait_for(lambda: lab.server.client()("GET", key("model")), "the head")
        second = lab.coordinator(run="other")
        check(second.wait() == 66 and "in use by another run" in second.text(), "one journal, one run", second.text())
        first.send(signal.SIGTERM)
        first.wait()


def test_other_model():
    with WorkerLab() as lab:
        coordinator = lab.coordinator()
        lab.write_model("other.json", max_batch=3, files=["oracle.py"])
        lab.write_model("command.json", command=["python3", "-I", "oracle.py"])
        model = read_json(lab.path("model.json"))
        model["variables"][0]["states"] = 4
        model["factors"] = model["factors"][1:]
        write(lab.path("variables.json"), json.dumps(model))
        for name, words in (("variables.json", "is for another model than the coordinator's: the variables differ"),
                            ("command.json", "the command of program 'p' (--other-programs")):
            worker = lab.answerer(model=name)
            check(worker.wait() == 66 and words in worker.text(), f"{name} is refused", worker.text())
        lab.answerer("--other-programs", model="command.json"), lab.answerer(model="other.json")
        check_end(lab, coordinator, local_answer(), "equal programs by another command")


def test_programs_that_a_worker_lacks():
    with WorkerLab() as lab:
        coordinator = lab.coordinator()
        refused = lab.answerer(environment={"TREESAMPLE_ALLOW_PROGRAMS": "0"})
        check(refused.wait() == 77 and "needs your consent" in refused.text(), "consent of the worker's user", refused.text())
        lab.write_model("missing.json", command=["./nothing"])
        missing = lab.answerer("--other-programs", model="missing.json")
        check(missing.wait() == 66 and "no executable file './nothing'" in missing.text(), "no program", missing.text())
        write(lab.path("broken.py"), "def f(:\n")
        lab.write_model("broken.json", command=None, python="broken.py")
        model = read_json(lab.path("broken.json"))
        del model["programs"]["p"]["command"]
        write(lab.path("broken.json"), json.dumps(model))
        broken = lab.answerer("--other-programs", model="broken.json")
        check(broken.wait() == 66 and "cannot be used: " in broken.text(), "a program that cannot be loaded", broken.text())
        lab.answerer()
        check_end(lab, coordinator, local_answer(), "others answer what it gave back")
        os.remove(lab.path("oracle.py"))
        lab.write_model("absent.json", command=["/nowhere/simulator"])
        absent = lab.coordinator("--time", "1", model="absent.json", journal=None, run="absent")
        check(absent.wait() == 0, "the coordinator needs no programs", absent.text())


def test_wrong_answers():
    expected = local_answer()
    with WorkerLab(body=SLOW) as lab:
        client = lab.server.client()
        coordinator = lab.coordinator()
        head = json.loads(wait_for(lambda: client("GET", key("model")), "the head")[:-32])
        good = {"fingerprint": head["fingerprint"], "worker": "me", "factor": "f"}
        result = {"states": [0, 0, 0, 0], "seconds": 0.1, "failures": 0, "log_value": 7.0}

        def answer(message, **settings):
            payload = message if isinstance(message, bytes) else json.dumps(message).encode()
            client("XADD", key("answers"), "*", "answer", seal("answer", payload, **settings))

        bad = [{**good, "fingerprint": "x", "results": [result]}, {**good, "factor": "g", "results": [result]},
               {**good, "results": [{**result, "states": [0, 0, 0]}]}, {**good, "results": [{**result, "states": [0, 0, 0, 3]}]},
               {**good, "results": [{**result, "log_value": "inf"}]}, {**good, "results": [{**result, "log_value": 1e200}]},
               {**good, "results": [{**result, "log_value": None}]}, {**good, "results": 3}, {**good, "more": 1}, [], 3,
               b"", b"{", b"\xff\xfe", b"[" * 10000, {**good, "results": [{**result, "seconds": -1}]}]
        for message in bad:
            answer(message)
        answer({**good, "results": [result]}, secret=b"another secret of 16 bytes")
        answer({**good, "results": [result]}, run="other")
        client("XADD", key("answers"), "*", "answer", seal("question", json.dumps({**good, "results": [result]}).encode()))
        client("XADD", key("answers"), "*", "answer", "not sealed")
        client("XADD", key("answers"), "*", "a", "b", "c", "d")
        wait_for(lambda: client("XLEN", key("answers")) == 0, "all of them to be deleted")
        check(coordinator.process.poll() is None, "nothing of it ends the run", coordinator.text())
        coordinator.says("answers were refused, the last: ")
        # Somebody with the secret may say what is true before it is asked for, twice; the first counts.
        for _ in range(2):
            answer({**good, "results": [{**result, "log_value": -0.4487989505128276}]})
        text = read(lab.path("oracle.py"))
        write(lab.path("oracle.py"), text.replace("time.sleep(0.3)", "pass"))
        worker = lab.answerer("--other-programs")
        check_end(lab, coordinator, expected, "wrong answers")
        check(len(lab.calls()) <= expected[1], "what came from elsewhere is used, once", f"{len(lab.calls())}")
        counts = lab.program_counts()
        check(counts["paid"] + counts["from_journal"] == expected[1], "and counts once", f"{counts}")
        check(worker.wait() == 0, "the worker ends", worker.text())


def test_wrong_questions_and_keys():
    expected = local_answer()
    with WorkerLab() as lab:
        client = lab.server.client()
        coordinator = lab.coordinator()
        head = json.loads(wait_for(lambda: client("GET", key("model")), "the head")[:-32])
        good = {"session": head["session"], "factor": "f", "assignments": [[0, 0, 0, 0]]}
        for message in ({**good, "session": "old"}, {**good, "factor": "g"}, {**good, "assignments": [[0, 0, 0, 9]]},
                        {**good, "assignments": []}, {**good, "assignments": [[0]]}, [], 3):
            client("XADD", key("questions"), "*", "question", seal("question", json.dumps(message).encode()))
        client("XADD", key("questions"), "*", "question", seal("question", json.dumps(good).encode(), secret=b"x" * 20))
        client("XADD", key("questions"), "*", "a", "b", "c", "d")
        worker = lab.answerer()
        check_end(lab, coordinator, expected, "wrong questions")
        check("a question was refused: " in worker.text(), "the worker names them", worker.text())
        check(len(lab.calls()) == expected[1], "and pays for none", f"{len(lab.calls())}")
    for command in (["SET", key("questions"), "x"], ["SET", key("answers"), "x"], ["DEL", key("questions")],
                    ["RPUSH", key("model"), "x"], ["SET", key("sent"), "x"], ["SET", key("model"), "x"],
                    ["XADD", key("answers"), "18446744073709551615-18446744073709551615", "answer", "x"]):
        with WorkerLab() as lab:
            client = lab.server.client()
            coordinator = lab.coordinator()
            wait_for(lambda: client("GET", key("model")), "the head")
            client("DEL", command[1])
            client(*command)
            lab.answerer()
            check_end(lab, coordinator, expected, f"{command[:2]}")


def test_secrets():
    expected = local_answer()
    with WorkerLab("--requirepass", PASSWORD) as lab:
        write(lab.path("password"), PASSWORD + "\n")
        write(lab.path("wrong"), "wrong\n")
        for make in (lab.coordinator, lab.answerer):
            none = make()
            check(none.wait() == 66 and "give the password by --password-file" in none.text(), "no password", none.text())
            wrong = make("--password-file", lab.path("wrong"))
            check(wrong.wait() == 66 and "the password is wrong" in wrong.text(), "a wrong password", wrong.text())
        coordinator = lab.coordinator("--password-file", lab.path("password"))
        lab.answerer("--password-file", lab.path("password"))
        check_end(lab, coordinator, expected, "a password")
    with WorkerLab() as lab:
        coordinator = lab.coordinator(environment={"TREESAMPLE_KEY": SECRET})
        stranger = lab.answerer()
        stranger.says("the seal does not agree")
        other = lab.answerer(environment={"TREESAMPLE_KEY": "another secret of 16 bytes"})
        other.says("the seal does not agree")
        check(len(lab.calls()) == 0, "without the key nothing is answered")
        lab.answerer(environment={"TREESAMPLE_KEY": SECRET})
        check_end(lab, coordinator, expected, "a key")
    with WorkerLab() as lab:
        for process in (lab.infer("--redis", "redis://192.0.2.1"),
                        lab.run("worker", "--model", lab.path("model.json"), "--redis", "redis://192.0.2.1",
                                environment={"TREESAMPLE_ALLOW_PROGRAMS": "1"})):
            check(process.wait() == 64 and "neither a password nor a key" in process.text(), "elsewhere", process.text())


def test_servers_that_cannot():
    expected = local_answer()
    with WorkerLab("--rename-command", "XAUTOCLAIM", "") as lab:
        coordinator = lab.coordinator()
        check(coordinator.wait() == 66 and "need Redis 6.2 or later" in coordinator.text(), "an old server",
              coordinator.text())
    with WorkerLab() as lab:
        lab.server.kill()
        coordinator = lab.coordinator("--time", "2")
        check(coordinator.wait() == 66 and "no answer from" in coordinator.text(), "no server", coordinator.text())
    with WorkerLab("--maxmemory", "1mb", "--maxmemory-policy", "noeviction") as lab:
        client = lab.server.client()
        coordinator = lab.coordinator()
        coordinator.says("the server is full")
        worker = lab.answerer()
        client("CONFIG", "SET", "maxmemory", "100mb")
        lab.wait_for_calls(5)
        client("CONFIG", "SET", "maxmemory", "1mb")
        time.sleep(0.5)
        client("CONFIG", "SET", "maxmemory", "0")
        check_end(lab, coordinator, expected, "a server that was full for a while")
        check(worker.wait() == 0, "its worker", worker.text())
        check(len(lab.calls()) == expected[1], "nothing is lost", f"{len(lab.calls())}")


def test_interrupted():
    with WorkerLab(body="time.sleep(1000)") as lab:
        coordinator, worker = lab.coordinator(), lab.answerer()
        lab.wait_for_calls(1)
        worker.send(signal.SIGINT)
        check(worker.wait() == 130, "a worker whose program hangs can be interrupted", worker.text())
        client = lab.server.client()
        wait_for(lambda: client("XPENDING", key("questions"), "workers")[0] == 0, "its question to be given back")
        coordinator.send(signal.SIGINT)
        check(coordinator.wait() == 130, "and so can the coordinator", coordinator.text())


def test_questions_that_nobody_has_are_asked_again():
    with WorkerLab() as lab:
        coordinator, client = lab.coordinator(), lab.server.client()
        wait_for(lambda: client("XLEN", key("questions")) > 0, "the questions")
        client("XREADGROUP", "GROUP", "workers", "ghost", "COUNT", "2", "STREAMS", key("questions"), ">")
        client("XGROUP", "DELCONSUMER", key("questions"), "workers", "ghost")
        lab.answerer()
        check_end(lab, coordinator, local_answer(), "questions that nobody has")


def test_a_lost_connection_is_no_death():
    with WorkerLab(body="time.sleep(2.5); " + VALUE) as lab:
        coordinator = lab.coordinator(calls=3, lease=0.8)
        lab.answerer()
        client = lab.server.client()
        lab.wait_for_calls(1)
        client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        lab.answerer("--workers", "2")
        check(coordinator.wait() == 0, "the run ends", coordinator.text())
        check(len(lab.calls()) == len(set(lab.calls())) == 3, "nobody takes a question from a worker that lives",
              f"{lab.calls()}")


def test_refusals():
    with WorkerLab() as lab:
        write(lab.path("tables.uai"), "MARKOV\n1\n2\n1\n1 0\n2\n1 2\n")
        tables = lab.run("infer", lab.path("tables.uai"), "--redis", lab.address())
        check(tables.wait() == 64 and "--redis: the model has no factors" in tables.text(), "tables", tables.text())
        for option in ("--run", "--lease", "--patience", "--key-file"):
            alone = lab.run("infer", lab.path("model.json"), option, "1", environment={"TREESAMPLE_ALLOW_PROGRAMS": "1"})
            check(alone.wait() == 64 and f"{option}: is for workers on other machines" in alone.text(), option, alone.text())
        worker = lab.run("worker", "--redis", lab.address(), "--stay")
        check(worker.wait() == 64 and "--stay: is for questions" in worker.text(), "options of --model", worker.text())


def guarded(test):
    begin = time.monotonic()
    try:
        test()
    except (Exception, SystemExit) as error:
        check(False, test.__name__, repr(error))
    print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


# Most of the time is spent waiting.
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(guarded, [test for name, test in list(globals().items()) if name.startswith("test_")]))
finish()

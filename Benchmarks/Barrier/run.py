#!/usr/bin/python3
"""Counts syncs and measures their cost. N messages from a recorded stream arrive at full speed with an <r/> after every
tenth, and a message is accepted with every K of them. The yardstick is a bare SQLite program that writes the same rows
with as many syncs, once in a transaction each and once in as many transactions as the driver's.

usage: run.py KALIJ DRIVER [--messages N] [--every K] [--rounds N] [--json]

KALIJ logs in, DRIVER (Sources/barrier) drives. A preloaded library counts the syncs of the driver's whole life and
times each of its transactions. Exit status 1 over a bound: one sync for each acknowledgement and each accepted message,
and three for each checkpoint; 0.8 of the bare program's rate with a transaction each; 99 % of the transactions within
20 ms.
"""
import argparse, json, os, shutil, socket, sqlite3, statistics, struct, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../Receive"))
from replay import SCRIPTED, free_port, prepare

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("driver")
parser.add_argument("--messages", type=int, default=10000)
parser.add_argument("--every", type=int, default=20)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()


def counting(folder, name):
    path = folder + "/" + name
    if os.path.exists(path):
        os.remove(path)
    return path, {**os.environ, "LD_PRELOAD": folder + "/syncs.so", "SYNCS": path}


def counts(path):
    values = struct.unpack("=10004Q", open(path, "rb").read())
    return {"log": values[0], "database": values[1], "other": values[2], "transactions": values[3], "took": values[4:]}


def drive(folder, port):
    """One run; returns seconds, acknowledgements, accepted messages, and the counts."""
    data = folder + "/data"
    shutil.rmtree(data, ignore_errors=True)
    server = subprocess.Popen(
        [sys.executable, SCRIPTED, "--port", str(port), "--cert", folder + "/cert.pem", "--key", folder + "/key.pem", "replay",
         folder + "/recording.xml"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout.readline().strip() == "ready"
        subprocess.run(
            [options.kalij, "--data", data, "login", "juliet@localhost", "--direct-tls", "--server", "127.0.0.1:%d" % port,
             "--ca", folder + "/cert.pem"], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "KALIJ_PASSWORD": "secret"})
        path, environment = counting(folder, "syncs")
        driver = subprocess.Popen([options.driver, data, str(options.every)], env=environment)
        try:
            for line in server.stdout:
                if line.startswith("{"):
                    result = json.loads(line)
                    break
            else:
                raise SystemExit("the server ended before all messages were acknowledged")
        finally:
            driver.kill()
            driver.wait()
    finally:
        server.kill()
        server.wait()
    with sqlite3.connect(data + "/kalij.db") as database:
        rows = dict(database.execute("SELECT direction, count(*) FROM message GROUP BY direction"))
    assert rows["in"] == options.messages, "%d of %d messages" % (rows["in"], options.messages)
    # The server asks once more at the end.
    return result["seconds"], result["requests"] + 1, rows.get("out", 0), counts(path)


def bare(folder, rows, syncs, together=1):
    for name in os.listdir(folder):
        if name.startswith("bare.db"):
            os.remove(os.path.join(folder, name))
    path, environment = counting(folder, "bare-syncs")
    words = [folder + "/bare", folder + "/data/kalij.db", folder + "/bare.db", str(max(1, rows // syncs)), str(together)]
    result = json.loads(subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout)
    assert result["rows"] == rows, "%d of %d rows" % (result["rows"], rows)
    return result["seconds"], counts(path)


def percentile(took, part):
    """In milliseconds."""
    left = sum(took) * part
    for tenths, number in enumerate(took):
        left -= number
        if left <= 0:
            return (tenths + 1) / 10


def measure(folder):
    prepare(folder, options.messages)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", folder + "/syncs.so", HERE + "/syncs.c", "-ldl"], check=True)
    port = free_port()
    rounds, took = [], [0] * 10000
    for number in range(options.rounds):
        seconds, acknowledgements, accepted, counted = drive(folder, port)
        rows, all_syncs = options.messages + accepted, counted["log"] + counted["database"] + counted["other"]
        # Checkpoints are the same in both: each syncs a log, a database, and the log's new header.
        syncs = max(1, all_syncs - 3 * counted["database"])
        floor, floor_counted = bare(folder, rows, syncs)
        together, _ = bare(folder, rows, syncs, max(1, round(rows / counted["transactions"])))
        took = [a + b for a, b in zip(took, counted["took"])]
        rounds.append({
            "rate": rows / seconds, "bare_rate": rows / floor, "ratio": floor / seconds,
            "together_rate": rows / together, "together_ratio": together / seconds, "acknowledgements": acknowledgements,
            "accepted": accepted, "checkpoints": counted["database"], "syncs": all_syncs,
            "bare_syncs": floor_counted["log"] + floor_counted["database"] + floor_counted["other"],
            "allowed": acknowledgements + accepted + 3 * counted["database"], "transactions": counted["transactions"]})
        print("\rround %d of %d" % (number + 1, options.rounds), end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    result = {key: round(statistics.median(each[key] for each in rounds), 2) for key in rounds[0]}
    return {**result, "messages": options.messages, "rounds": options.rounds, "p99_ms": percentile(took, 0.99),
            "longest_ms": percentile(took, 1), "good_syncs": all(each["syncs"] <= each["allowed"] for each in rounds)}


def main():
    with tempfile.TemporaryDirectory(prefix="kalij-bench-", ignore_cleanup_errors=True) as folder:
        result = measure(folder)
    if options.json:
        print(json.dumps(result))
    else:
        print("%(messages)d messages received, %(accepted)d accepted, medians of %(rounds)d rounds" % result)
        print("  syncs                %(syncs)8d    allowed %(allowed)d: %(acknowledgements)d acknowledgements, %(accepted)d accepted, "
              "3 x %(checkpoints)d checkpoints" % result)
        print("  stored a second      %(rate)8d    bare SQLite with %(bare_syncs)d syncs %(bare_rate)d, ratio %(ratio).2f" % result)
        print("                                with as many transactions as ours %(together_rate)d, ratio %(together_ratio).2f" % result)
        print("  a transaction        99 %% within %(p99_ms).1f ms, longest %(longest_ms).1f ms (%(transactions)d)" % result)
    return 0 if result["good_syncs"] and result["ratio"] >= 0.8 and result["p99_ms"] <= 20 else 1


sys.exit(main())

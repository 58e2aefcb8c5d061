#!/usr/bin/python3
"""Receiving N messages with one step each, against the same rows written by a bare SQLite program, in turn.

usage: run.py KALIJ [--former KALIJ] [--messages N] [--rounds N] [--json]

A scripted server replays a recorded stream over loopback TLS to `kalij run`, with an <r/> after every tenth message;
each <r/> is answered after a disk barrier. `bare` then writes the same rows, one transaction a message, once without
and once with as many synchronous commits, and last in transactions of 60: a program that writes these rows hardly takes
less. Prints the medians and the ratios of the rates; exit status 1 if `kalij run` is below half the rate of the rows
without syncs. A former `kalij` takes its turn in each round, and the ratio to it is told.
"""
import argparse, json, os, shutil, socket, sqlite3, statistics, subprocess, sys, tempfile, time

from replay import SCRIPTED, free_port, prepare

HERE = os.path.dirname(os.path.abspath(__file__))

# Rows that share a transaction of the floor.
TOGETHER = 60

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("--former")
parser.add_argument("--messages", type=int, default=10000)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()


def receive(folder, port, program):
    """One run of `program`; returns the seconds from the first byte sent to the last acknowledgement."""
    data = folder + "/data"
    shutil.rmtree(data, ignore_errors=True)
    server = subprocess.Popen(
        [sys.executable, SCRIPTED, "--port", str(port), "--cert", folder + "/cert.pem", "--key", folder + "/key.pem", "replay",
         folder + "/recording.xml"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    kalij = [program, "--data", data]
    try:
        assert server.stdout.readline().strip() == "ready"
        subprocess.run(
            kalij + ["login", "juliet@localhost", "--direct-tls", "--server", "127.0.0.1:%d" % port, "--ca", folder + "/cert.pem"],
            check=True, stdout=subprocess.DEVNULL, env={**os.environ, "KALIJ_PASSWORD": "secret"})
        run = subprocess.Popen(kalij + ["run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            for line in server.stdout:
                if line.startswith("{"):
                    return json.loads(line)["seconds"]
            raise SystemExit("the server ended before all messages were acknowledged")
        finally:
            run.terminate()
            run.wait()
    finally:
        server.kill()
        server.wait()


def bare(folder, every, together=1):
    for name in os.listdir(folder):
        if name.startswith("bare.db"):
            os.remove(os.path.join(folder, name))
    words = [folder + "/bare", folder + "/data/kalij.db", folder + "/bare.db"] + [str(every), str(together)]
    result = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert result["rows"] == options.messages, "kalij stored %d of %d messages" % (result["rows"], options.messages)
    return result["seconds"]


def main():
    folder = tempfile.mkdtemp(prefix="kalij-bench-")
    try:
        prepare(folder, options.messages)
        port = free_port()
        rounds, formers = [], []
        for number in range(options.rounds):
            # Alternated, so that a slowing machine slows all of them.
            former = receive(folder, port, options.former) if options.former else None
            rounds.append((receive(folder, port, options.kalij), bare(folder, 0), bare(folder, 10), bare(folder, 0, TOGETHER)))
            if former:
                formers.append(former / rounds[-1][0])
            print("\rround %d of %d" % (number + 1, options.rounds), end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        ours, floor, synced, least = (statistics.median(values) for values in zip(*rounds))
        ratio = statistics.median(b / a for a, b, _, _ in rounds)
        ratio_synced = statistics.median(c / a for a, _, c, _ in rounds)
        distance = statistics.median(a / d for a, _, _, d in rounds)
        count = options.messages
        result = {"messages": count, "rounds": options.rounds, "kalij": round(count / ours), "bare": round(count / floor),
                  "bare_synced": round(count / synced), "ratio": round(ratio, 2), "ratio_synced": round(ratio_synced, 2),
                  "together": round(count / least), "distance": round(distance, 2)}
        if formers:
            result["ratio_former"] = round(statistics.median(formers), 2)
        if options.json:
            print(json.dumps(result))
        else:
            print("messages received and stored a second, medians of %d rounds of %d" % (options.rounds, count))
            print("  kalij run, over TLS, every <r/> answered behind a sync  %7d" % result["kalij"])
            print("  the same rows by bare SQLite in C, no sync              %7d   ratio %.2f" % (result["bare"], ratio))
            print("  the same with as many syncs                             %7d   ratio %.2f" % (result["bare_synced"], ratio_synced))
            print("  the same, %d a transaction                              %7d   distance %.2f" % (TOGETHER, result["together"], distance))
            if formers:
                print("  the rate against that of the former kalij                       ratio %.2f" % result["ratio_former"])
        return 0 if ratio >= 0.5 else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())

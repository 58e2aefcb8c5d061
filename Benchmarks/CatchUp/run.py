#!/usr/bin/python3
"""The first catch-up of N archived messages from Prosody with an SQLite archive, in turn with a C program on libxml2
that pages the same archive and stores nothing. The C program runs once as usual, and once with acknowledgements at once
(TCP_QUICKACK), like kalij: Prosody 0.12 waits for acknowledgements.

usage: run.py KALIJ [--former KALIJ] [--messages N] [--rounds N] [--json]

Wall and CPU time are from the session to the archive's end (in the output of `kalij -v run`); peak memory is the whole
process's. In two more rounds another client pings `kalij run` every 20 ms: these rounds cost the server time that the C
program does not take, so they do not count for the rest. Exit status 1 over a bound: wall 1.1 times, CPU 4.5 times, 24
MB, 200 ms at the 99th percentile.
"""
import argparse, json, os, re, shutil, signal, statistics, subprocess, sys, tempfile, threading, time
from laboratory import Client, Prosody, recorded, usage

HERE = os.path.dirname(os.path.abspath(__file__))

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("--former", help="an earlier `kalij`, in turn with KALIJ")
parser.add_argument("--messages", type=int, default=10000)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()


def fill(server):
    messages, bob = recorded("alice", options.messages), Client(server, "bob")
    for place in range(0, len(messages), 1000):
        bob.archive(messages[place:place + 1000])
        print("\rarchived %d of %d" % (min(place + 1000, len(messages)), len(messages)), end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def peak(pid):
    return int(re.search(r"VmHWM:\s*(\d+)", open("/proc/%d/status" % pid).read()).group(1))


def catch_up(folder, server, pinged=False, program=None):
    """One first login; returns seconds, CPU seconds, peak kilobytes, and the time of each ping, if there are any."""
    data = folder + "/kalij"
    shutil.rmtree(data, ignore_errors=True)
    kalij = [program or options.kalij, "--data", data]
    subprocess.run(
        kalij + ["login", "alice@localhost", "--direct-tls", "--server", "127.0.0.1:%d" % (server.port + 1), "--ca",
                 server.folder + "/certs/localhost.crt"], check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "KALIJ_PASSWORD": "secret"})
    bob = Client(server, "bob")
    run = subprocess.Popen(kalij + ["-v", "run"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                           text=True)
    pings, is_over = [], threading.Event()

    def pinging(recipient):
        while not is_over.is_set():
            pings.append(bob.ping(recipient, len(pings)))
            time.sleep(0.02)

    pinger = None
    try:
        for line in run.stderr:
            online = re.search(r"online as (\S+),", line)
            if online:
                start, cpu = time.monotonic(), usage(run.pid)
                if pinged:
                    pinger = threading.Thread(target=pinging, args=(online.group(1),), daemon=True)
                    pinger.start()
            if "caught up" in line:
                result = (time.monotonic() - start, usage(run.pid) - cpu)
                break
        else:
            raise SystemExit("kalij ended before it was caught up")
        is_over.set()
        if pinger:
            pinger.join(10)
        memory = peak(run.pid)
        run.send_signal(signal.SIGTERM)
        run.wait()
    finally:
        run.kill()
        run.wait()
    history = subprocess.run(kalij + ["--json", "history", "--limit", "1000000"], check=True, capture_output=True).stdout
    stored = sum(1 for line in history.splitlines() if b'"event":"message"' in line)
    assert stored == options.messages, "kalij stored %d of %d messages" % (stored, options.messages)
    return *result, memory, pings


def page(folder, server, *prompt):
    words = [folder + "/page", str(server.port + 1), "alice", "secret", *prompt]
    result = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert result["messages"] == options.messages, "%d of %d messages" % (result["messages"], options.messages)
    return result


def measure(folder):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libxml-2.0", "openssl"], check=True, capture_output=True, text=True)
    subprocess.run(["cc", "-O2", "-o", folder + "/page", HERE + "/page.c"] + flags.stdout.split(), check=True)
    server = Prosody(folder + "/prosody")
    try:
        fill(server)
        page(folder, server)  # the server's caches
        rounds, formers, pings, memory = [], [], [], 0
        for number in range(options.rounds):
            # In turn, so that a slowing machine slows both.
            floor = page(folder, server)
            prompt = page(folder, server, "prompt")
            if options.former:
                formers.append(catch_up(folder, server, program=options.former)[:2])
            seconds, cpu, peak_now, _ = catch_up(folder, server)
            memory = max(memory, peak_now)
            rounds.append((seconds, cpu, floor["seconds"], floor["cpu"], prompt["seconds"]))
            print("\rround %d of %d" % (number + 1, options.rounds), end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        for _ in range(2):
            _, _, peak_now, times = catch_up(folder, server, pinged=True)
            pings, memory = pings + times, max(memory, peak_now)
    finally:
        server.stop()
    seconds, cpu, floor, floor_cpu, prompt = (statistics.median(values) for values in zip(*rounds))
    micro = 1e6 / options.messages
    pings.sort()
    ratios = [statistics.median(a / b for a, b in zip(mine, theirs)) for mine, theirs in zip(list(zip(*rounds))[:2], zip(*formers))]
    return {"former_ratios": [round(ratio, 2) for ratio in ratios],
            "messages": options.messages, "rounds": options.rounds, "seconds": round(seconds, 2), "page_seconds": round(floor, 2),
            "prompt_seconds": round(prompt, 2),
            "wall_ratio": round(statistics.median(a / b for a, _, b, _, _ in rounds), 2),
            "prompt_wall_ratio": round(statistics.median(a / b for a, _, _, _, b in rounds), 2),
            "cpu_us": round(cpu * micro, 1), "page_cpu_us": round(floor_cpu * micro, 1),
            "cpu_ratio": round(statistics.median(a / b for _, a, _, b, _ in rounds), 2), "peak_kb": memory, "pings": len(pings),
            "ping_p50_ms": round(1000 * pings[len(pings) // 2], 1), "ping_p99_ms": round(1000 * pings[len(pings) * 99 // 100], 1)}


def main():
    with tempfile.TemporaryDirectory(prefix="kalij-bench-", ignore_cleanup_errors=True) as folder:
        result = measure(folder)
    if options.json:
        print(json.dumps(result))
    else:
        print("catching up with %(messages)d archived messages, medians of %(rounds)d rounds" % result)
        print("  kalij run            %(seconds)8.2f s  %(cpu_us)7.1f us CPU a message, peak memory %(peak_kb)d KB" % result)
        print("  C on libxml2         %(page_seconds)8.2f s  %(page_cpu_us)7.1f us CPU a message" % result)
        print("  ratio                %(wall_ratio)8.2f    %(cpu_ratio)7.2f" % result)
        print("  C, acknowledging at once %(prompt_seconds)4.2f s, ratio %(prompt_wall_ratio).2f" % result)
        if options.former:
            print("  against the former kalij: wall time %.2f, CPU time %.2f" % tuple(result["former_ratios"]))
        print("  a ping meanwhile: median %(ping_p50_ms).1f ms, 99 %% within %(ping_p99_ms).1f ms (%(pings)d pings)" % result)
    good = result["wall_ratio"] <= 1.1 and result["cpu_ratio"] <= 4.5 and result["peak_kb"] <= 24 * 1000 and result["ping_p99_ms"] <= 200
    return 0 if good else 1


sys.exit(main())

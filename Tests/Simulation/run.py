#!/usr/bin/env python3
"""Runs simulations side by side, and says what was tried and what was found.

    run.py run --seeds 1000 --first 1      progress, a table, and the smallest transcript of the first failure
    run.py trace --first 17                what happens with seed 17

Interrupted, it ends what it has begun, and says what that was.
"""
import argparse, json, os, subprocess, sys, threading, time

PROGRAM = os.environ.get("KALIJ_SIMULATE") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../.build/optimized/release/simulate")
ROWS = [
    ("stanzas", "stanzas"), ("operations", "changes by others"), ("changes", "changes by the user"), ("encrypted", "encrypted texts"), ("encryptedIn2", "messages read in OMEMO 2"), ("passwords", "passwords changed"), ("kills", "kills"), ("freezes", "freezes"),
    ("freezesWithin", "of those within a call"), ("freezesInMailbox", "of those within a transaction in the mailbox"),
    ("takeovers", "fences raised"), ("writersKilled", "frozen writers killed"),
    ("wakes", "wake runs"), ("pushesHandedOver", "pushes handed over"), ("backgrounds", "background runs"),
    ("notifications", "notifications"), ("repeated", "of those shown again"),
    ("withdrawn", "of those withdrawn"),
    ("failedOutputs", "outputs failed"),
    ("cuts", "connections cut"), ("powerFailures", "power failures"), ("ioErrors", "I/O errors"), ("restores", "disks put back"),
    ("restarts", "server restarts"), ("expiries", "sessions expired"), ("forgotten", "expired in the archive"),
    ("purges", "archives emptied"), ("unknown", "reported as of unknown outcome"), ("forged", "forged archives read"),
    ("letters", "letters unasked"), ("lettersFailed", "of those not taken"), ("tokenLogins", "logins by a token"),
    ("resumes", "resumed"),
    ("failedResumes", "failed resumes"), ("binds", "bound anew"),
]


class Run:
    def __init__(self, first, seeds, jobs, hashing):
        self.next, self.end, self.hashing = first, first + seeds, hashing
        self.lock = threading.Lock()
        self.done, self.failed, self.totals, self.milliseconds, self.servers = 0, [], {}, 0.0, {}
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(jobs)]

    def take(self):
        with self.lock:
            first = self.next
            self.next = min(self.end, first + 50)
            return first, self.next - first

    def work(self):
        while True:
            first, count = self.take()
            if count == 0:
                return
            environment = dict(os.environ, SWIFT_BACKTRACE="enable=no")
            if self.hashing:
                environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
            child = subprocess.Popen(
                [PROGRAM, "run", str(first), str(count)], stdout=subprocess.PIPE, text=True, env=environment,
                start_new_session=True)  # an interruption is for this process: what was begun is finished and counted
            seed = first
            for line in child.stdout:
                self.count(json.loads(line))
                seed += 1
            if child.wait() != 0 or seed != first + count:
                self.count({"seed": seed, "server": "?", "milliseconds": 0, "counts": {},
                            "violations": [f"promise none, the simulation: it crashed ({child.returncode})"]})

    def count(self, outcome):
        with self.lock:
            self.done += 1
            self.milliseconds += outcome["milliseconds"]
            self.servers[outcome["server"]] = self.servers.get(outcome["server"], 0) + 1
            for name, number in outcome["counts"].items():
                self.totals[name] = self.totals.get(name, 0) + number
            if outcome["violations"]:
                self.failed.append(outcome)
                if not sys.stderr.isatty():
                    print(f"seed {outcome['seed']} ({outcome['server']}): {outcome['violations'][0]}",
                          file=sys.stderr, flush=True)

    def wait(self, stop_at, limit):
        for thread in self.threads:
            thread.start()
        begin = time.time()
        while any(thread.is_alive() for thread in self.threads):
            is_over = False
            try:
                time.sleep(0.2)
            except KeyboardInterrupt:
                is_over = True
            self.progress()
            if is_over or (stop_at and len(self.failed) >= stop_at) or (limit and time.time() - begin > limit):
                with self.lock:
                    self.next = self.end
        self.progress()
        if sys.stderr.isatty():
            print(file=sys.stderr)

    seeds = 0

    told = 0

    def progress(self):
        if not sys.stderr.isatty():
            if time.time() - self.told > 60:
                self.told = time.time()
                print(f"{self.done} seeds, {len(self.failed)} failed", file=sys.stderr, flush=True)
            return
        width = 40
        filled = width * self.done // max(1, self.seeds)
        print(f"\r[{'#' * filled}{' ' * (width - filled)}] {self.done}/{self.seeds} seeds, "
              f"{len(self.failed)} failed", end="", file=sys.stderr, flush=True)

    def table(self):
        rows = [("seeds", self.done)] + [(name, self.totals.get(key, 0)) for key, name in ROWS]
        rows += [("seeds with violations", len(self.failed)),
                 ("CPU ms a seed", round(self.milliseconds / max(1, self.done), 1))]
        for name, value in rows:
            print(f"{name:<24}{value:>12,}")
        print("servers: " + ", ".join(f"{name} {count}" for name, count in sorted(self.servers.items())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "trace"])
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--random-hashing", action="store_true", help="Swift's hashing as it is by default")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--stop-at", type=int, default=0, help="after so many failures")
    parser.add_argument("--limit", type=float, default=0, help="after so many seconds")
    options = parser.parse_args()
    environment = dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1", SWIFT_BACKTRACE="enable=no")
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f"there is no {PROGRAM}; it is built by make simulate here, and by make nested in the folder two above")
    if options.what == "trace":
        sys.exit(subprocess.call([PROGRAM, "trace", str(options.first)], env=environment))
    run = Run(options.first, options.seeds, options.jobs, not options.random_hashing)
    run.seeds = options.seeds
    run.wait(options.stop_at, options.limit)
    run.table()
    run.failed.sort(key=lambda outcome: outcome["seed"])
    for outcome in run.failed[:20]:
        print(f"seed {outcome['seed']} ({outcome['server']}): {outcome['violations'][0]}")
    if run.failed and not options.no_shrink:
        seed = run.failed[0]["seed"]
        print(f"\nthe smallest that fails of seed {seed}; all of it: make -C Tests/Simulation simulate SEEDS=1 FIRST={seed} TRACE=1\n")
        subprocess.call([PROGRAM, "shrink", str(seed)], env=environment)
    if run.done < options.seeds and not (options.stop_at or options.limit):
        sys.exit(f"only {run.done} of {options.seeds} seeds were played")
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()

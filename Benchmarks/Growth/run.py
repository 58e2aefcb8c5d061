#!/usr/bin/python3
"""The time of reading commands with 1,000 and with 1,000,000 stored messages in 500 conversations.

usage: run.py KALIJ MAKER [--messages N] [--rounds N]     MAKER makes the directories (Sources/growth)

Times are from exec to exit, medians; the two directories are read in turn. Exit status 1 if a command takes over 50 ms
with the many, or over twice its time with the few.
"""
import argparse, statistics, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("maker")
parser.add_argument("--messages", type=int, default=1000000)
parser.add_argument("--rounds", type=int, default=21)
options = parser.parse_args()

COMMANDS = ["status", "--json status", "history", "history --limit 1000", "history contact1@example.net", "pending", "quarantine"]
# Found in every thousandth message, or in all: only the longest time is bounded.
SEARCHES = ["search nightingale", "search nigh", "search nightingale window --in contact0@example.net", "search yonder", "search w l",
            "search yond --in contact7@example.net", "search --older-than 100 wind"]


def seconds(folder, command):
    words = command.split()
    line = [options.kalij, "--data", folder] + words
    start = time.monotonic()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    good = True
    with tempfile.TemporaryDirectory(prefix="kalij-growth-") as scratch:
        folders = []
        for number in (1000, options.messages):
            folders.append("%s/%d" % (scratch, number))
            subprocess.run([options.maker, folders[-1], str(number), "500"], check=True)
        print("%-32s %10s %12s %7s" % ("milliseconds with", 1000, options.messages, "ratio"))
        for command in COMMANDS + SEARCHES:
            times = [[], []]
            for _ in range(options.rounds):
                for folder, all_times in zip(folders, times):
                    all_times.append(seconds(folder, command))
            few, many = (1000 * statistics.median(values) for values in times)
            good = good and many <= 50 and (many <= 2 * few or command in SEARCHES)
            print("%-32s %10.1f %12.1f %7.2f" % (command, few, many, many / few))
    return 0 if good else 1


sys.exit(main())

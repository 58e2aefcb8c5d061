#!/usr/bin/python3
"""Peak memory over streams through a pipe: long streams, and streams without repeated names.

usage: memory.py PARSE KALIJ [--megabytes N] [--stanzas N]     PARSE: the benchmark's command; KALIJ: the program
Exit status 1 if a long stream costs over 2 MB more than a short one.
"""
import os, re, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = 33000  # stanzas of corpus.py in some 20 MB


def peak(command, corpus):
    """Peak resident kB of `command` reading the output of `corpus`, and the number of bytes."""
    writer = subprocess.Popen(["/usr/bin/python3", HERE + "/corpus.py"] + corpus, stdout=subprocess.PIPE)
    reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    total, last = 0, b""
    while True:
        block = writer.stdout.read(1 << 20)
        if not block:
            break
        total += len(block)
        reader.stdin.write(last)
        last = block
    # The end is kept back until the rest has been read: an ended process has no peak to look at.
    reader.stdin.write(last[:-16])
    reader.stdin.flush()
    time.sleep(1)
    with open("/proc/%d/status" % reader.pid) as status:
        value = int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))
    reader.stdin.write(last[-16:])
    reader.stdin.close()
    if writer.wait() != 0 or reader.wait() not in (0, 1):
        sys.exit("%s failed" % command[0])
    return value, total


def main():
    arguments = sys.argv[1:]
    options = {"--megabytes": 2000, "--stanzas": 1000000}
    for option in list(options):
        if option in arguments:
            place = arguments.index(option)
            options[option] = int(arguments[place + 1])
            del arguments[place:place + 2]
    parse, kalij = arguments
    times = max(options["--megabytes"] // 20, 2)
    readers = [("library", [parse, "-"]), ("kalij query --stream", [kalij, "query", "--stream", "/{jabber:client}message<type=chat>/body#"])]
    streams = [("mixed", [str(BLOCK)], [str(BLOCK), "--repeat", str(times)]),
               ("names that never repeat", ["10000", "--new-names"], [str(options["--stanzas"]), "--new-names"])]
    worst = 0
    for reader, command in readers:
        for stream, short, long in streams:
            (low, few), (high, many) = peak(command, short), peak(command, long)
            print("%-22s %-24s %7.1f MB: %6d kB   %7.1f MB: %6d kB   %+d kB" % (
                reader, stream, few / 1e6, low, many / 1e6, high, high - low), flush=True)
            worst = max(worst, high - low)
    sys.exit(0 if worst <= 2048 else "a long stream costs %d kB more than a short one" % worst)


main()

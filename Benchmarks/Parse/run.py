#!/usr/bin/python3
"""Reads streams into trees with Kalij, lxml and Prosody, in chunks of 1,400 bytes, and prints each cost as a multiple
of libxml2 with empty callbacks.

usage: run.py PARSE [--passes N] [STREAM...]     PARSE: the benchmark's command; by default streams of our own making
"""
import json, os, shutil, statistics, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHUNK = "1400"


def references(path):
    """Median milliseconds of each installed reference."""
    found = {}
    commands = [("lxml", ["/usr/bin/python3", HERE + "/with_lxml.py"], 3)]
    if shutil.which("luajit"):
        commands.append(("Prosody, LuaJIT", ["luajit", HERE + "/with_prosody.lua"], 3))
    for name, command, passes in commands:
        result = subprocess.run(command + [path, CHUNK, str(passes)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if result.returncode == 0:
            found[name] = statistics.median(float(line) for line in result.stdout.split())
        else:
            print("  %s is not installed" % name)
    return found


def measure(name, path, parse, passes):
    report = json.loads(subprocess.check_output([parse, path, CHUNK, str(passes)]))
    floor, trees, ratio = report["floor"], report["trees"], report["ratio"]
    print("%s: %d stanzas, %d elements, %.1f MB, %d alternated passes" % (
        name, report["stanzas"], report["elements"], report["bytes"] / 1e6, report["passes"]))
    print("  %-28s %8s %8s   %s" % ("CPU time", "min ms", "median", "x floor (min, median, max)"))
    print("  %-28s %8.1f %8.1f   1" % ("libxml2, empty callbacks", floor["minimum"], floor["median"]))
    print("  %-28s %8.1f %8.1f   %.3f  %.3f  %.3f" % (
        "Kalij", trees["minimum"], trees["median"], ratio["minimum"], ratio["median"], ratio["maximum"]))
    for reference, median in references(path).items():
        print("  %-28s %8s %8.1f   %.1f" % (reference, "", median, median / floor["median"]))
    sys.stdout.flush()


def main():
    arguments = sys.argv[1:]
    passes = 24
    if "--passes" in arguments:
        place = arguments.index("--passes")
        passes = int(arguments[place + 1])
        del arguments[place:place + 2]
    parse, streams = arguments[0], arguments[1:]
    if streams:
        for stream in streams:
            measure(os.path.basename(stream), stream, parse, passes)
        return
    for name, command in [("mixed", [HERE + "/corpus.py", "33000"]), ("chat", [HERE + "/../Receive/recording.py", "20000", "--stream"])]:
        with tempfile.NamedTemporaryFile() as file:
            subprocess.check_call(["/usr/bin/python3"] + command, stdout=file)
            measure(name, file.name, parse, passes)


main()

#!/usr/bin/python3
"""Ten queries, asked by Kalij, by Prosody's stanza:find and by loops in C, in turn.

usage: run.py [QUERY] [--samples FOLDER] [--rounds N] [--json]

QUERY is the program of Benchmarks/Sources/query; without QUERY only missing programs are looked for. FOLDER holds
chat.xml, mam.xml, mucpres.xml, omemo.xml and disco.xml, each a stream of stanzas (default: made here; the environment
variable YARDSTICK names a folder with a folder `samples` inside). Prints CPU nanoseconds a query (medians of the
rounds), the geometric means and the ratios to Prosody on LuaJIT, and to LuaJIT's best round: LuaJIT compiles different
parts from run to run. Q8 to Q10 only ask whether something is there, so they are checks in every column. `check in for`
is a loop over an array, with a reference counted for each stanza; the other columns leave that out. Exit status 1 if
the candidates find different results.
"""
import argparse, collections, json, math, os, shutil, statistics, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ["chat.xml", "mam.xml", "mucpres.xml", "omemo.xml", "disco.xml"]
QUERIES = ["Q%d" % number for number in range(1, 11)]
TEXTS = QUERIES[:7]
COLUMNS = ["luajit", "lua5.4", "C", "check", "bytes", "string", "literal check", "literal string", "check in for"]
TARGETS = {"check": 22, "bytes": 22, "string": 10, "literal check": 8, "literal string": 8}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("query", nargs="?")
parser.add_argument("--samples")
parser.add_argument("--rounds", type=int, default=11)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
yardstick = os.environ.get("YARDSTICK")
if yardstick and not options.samples:
    options.samples = os.path.join(yardstick, "samples")


def check():
    """Names missing files before anything is built or measured."""
    missing = [name for name in KINDS if options.samples and not os.path.isfile(os.path.join(options.samples, name))]
    if missing:
        whose = "YARDSTICK=%s" % yardstick if yardstick else "--samples"
        parser.error("%s will not do: there is no %s in %s" % (whose, ", ".join(missing), options.samples))
    for program in ("cc", "pkg-config", "luajit", "lua5.4"):
        if not shutil.which(program):
            parser.error("%s is missing: Scripts/install-packages build bench installs it" % program)


def candidates(folder):
    """The commands, each with a number of passes over the samples for some tenths of a second."""
    walk = folder + "/walk"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libxml-2.0"], check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run(["cc", "-O2", "-o", walk, HERE + "/walk.c"] + flags.stdout.split(), check=True)
    samples = options.samples
    if not samples:
        samples = folder
        subprocess.run([sys.executable, HERE + "/samples.py", folder], check=True)
    return {"luajit": ["luajit", HERE + "/find.lua", samples, "1000"], "lua5.4": ["lua5.4", HERE + "/find.lua", samples, "200"],
            "C": [walk, samples, "5000"], "kalij": [options.query, samples, "2000"]}


def measure(commands):
    """Lists of times, and the results, by column and query."""
    times, found = collections.defaultdict(list), {}
    for turn in range(options.rounds):
        names = list(commands)
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            output = subprocess.run(commands[name], check=True, stdout=subprocess.PIPE, text=True).stdout
            for line in map(json.loads, output.splitlines()):
                key = (line["how"] if name == "kalij" else name, line["query"])
                times[key].append(line["ns"])
                found[key] = (line["hits"], line["length"])
    return times, found


def differences(found):
    """The candidates' differences: the number of results, and their length (a check has no length)."""
    for query in QUERIES:
        expected = found["luajit", query]
        for (column, asked), result in found.items():
            if asked != query:
                continue
            lengths = "check" not in column
            if result[0] != expected[0] or (lengths and result[1] != expected[1]):
                yield "%s: %s found %d results of %d bytes, luajit %d of %d" % ((query, column) + result + expected)


def geometric(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def table(times):
    """Medians by column and query; if a query gives no text, a check stands in for the ways that give text."""
    medians = {key: statistics.median(values) for key, values in times.items()}
    stands_in = {"bytes": "check", "string": "check", "literal string": "literal check"}
    return {column: {query: medians.get((column, query)) or medians[stands_in[column], query] for query in QUERIES}
            for column in COLUMNS}


def best_round(times):
    """The geometric mean of the fastest round of LuaJIT."""
    return min(geometric(times["luajit", query][turn] for query in QUERIES) for turn in range(options.rounds))


def show(figures, best):
    width = 16
    print("%-18s" % "ns a query" + "".join(column.rjust(width) for column in COLUMNS))
    for query in QUERIES:
        print("%-18s" % query + "".join(("%.1f" % figures[column][query]).rjust(width) for column in COLUMNS))
    for label, queries in (("geo. mean", QUERIES), ("of Q1 to Q7", TEXTS)):
        means = {column: geometric(figures[column][query] for query in queries) for column in COLUMNS}
        print("%-18s" % label + "".join(("%.1f" % means[column]).rjust(width) for column in COLUMNS))
        print("%-18s" % "  x luajit" + "".join(("%.1fx" % (means["luajit"] / means[column])).rjust(width) for column in COLUMNS))
        if queries is QUERIES:
            print("%-18s" % "  x its best round" + "".join(("%.1fx" % (best / means[column])).rjust(width) for column in COLUMNS))
    print("%-18s" % "target" + "".join(("%dx" % TARGETS[column] if column in TARGETS else "").rjust(width) for column in COLUMNS))


check()
if not options.query:
    sys.exit()
folder = tempfile.mkdtemp(prefix="kalij-query-")
try:
    times, found = measure(candidates(folder))
finally:
    shutil.rmtree(folder)
problems = list(differences(found))
for problem in problems:
    print(problem, file=sys.stderr)
figures = table(times)
means = {column: geometric(figures[column].values()) for column in COLUMNS}
best = best_round(times)
if options.json:
    print(json.dumps({"nanoseconds": figures, "means": means,
                      "ratios": {column: means["luajit"] / means[column] for column in COLUMNS},
                      "ratios to the best round": {column: best / means[column] for column in COLUMNS}, "targets": TARGETS}))
else:
    show(figures, best)
sys.exit(1 if problems else 0)

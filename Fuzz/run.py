#!/usr/bin/env python3
"""Runs the fuzz targets for some CPU time each, and keeps the corpus small.

  run.py fuzz --minutes 10 [--target parser]    exit code 1 if there is a finding
  run.py minimize [--target parser]             what was found worth keeping goes into Corpus/<target>.base64
  run.py coverage --least 90                    after `swift test --enable-code-coverage`: lines of KalijXML reached
"""
import argparse, base64, json, os, pathlib, re, resource, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE / ".build"
BINARIES = BUILD / "release"
TARGETS = ["parser", "query-compiler", "query-evaluation", "forms", "writing", "ratchet", "texts", "arriving"]
ROUND_SECONDS = 60
# Seconds by the clock: on a busy machine an input waits.
OPTIONS = ["-timeout=60", "-report_slow_units=60", "-rss_limit_mb=1024", "-print_final_stats=1"]
# libFuzzer reports crashes. The leak detector does not see addresses that Swift keeps with other bits in strings and
# enumerations; lost memory shows in the limit.
ENVIRONMENT = dict(os.environ, SWIFT_BACKTRACE="enable=no", ASAN_OPTIONS="detect_leaks=0:malloc_context_size=8:quarantine_size_mb=64")


def options(target):
    if target in ("ratchet", "texts", "arriving"):
        return OPTIONS + ["-max_len=2048"]
    dictionary = HERE / "Dictionaries" / ("xml.dict" if target == "parser" else "query.dict")
    return OPTIONS + [f"-max_len={8192 if target == 'parser' else 512}", f"-dict={dictionary}"]


def unpacked(target):
    """The committed corpus in a folder: the seeds are files, the rest is one input a line."""
    folder = BUILD / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    packed = HERE / "Corpus" / f"{target}.base64"
    if packed.exists():
        for number, line in enumerate(packed.read_text().split()):
            (folder / f"packed-{number}").write_bytes(base64.b64decode(line))
    return [folder] + [path for path in (HERE / "Corpus" / target, HERE / "Findings" / target) if path.is_dir()]


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz(target, minutes):
    """Fuzzes a target. Returns whether there was no finding."""
    findings = HERE / "Findings" / target
    findings.mkdir(parents=True, exist_ok=True)
    started, executions, edges = cpu(), 0, "?"
    while (left := minutes * 60 - (cpu() - started)) > 0.5:
        command = [BINARIES / f"fuzz-{target}", *unpacked(target), *options(target),
                   f"-max_total_time={round(min(max(left, 10), ROUND_SECONDS))}", f"-artifact_prefix={findings}/"]
        output = subprocess.run(command, stderr=subprocess.PIPE, env=ENVIRONMENT).stderr.decode(errors="replace")
        done = re.search(r"stat::number_of_executed_units:\s+(\d+)", output)
        executions += int(done.group(1)) if done else 0
        edges = (re.findall(r"cov: (\d+)", output) or [edges])[-1]
        spent = cpu() - started
        show(f"{target}: {spent / 60:.1f} of {minutes} CPU minutes, {executions:,} executions, {edges} edges")
        found = re.search(r"Test unit written to (\S+)", output)
        if found or not done:
            report(target, output, found)
            return False
    print()
    return True


def show(text):
    print(("\r" if sys.stdout.isatty() else "") + text, end="" if sys.stdout.isatty() else "\n", flush=True)


def report(target, output, found):
    said = [line for line in output.splitlines() if not line.startswith(("#", "INFO", "\tNEW_FUNC", "stat::"))]
    print("\n" + "\n".join(said[-80:]))
    if found:
        print(f"\nA finding. To see it again: make -C Fuzz reproduce TARGET={target} INPUT={found.group(1)}")


def minimize(target):
    """Keeps the smallest set of inputs with the same coverage."""
    with tempfile.TemporaryDirectory(dir=BUILD) as kept:
        subprocess.run([BINARIES / f"fuzz-{target}", "-merge=1", *options(target)[:1], f"-max_len=8192",
                        kept, *unpacked(target)], env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=True)
        seeds = {path.read_bytes() for path in (HERE / "Corpus" / target).glob("*")}
        inputs = [path.read_bytes() for path in pathlib.Path(kept).iterdir()]
        lines = sorted((base64.b64encode(data).decode() for data in inputs if data not in seeds), key=lambda x: (len(x), x))
    packed = HERE / "Corpus" / f"{target}.base64"
    packed.write_text("".join(line + "\n" for line in lines))
    shutil.rmtree(BUILD / "corpus" / target)
    print(f"{target}: {len(lines)} inputs, {packed.stat().st_size:,} bytes")


def coverage(least):
    """Prints the lines reached by file. Returns whether at least so many percent of all are."""
    found = subprocess.run(["swift", "test", "--scratch-path", BUILD / "corpus-tests", "--show-codecov-path"], cwd=HERE, stdout=subprocess.PIPE, check=True)
    files = json.loads(pathlib.Path(found.stdout.decode().strip()).read_text())["data"][0]["files"]
    reached = total = 0
    for file in sorted(files, key=lambda file: file["filename"]):
        name = file["filename"].partition("/Sources/KalijXML/")[2]
        if name:
            lines = file["summary"]["lines"]
            reached, total = reached + lines["covered"], total + lines["count"]
            print(f"{name:40} {lines['covered']:5} of {lines['count']:5} lines {lines['percent']:6.1f} %")
    print(f"{'KalijXML':40} {reached:5} of {total:5} lines {100 * reached / total:6.1f} %")
    return 100 * reached >= least * total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fuzz", "minimize", "coverage"])
    parser.add_argument("--minutes", type=float, default=10, help="CPU minutes for each target")
    parser.add_argument("--target", choices=TARGETS, help="only this one")
    parser.add_argument("--least", type=float, default=90, help="percent of the lines that have to be reached")
    arguments = parser.parse_args()
    if arguments.what == "coverage":
        return 0 if coverage(arguments.least) else 1
    targets = [arguments.target] if arguments.target else TARGETS
    os.nice(10)
    if arguments.what == "minimize":
        for target in targets:
            minimize(target)
        return 0
    return 0 if all([fuzz(target, arguments.minutes) for target in targets]) else 1


sys.exit(main())

#!/usr/bin/env python3
"""Breaks one constant or rule of KalijRatchet at a time, in a copy, and has the tests find it.

Each mutation of `mutations.json` names the test that finds it. That test alone is run: the mutation is found if it fails. The
copy is a small package of KalijRatchet and its tests, so that a mutant is built in seconds. A mutation whose text is no
longer in the sources is an error, so that the list cannot go stale unnoticed; `--check` looks for that alone.

    mutants.py [--check | --prepare] [--only WORD]        exit code 1 if a mutation is not found
"""
import argparse, json, os, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PARTS = ["Sources/COpenSSL", "Sources/KalijRatchet", "Tests/TestSupport", "Tests/KalijRatchetTests", "Tests/Programs/ratchet"]
PACKAGE = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ratchet",
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .target(name: "KalijRatchet", dependencies: ["COpenSSL"]),
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .testTarget(
            name: "KalijRatchetTests", dependencies: ["KalijRatchet", "COpenSSL", "TestSupport"], exclude: ["Fixtures"]),
    ]
)
"""


written = 0


def write(path, data):
    """Writes what is not there already: what is the same keeps its time, so that little is compiled. The compiler's driver
    looks at whole seconds: each change gets a second of its own."""
    global written
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    written = max(int(time.time()), written) + 2
    os.utime(path, (written, written))


def mirror(copy):
    write(os.path.join(copy, "Package.swift"), PACKAGE.encode())
    wanted = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *PARTS], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout.splitlines()
    wanted = [name for name in wanted if os.path.isfile(os.path.join(ROOT, name))]
    for name in wanted:
        with open(os.path.join(ROOT, name), "rb") as file:
            write(os.path.join(copy, name), file.read())
    kept = {os.path.join(copy, name) for name in wanted}
    for part in PARTS:
        for folder, _, files in os.walk(os.path.join(copy, part)):
            for path in (os.path.join(folder, name) for name in files):
                if path not in kept:
                    os.remove(path)


def mutated(mutation):
    """The path and the text of the mutant's only changed file."""
    path = os.path.join("Sources/KalijRatchet", mutation["file"])
    with open(os.path.join(ROOT, path)) as file:
        text = file.read()
    old = mutation["old"]
    if text.count(old) != 1:
        sys.exit(f"mutations.json: {path} has this {text.count(old)} times:\n{old}")
    return path, text.replace(old, mutation["new"])


def build(copy):
    done = subprocess.run(["swift", "build", "--build-tests"], cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return "\n".join(line for line in done.stdout.splitlines() if "error" in line) or "no error" if done.returncode else None


def find(copy, test):
    """Whether the test fails, and in how many places. A crash, or no such test, is no failure."""
    environment = dict(os.environ, NO_COLOR="1", SWIFT_BACKTRACE="enable=no")
    done = subprocess.run(
        [os.path.join(copy, ".build/debug/ratchetPackageTests.xctest"), "--testing-library", "swift-testing", "--filter",
         test], cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=300)
    ran = " test in " in done.stdout or " tests in " in done.stdout
    return ran, done.stdout.count("recorded an issue") + done.stdout.count("Caught error"), done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only whether the sources still have what is to be broken")
    parser.add_argument("--prepare", action="store_true", help="only build the copy, unbroken")
    parser.add_argument("--no-build", action="store_true", help="with --prepare: only copy")
    parser.add_argument("--only", help="mutations with this in their name")
    options = parser.parse_args()
    with open(os.path.join(HERE, "mutations.json")) as file:
        mutations = json.load(file)
    changed = [mutated(mutation) for mutation in mutations]
    if options.check:
        return print(f"mutants.py: {len(mutations)} mutations, each of a text in the sources")
    copy = os.path.join(ROOT, ".build/ratchet-mutants")
    mirror(copy)
    if not options.no_build:
        if errors := build(copy):
            sys.exit("does not compile:\n" + errors)
    if options.prepare:
        return
    wanted = [(mutation, change) for mutation, change in zip(mutations, changed)
              if not options.only or options.only in mutation["name"]]
    for test in sorted({mutation["test"] for mutation, _ in wanted}):
        ran, failures, status = find(copy, test)
        if not ran or failures or status:
            sys.exit(f"{test} has to pass before anything is broken")
    escaped = 0
    print("| what is broken | test that finds it | places |\n|---|---|---|", flush=True)
    for mutation, (path, text) in wanted:
        target = os.path.join(copy, path)
        with open(target, "rb") as file:
            whole = file.read()
        write(target, text.encode())
        try:
            errors = build(copy)
            ran, failures, _ = (False, 0, 0) if errors else find(copy, mutation["test"])
        finally:
            write(target, whole)
        escaped += not failures
        print(f"| {mutation['name']} | {mutation['test']} | {failures or errors or 'NOT FOUND'} |", flush=True)
    print(f"{len(wanted) - escaped} of {len(wanted)} found")
    sys.exit(1 if escaped else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Breaks one rule of the nodes (`Sources/KalijPush`) at a time, in a copy of the sources, and has the tests find it.

All of them are built at once, optimized; the environment says which one is broken (`Broken.rule`). Each mutation of
`mutations.json` names the test that finds it: the mutation is found if that test fails. `NodeSimulationTests` plays seeds
until one fails. A mutation whose text is no longer in the sources is an error, so that the list cannot go stale unnoticed;
`--check` looks for that alone.

    mutants.py [--check] [--only WORD] [--seeds N]        exit code 1 if a mutation is not found
"""
import argparse, json, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "Tests/Simulation"))
import mutate

TESTS = "KalijPushTests"
SIMULATION = "NodeSimulationTests"


def needed(targets, name, found):
    """The names of all targets that a target needs."""
    if name not in found:
        found.add(name)
        for dependency in targets[name]["dependencies"]:
            needed(targets, dependency["byName"][0], found)
    return found


def manifest():
    """A small package: the tests of kalij-push and what they need."""
    dumped = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    targets = {target["name"]: target for target in json.loads(dumped.stdout)["targets"]}
    lines = ["// swift-tools-version: 6.2", "import PackageDescription", "", 'let package = Package(name: "nodes", targets: [']
    for name in sorted(needed(targets, TESTS, set())):
        target = targets[name]
        words = [f'name: "{name}"']
        if target["type"] == "system":
            if target.get("pkgConfig"):
                words.append(f'pkgConfig: "{target["pkgConfig"]}"')
        else:
            words.append("dependencies: " + json.dumps([each["byName"][0] for each in target["dependencies"]]))
            if target.get("path"):
                words.append(f'path: "{target["path"]}"')
            if target["exclude"]:
                words.append("exclude: " + json.dumps(target["exclude"]))
        kind = {"system": "systemLibrary", "test": "testTarget"}.get(target["type"], "target")
        lines.append(f"    .{kind}({', '.join(words)}),")
    return "\n".join(lines + ["])", ""])


def build(copy):
    done = subprocess.run(
        ["nice", "-n", "10", "swift", "build", "--build-tests", "-c", "release", "-Xswiftc", "-enable-testing"], cwd=copy,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit("the mutants do not compile:\n" + "\n".join(
            line for line in done.stdout.splitlines() if "error" in line))


def run(copy, test, rule, seeds=(1, 1)):
    """What the test says of the first failure; None if it passes."""
    environment = dict(
        os.environ, NO_COLOR="1", SWIFT_BACKTRACE="enable=no", SWIFT_DETERMINISTIC_HASHING="1", KALIJ_BROKEN_RULE=rule,
        KALIJ_LONG=f"push-nodes={seeds[1]} seed={seeds[0]}")
    done = subprocess.run(
        [os.path.join(copy, ".build/release/nodesPackageTests.xctest"), "--testing-library", "swift-testing", "--filter",
         f"{TESTS}.{test}" + (r"\(\)" if "/" in test else "")], cwd=copy, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env=environment, timeout=900)
    if not re.search(r"Test run with [1-9]\d* tests? ", done.stdout):
        sys.exit(f"{test} does not end, or is no test:\n{done.stdout[-2000:]}")
    issue = re.search(r"recorded an issue.*?: (.*)(?:\n↳ (seed.*))?", done.stdout)
    return (issue[2] or issue[1])[:100] if issue else None


def find(copy, mutation, seeds):
    if mutation["test"] != SIMULATION:
        return run(copy, mutation["test"], mutation["name"]), "-"
    step = 5
    for first in range(1, seeds + 1, step):
        if found := run(copy, SIMULATION, mutation["name"], (first, step)):
            return found, str(first + step - 1)
    return None, str(seeds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only whether the sources still have what is to be broken")
    parser.add_argument("--only", default="", help="mutations with this in their name")
    parser.add_argument("--seeds", type=int, default=50, help="how many seeds the simulation plays at most")
    options = parser.parse_args()
    with open(os.path.join(HERE, "mutations.json")) as file:
        mutations = json.load(file)
    mutate.check(mutations)
    if options.check:
        return print(f"nodes/mutants.py: {len(mutations)} mutations, each of a text in the sources")
    copy = os.path.join(ROOT, ".build/node-mutants")
    os.makedirs(copy, exist_ok=True)
    mutate.mirror(copy)
    with open(os.path.join(copy, "Package.swift"), "w") as file:
        file.write(manifest())
    for mutation in mutations:
        for change in mutation["changes"]:
            mutate.replace(os.path.join(copy, change["file"]), "\n".join(change["old"]), "\n".join(change["new"]))
    with open(os.path.join(copy, "Sources/KalijStore/Broken.swift"), "w") as file:
        file.write(mutate.BROKEN)
    build(copy)
    wanted = [mutation for mutation in mutations if options.only in mutation["name"]]
    for test in sorted({mutation["test"] for mutation in wanted}):
        if problem := run(copy, test, "", (1, 5)):
            sys.exit(f"{test} has to pass before anything is broken: {problem}")
    escaped = 0
    print("| rule that is broken | test | seeds | found as |\n|---|---|---|---|", flush=True)
    for mutation in wanted:
        found, seeds = find(copy, mutation, options.seeds)
        escaped += not found
        print(f"| {mutation['name']} | {mutation['test']} | {seeds} | {found or 'NOT FOUND'} |", flush=True)
    print(f"{len(wanted) - escaped} of {len(wanted)} found")
    sys.exit(1 if escaped else 0)


if __name__ == "__main__":
    main()

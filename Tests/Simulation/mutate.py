#!/usr/bin/env python3
"""Breaks one rule of the engine at a time, in a copy of the sources, and has the simulator find it.

All of them are built at once; the environment says which one is broken (`Broken.rule`). A run ends with the first seeds
that find it. Each mutation is caught when at least one of the seeds violates the promise that the rule is for, and says of it what
the mutation's `text` is. A mutation whose text is no longer in the sources is an error, so that the table cannot go stale
unnoticed, and so is a change that asks for another rule; `--check` looks for that alone.
"""
import argparse, collections, filecmp, json, os, re, shutil, subprocess, sys

BROKEN = """
import Glibc

public enum Broken {
    private static let name = getenv("KALIJ_BROKEN_RULE").map { String(cString: $0) } ?? ""
    public static func rule(_ name: String) -> Bool { Self.name == name }
}
"""

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def mirror(copy):
    """Makes the copy's sources those of the package; what is the same keeps its time, so that little is compiled.
    What is gone is removed."""
    wanted = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "Package.swift", "Sources", "Tests"], cwd=ROOT, check=True,
        stdout=subprocess.PIPE, text=True).stdout.splitlines()
    for name in wanted:
        source, target = os.path.join(ROOT, name), os.path.join(copy, name)
        if not os.path.isfile(source) or os.path.exists(target) and filecmp.cmp(source, target, shallow=False):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
    kept = {os.path.join(copy, name) for name in wanted}
    for part in ("Sources", "Tests"):
        for folder, folders, files in os.walk(os.path.join(copy, part)):
            folders[:] = [name for name in folders if name != ".build"]
            for path in (os.path.join(folder, name) for name in files):
                if path not in kept:
                    os.remove(path)


def replace(path, old, new):
    with open(path) as file:
        text = file.read()
    if text.count(old) != 1:
        sys.exit(f"{path}: the text to be replaced is there {text.count(old)} times:\n{old}")
    text = text.replace(old, new)
    if "import KalijStore" not in text:
        text = "import KalijStore\n" + text
    with open(path, "w") as file:
        file.write(text)


def check(mutations):
    for mutation, change in ((mutation, change) for mutation in mutations for change in mutation["changes"]):
        asked = re.findall(r'Broken\.rule\("(.*?)"\)', "\n".join(change["new"]))
        if asked and mutation["name"] not in asked:
            sys.exit(f"mutations.json: a change of \"{mutation['name']}\" asks for {asked}")
        with open(os.path.join(ROOT, change["file"])) as file:
            count = file.read().count("\n".join(change["old"]))
        if count != 1:
            sys.exit(f"mutations.json: {change['file']} has this {count} times:\n" + "\n".join(change["old"]))


def build(copy):
    done = subprocess.run(
        ["nice", "-n", "10", "swift", "build", "-c", "release", "-Xswiftc", "-enable-testing"],
        cwd=os.path.join(copy, "Tests/Simulation"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit("the mutant does not compile:\n" + "\n".join(
            line for line in done.stdout.splitlines() if "error" in line))


WANTED = "as what it breaks"


def name_of(violation, mutation):
    promise, _, text = violation.partition(": ")
    is_wanted = promise == "promise " + mutation["promise"] and mutation["text"] in text
    return WANTED if is_wanted else promise.removeprefix("promise ")


def run(copy, mutation, seeds, jobs, all):
    """Which promises the seeds violate, and how many seeds were run: until the first, or all."""
    program = os.path.join(copy, "Tests/Simulation/.build/release/simulate")
    environment = dict(
        os.environ, SWIFT_DETERMINISTIC_HASHING="1", SWIFT_BACKTRACE="enable=no", KALIJ_BROKEN_RULE=mutation["name"])
    broken, first, done, crashed = collections.Counter(), {}, 0, 0
    step = 25
    begin = mutation.get("first", 1)  # other scenarios have other seeds
    for start in range(begin, begin + seeds, step * jobs):
        children = [
            subprocess.Popen(["nice", "-n", "10", program, "run", str(start + job * step), str(step)],
                             stdout=subprocess.PIPE, text=True, env=environment)
            for job in range(jobs)]
        for child in children:
            for line in child.stdout:
                outcome = json.loads(line)
                done += 1
                found = {}
                for text in outcome["violations"]:
                    found.setdefault(name_of(text, mutation), text)
                for name, text in found.items():
                    broken[name] += 1
                    first.setdefault(name, (outcome["seed"], text))
            crashed += child.wait() != 0
        if broken[WANTED] and not all or crashed:
            break
    return broken, first, done, crashed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--only", help="the name of one mutation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="all seeds, to see how many of them find it")
    parser.add_argument("--check", action="store_true", help="only whether the sources still have what is to be broken")
    options = parser.parse_args()
    with open(os.path.join(HERE, "mutations.json")) as file:
        mutations = json.load(file)
    if options.check:
        return check(mutations)
    copy = os.path.join(HERE, ".build/mutants")
    os.makedirs(copy, exist_ok=True)
    mirror(copy)
    for mutation in mutations:
        for change in mutation["changes"]:
            replace(os.path.join(copy, change["file"]), "\n".join(change["old"]), "\n".join(change["new"]))
    with open(os.path.join(copy, "Sources/KalijStore/Broken.swift"), "w") as file:
        file.write(BROKEN)
    build(copy)
    escaped = 0
    print("| rule that is broken | found as | seeds with it | of | first seed | other promises |")
    print("|---|---|---|---|---|---|", flush=True)
    for mutation in mutations:
        if options.only and mutation["name"] != options.only:
            continue
        broken, first, done, crashed = run(copy, mutation, options.seeds, options.jobs, options.all)
        others = ", ".join(f"{name} {count}" for name, count in broken.items() if name != WANTED)
        caught = broken[WANTED] > 0 and not crashed
        seed, text = first.get(WANTED, ("-", "NOT CAUGHT"))
        escaped += not caught
        print(f"| {mutation['name']} | {text.split('<')[0][:110]} | {broken[WANTED]} "
              f"| {done} | {seed} | {others or '-'}{' CRASHED' if crashed else ''} |", flush=True)
    sys.exit(1 if escaped else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Makes each message dearer by what once went unnoticed, in a copy of the sources, and has the counts of `run.py` find it.

usage: mutate.py COPY [--check]       exit status 1 if a mutation is not found; --check only looks for its text in the sources
"""
import os, shutil, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MUTATIONS = [
    # Characters instead of scalars: 220,000 instructions a message.
    ("Sources/KalijCore/Content/SharedFile.swift", "        let body = text.trimmed\n        let address =\n",
     "        let body = String(text.drop(while: \\.isWhitespace).reversed().drop(while: \\.isWhitespace).reversed())\n"
     "        let address =\n"),
]


def mirror(copy):
    """Copies what the package is built from; what was built in the copy before stays."""
    shutil.rmtree(copy + "/Sources", ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "Package.swift", "Sources", "Tests", "Benchmarks/Sources"],
                           cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    for name in names:
        if os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(copy, name))


def main():
    for path, old, _ in MUTATIONS:
        if open(os.path.join(ROOT, path)).read().count(old) != 1:
            sys.exit(f"{path} has this not once:\n{old}")
    if "--check" in sys.argv:
        return 0
    copy, missed = sys.argv[1], 0
    for path, old, new in MUTATIONS:
        mirror(copy)
        text = open(os.path.join(copy, path)).read()
        open(os.path.join(copy, path), "w").write(text.replace(old, new))
        subprocess.run(["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "kalij"], cwd=copy, check=True)
        counts = subprocess.run(
            [HERE + "/run.py", copy + "/.build/release/kalij", "--kind", "live", "--few", "80", "--many", "240", "--bounds",
             ROOT + "/Benchmarks/Thresholds/cost.json"], stdout=subprocess.PIPE, text=True)
        found = counts.returncode == 1 and "TOO MANY" in counts.stdout
        print(counts.stdout + ("found" if found else "NOT FOUND") + f": {path}", flush=True)
        missed += not found
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

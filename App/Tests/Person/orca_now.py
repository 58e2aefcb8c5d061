"""Runs Orca, with a log that is written line by line: orca_now.py LOG."""
import builtins
import runpy
import sys

LOG = sys.argv[1]
plain = builtins.open


def line_by_line(file, mode="r", buffering=-1, *rest, **named):
    return plain(file, mode, 1 if str(file) == LOG else buffering, *rest, **named)


builtins.open = line_by_line
sys.argv = ["orca", "--replace", "--debug", "--debug-file=" + LOG]
runpy.run_path("/usr/bin/orca", run_name="__main__")

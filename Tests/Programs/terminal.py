"""Runs a client for terminals in a terminal of its own: each line of standard input is typed; at the end of input the client
quits.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time


def keys(line, pause):
    """What is written at a time: with a pause the first key and the key at the end come alone, because some clients take all that
    comes together for pasted text."""
    typed = line + b"\r"
    return [part for part in (typed[:1], typed[1:-1], typed[-1:]) if part] if pause else [typed]


def run(arguments, environment, screen, pause=0):
    """Runs the program to its end, and exits with its status. What the program draws goes to the file `screen`. A program that
    runs on for five seconds after it was told to quit is killed."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(environment, TERM="xterm", LANG="C.UTF-8")
        os.execvp(arguments[0], arguments)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    sources = [terminal, 0]
    begun, waiting, due, quit_at = b"", [], 0, None
    with open(screen, "wb", buffering=0) as drawn:
        while True:
            now = time.monotonic()
            ready, _, _ = select.select(sources, [], [], max(0, due - now) if waiting else 1)
            if terminal in ready:
                try:
                    output = os.read(terminal, 65536)
                except OSError:  # the client has ended
                    break
                drawn.write(output)
            if 0 in ready:
                given = os.read(0, 65536)
                if not given:
                    sources.remove(0)
                    quit_at = time.monotonic()
                    given = b"/quit\n"
                *lines, begun = (begun + given).split(b"\n")
                waiting += [part for line in lines for part in keys(line, pause)]
            if waiting and time.monotonic() >= due:
                os.write(terminal, waiting.pop(0))
                due = time.monotonic() + pause
            if quit_at is not None and not waiting and time.monotonic() > max(quit_at, due) + 5:
                os.kill(process, 9)
    _, status = os.waitpid(process, 0)
    sys.exit(os.waitstatus_to_exitcode(status))

"""Runs a client for terminals in a terminal of its own: each line of standard input is typed; at the end of input the client
quits.
"""
import array
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time


# The seconds after which the end of a program counts as hung.
HANG = 400
# The request for the number of a terminal's other side; Python has no name for it.
TIOCGPTN = 0x80045430


def keys(line, pause):
    """What is written at a time: with a pause the first key and the key at the end come alone, because some clients take all that
    comes together for pasted text."""
    typed = line + b"\r"
    return [part for part in (typed[:1], typed[1:-1], typed[-1:]) if part] if pause else [typed]


def waits(process, terminal):
    """Whether the program has read all that was typed, and sleeps until more comes."""
    try:
        number = array.array("i", [0])
        fcntl.ioctl(terminal, TIOCGPTN, number)
        keyboard = os.open("/dev/pts/%d" % number[0], os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return True  # the client has ended
    try:
        unread = array.array("i", [0])
        fcntl.ioctl(keyboard, termios.FIONREAD, unread)
    finally:
        os.close(keyboard)
    with open("/proc/%d/stat" % process) as file:
        return unread[0] == 0 and file.read().rpartition(")")[2].split()[0] in "SZ"


def run(arguments, environment, screen, pause=0):
    """Runs the program to its end, and exits with its status. What the program draws goes to the file `screen`. A program that
    runs on after it was told to quit is killed in the end."""
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
            ready, _, _ = select.select(sources, [], [], max(0.01, due - now) if waiting else 1)
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
            if waiting and time.monotonic() >= due and (not pause or waits(process, terminal)):
                os.write(terminal, waiting.pop(0))
                due = time.monotonic() + pause
            if quit_at is not None and not waiting and time.monotonic() > max(quit_at, due) + HANG:
                os.kill(process, 9)
    _, status = os.waitpid(process, 0)
    sys.exit(os.waitstatus_to_exitcode(status))

"""Types a line and TAB into a shell in a terminal of its own, and prints what stands in the line then.

usage: complete.py SHELL SCRIPT LINE      (SHELL: bash, zsh or fish; SCRIPT completes)

The completed line is read as the shell's own program sees the words: `show` prints its arguments.
"""
import os
import pty
import select
import sys
import time

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
BEFORE = {
    "bash": "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'\n",
    "zsh": "autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste 2>/dev/null\n",
    "fish": "",
}


def main(shell, script, line):
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "dumb" if shell == "bash" else "xterm"
        os.execvp(SHELLS[shell][0], SHELLS[shell])
    output = b""

    def read(until, seconds):
        nonlocal output
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until(output):
            ready, _, _ = select.select([terminal], [], [], 0.1)
            if ready:
                got = os.read(terminal, 65536)
                # Shells ask the terminal for its kind, and wait for an answer.
                if b"\x1b[c" in got or b"\x1b[0c" in got:
                    os.write(terminal, b"\x1b[?62;c")
                output += got

    def rest(seconds):
        """Reads until nothing has come for so long."""
        while True:
            before = len(output)
            read(lambda o: False, seconds)
            if len(output) == before:
                return

    def type_(text):
        os.write(terminal, text.encode())

    type_(BEFORE[shell] + f"source {script}\n" + "echo rea''dy\n")
    read(lambda o: b"ready" in o.replace(b"rea''dy", b""), 20)
    rest(0.3)
    # What the line has become is taken to the beginning, and printed by `echo`.
    type_(line + "\t")
    rest(0.6)
    type_("\x01echo DO''NE: '\x05'\n")
    read(lambda o: b"DONE:" in o and b"\n" in o.split(b"DONE:", 1)[1], 10)
    os.kill(process, 9)
    os.waitpid(process, 0)
    found = output.split(b"DONE:", 1)
    if len(found) < 2:
        sys.exit("nothing was completed: " + repr(output[-2000:]))
    print(found[1].split(b"\r")[0].split(b"\n")[0].decode().strip())


main(*sys.argv[1:])

#!/usr/bin/python3
"""A slow or bad way to servers on this machine: TCP relays that share the bytes of a second, and cut connections.

  link.py LISTEN:TARGET...    ports of 127.0.0.1

Commands on standard input, each a line:
  rate N                      from now on N bytes a second in each direction, all connections together; 0 for no limit
  cut BYTES MANNER SECONDS    cuts the next connection of the first pair once the server was given so many of its bytes: "reset"
                              and "end" at once; "silence" lets nothing through for so many seconds, and resets then
  answer BYTES MANNER SECONDS the same at the server's first answer after so many bytes
  close, open                 resets all connections and refuses new ones; takes new ones again
A line of JSON for each "ready", "open" (a connection), "up" (a connection has sent so many bytes, at each 32 KiB) and "cut" (when
the cut is over), with the index of the pair and the seconds of the monotonic clock. Ends with its standard input.
"""
import ctypes, json, queue, socket, struct, sys, threading, time

LOCK = threading.Lock()
LIBC = ctypes.CDLL(None)
PORTION = 512


class State:
    plan = None  # (kind, bytes, manner, seconds)
    rate = 0
    is_closed = False
    pairs = set()


def say(**fields):
    with LOCK:
        print(json.dumps({**fields, "at": time.monotonic()}), flush=True)


def room():
    """How many portions of a connection wait here: of half a second, as in the modem of a slow line."""
    return int(max(2, min(32, State.rate / 2 / PORTION))) if State.rate else 32


class Direction:
    """Lets so many bytes a second through, in the order of their arrival: a text waits for what has arrived before."""

    def __init__(self):
        self.free, self.lock = 0, threading.Lock()

    def departure(self, count):
        """When so many bytes that arrive now have gone through."""
        with self.lock:
            self.free = max(self.free, time.monotonic()) + (count / State.rate if State.rate else 0)
            return self.free


UP, DOWN = Direction(), Direction()


class Pair:
    def __init__(self, near, far, index):
        self.near, self.far, self.index = near, far, index
        self.arrived, self.sent, self.silent, self.is_over = 0, 0, None, False

    def end(self, manner="end"):
        with LOCK:
            if self.is_over:
                return False
            self.is_over = True
        State.pairs.discard(self)
        for connection in (self.near, self.far):
            if manner == "end":
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            else:
                # An address of no family ends a connection with a reset, and wakes the thread that waits at it; closing does neither.
                LIBC.connect(connection.fileno(), bytes(16), 16)
        return True

    def cut(self, kind):
        """Whether the connection is cut here."""
        plan = State.plan
        if self.index != 0 or plan is None or plan[0] != kind or self.sent < plan[1]:
            return False
        State.plan = None
        if plan[2] == "silence":
            self.silent = time.monotonic() + plan[3]
            time.sleep(plan[3])
        self.end("end" if plan[2] == "end" else "reset")
        say(event="cut", manner=plan[2], kind=kind, bytes=self.sent)
        return True

    def read(self, source, direction, waiting):
        """Takes what arrives, as far as there is room in the queue."""
        def put(entry):
            while not self.is_over:
                try:
                    return waiting.put(entry, timeout=0.1)
                except queue.Full:
                    pass

        try:
            while data := source.recv(PORTION):
                self.arrived += len(data) if direction is UP else 0
                put((direction.departure(len(data)), data))
        except OSError:
            pass
        put((0, b""))
        # With both threads the sockets go.

    def next(self, waiting):
        while not self.is_over:
            try:
                return waiting.get(timeout=0.1)
            except queue.Empty:
                pass
        return 0, b""

    def run(self, source, target, direction, is_up):
        told, waiting = 0, queue.Queue(room())
        threading.Thread(target=self.read, args=(source, direction, waiting), daemon=True).start()
        try:
            while True:
                departure, data = self.next(waiting)
                if not data:
                    break
                time.sleep(max(0, departure - time.monotonic()) if State.rate else 0)
                if is_up and State.plan and State.plan[0] == "cut" and self.index == 0:
                    # No byte more.
                    data = data[:max(0, State.plan[1] - self.sent)]
                while self.silent:
                    time.sleep(max(0.01, self.silent - time.monotonic()))
                    if self.is_over:
                        return
                if not is_up and self.cut("answer"):
                    return
                if data:
                    target.sendall(data)
                if is_up:
                    self.sent += len(data)
                    if self.sent - told >= 32768:
                        told = self.sent
                        say(event="up", link=self.index, bytes=self.sent)
                    if self.cut("cut"):
                        return
        except OSError:
            pass
        # A server that is gone does not take the rest.
        self.end("reset" if self.arrived > self.sent else "end")


def accept(listener, target, index):
    while True:
        near, _ = listener.accept()
        far = socket.socket()
        try:
            if State.is_closed:
                raise OSError
            far.connect(("127.0.0.1", target))
        except OSError:
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            near.close()
            continue
        say(event="open", link=index)
        for connection in (near, far):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = Pair(near, far, index)
        State.pairs.add(pair)
        threading.Thread(target=pair.run, args=(near, far, UP, True), daemon=True).start()
        threading.Thread(target=pair.run, args=(far, near, DOWN, False), daemon=True).start()


def main():
    for index, ports in enumerate(sys.argv[1:]):
        near, far = map(int, ports.split(":"))
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # What waits in the relay has left for the sender.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        listener.bind(("127.0.0.1", near))
        listener.listen(64)
        threading.Thread(target=accept, args=(listener, far, index), daemon=True).start()
    say(event="ready")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "rate":
            State.rate = float(words[1])
        elif words[0] in ("cut", "answer"):
            State.plan = (words[0], int(words[1]), words[2], float(words[3]))
        elif words[0] in ("close", "open"):
            State.is_closed = words[0] == "close"
            for pair in list(State.pairs) if State.is_closed else []:
                pair.end("reset")
        say(event="done")


main()

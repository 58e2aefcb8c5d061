#!/usr/bin/python3
"""A slow or bad way to servers on this machine: TCP relays that share the bytes of a second, and cut connections.

  link.py LISTEN:TARGET...    ports of 127.0.0.1

Commands on standard input, each a line:
  rate N                      from now on N bytes a second in each direction, all connections together; 0 for no limit
  cut BYTES MANNER SECONDS    cuts the next connection of the first pair once the server was given so many of its bytes: "reset"
                              and "end" at once; "silence" lets nothing through for so many seconds, and resets then
  answer BYTES MANNER SECONDS the same at the server's first answer after so many bytes
  close, open                 resets all connections and refuses new ones; takes new ones again
  delay SECONDS               a round trip takes so long in addition, half of it each way; a connection's first byte, a whole one more,
                              as TCP's own connecting does
  late PERCENT SECONDS [SEED] so many of a hundred segments come so late, as if they were sent again; the order stays
  stall SECONDS               nothing passes for so long, in both directions; nothing is lost
  lose up, lose down, find    nothing passes in one direction from now on; what was sent there waits, as TCP sends again, until "find"
  count                       a line "count" for each living connection
  mark NAME                   the same with the name in it
A line of JSON for each "ready", "open" (a connection), "up" (a connection has sent so many bytes, at each 32 KiB), "cut" (when
the cut is over) and "end" (a connection), with the index of the pair and the seconds of the monotonic clock. Ends with its standard
input.

"count" and "end" hold what the client's side of the link saw: "up" and "down", bytes; "trips", how often an answer came, where an
answer is what comes a round trip or more after something was sent, and 1 for TCP's connecting; "seconds" since the beginning; and
"flights", the first 400 of [first second, last second, "up" or "down", bytes, trips so far]. TLS hides where an answer ends: who
knows from elsewhere when something was known, as by the time of an event of Kalij's, finds the bytes and trips up to there.
"""
import ctypes, json, queue, random, socket, struct, sys, threading, time

LOCK = threading.Lock()
LIBC = ctypes.CDLL(None)
PORTION = 512
SEGMENT = 1400
FLIGHTS = 400


class State:
    plan = None  # (kind, bytes, manner, seconds)
    rate = 0
    is_closed = False
    pairs = set()
    delay, late, stalled, lost = 0, (0, 0), 0, None
    serial = 0


def say(**fields):
    with LOCK:
        print(json.dumps({**fields, "at": time.monotonic()}), flush=True)


def room():
    """How many portions of a connection wait here: of half a second, as in the modem of a slow line."""
    on_the_way = State.rate * State.delay / 2 / PORTION if State.rate else 4096 if State.delay else 0
    return int((max(2, min(32, State.rate / 2 / PORTION)) if State.rate else 32) + on_the_way)


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


class Counts:
    """What a client saw of its connection."""

    def __init__(self):
        self.began, self.up, self.down, self.trips, self.asked, self.flights = time.monotonic(), 0, 0, 1, None, []
        self.lock = threading.Lock()

    def add(self, way, count):
        with self.lock:
            now = time.monotonic()
            if way == "up":
                self.up += count
                self.asked = self.asked or now
            else:
                self.down += count
                if self.asked and now - self.asked >= State.delay * 0.98:
                    self.trips += 1
                    self.asked = None
            if self.flights and self.flights[-1][2] == way and self.flights[-1][4] == self.trips:
                self.flights[-1][1] = now
                self.flights[-1][3] += count
            elif len(self.flights) < FLIGHTS:
                self.flights.append([now, now, way, count, self.trips])

    def fields(self):
        with self.lock:
            flights = [[round(a - self.began, 3), round(b - self.began, 3), *more] for a, b, *more in self.flights]
            return {"up": self.up, "down": self.down, "trips": self.trips, "began": self.began,
                    "seconds": round(time.monotonic() - self.began, 3), "flights": flights}


class Way:
    """When what arrives in one direction of a connection is let out at the other side."""

    def __init__(self, pair, direction):
        self.pair, self.direction = pair, direction
        self.segment, self.arrived, self.due = 0, 0, 0

    def time(self, count):
        now = time.monotonic()
        due = self.direction.departure(count) + State.delay / 2
        is_first = self.arrived == 0 and self.direction is UP
        if now - self.arrived > 0.005 or self.segment <= 0:
            self.segment = SEGMENT
            share, seconds = State.late
            if share and random.random() * 100 < share:
                due += seconds
                say(event="late", link=self.pair.index, number=self.pair.number, way="up" if self.direction is UP else "down")
        if is_first:
            # TCP's connecting: the kernel has answered the client at once.
            due = max(due, self.pair.counts.began + 1.5 * State.delay)
        self.segment -= count
        self.arrived = now
        self.due = max(self.due, due)
        return self.due


class Pair:
    def __init__(self, near, far, index):
        self.near, self.far, self.index = near, far, index
        self.arrived, self.sent, self.silent, self.is_over = 0, 0, None, False
        with LOCK:
            State.serial += 1
            self.number = State.serial
        self.counts = Counts()

    def end(self, manner="end"):
        with LOCK:
            if self.is_over:
                return False
            self.is_over = True
        State.pairs.discard(self)
        say(event="end", link=self.index, number=self.number, **self.counts.fields())
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

        way = Way(self, direction)
        try:
            while data := source.recv(PORTION):
                if direction is UP:
                    self.arrived += len(data)
                    self.counts.add("up", len(data))
                put((way.time(len(data)), data))
        except OSError:
            pass
        # The end does not overtake the bytes.
        put((way.due, b""))
        # With both threads the sockets go.

    def next(self, waiting):
        while not self.is_over:
            try:
                return waiting.get(timeout=0.1)
            except queue.Empty:
                pass
        return 0, b""

    def hold(self, departure, is_up):
        """Waits for the time, for the end of a stall, and for a direction that is lost."""
        while not self.is_over:
            now = time.monotonic()
            until = max(departure if State.rate or State.delay or State.late[0] else 0, State.stalled)
            if State.lost == ("up" if is_up else "down"):
                until = now + 0.05
            if until <= now:
                return
            time.sleep(min(until - now, 0.05))

    def run(self, source, target, direction, is_up):
        told, waiting = 0, queue.Queue(room())
        threading.Thread(target=self.read, args=(source, direction, waiting), daemon=True).start()
        try:
            while True:
                departure, data = self.next(waiting)
                self.hold(departure, is_up)
                if not data:
                    break
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
                    if not is_up:
                        self.counts.add("down", len(data))
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
        for connection in (near, far):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = Pair(near, far, index)
        State.pairs.add(pair)
        say(event="open", link=index, number=pair.number)
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
        elif words[0] == "delay":
            State.delay = float(words[1])
        elif words[0] == "late":
            random.seed(words[3] if len(words) > 3 else None)
            State.late = (float(words[1]), float(words[2]))
        elif words[0] == "stall":
            State.stalled = UP.free = DOWN.free = time.monotonic() + float(words[1])
        elif words[0] in ("lose", "find"):
            State.lost = words[1] if words[0] == "lose" else None
        elif words[0] in ("count", "mark"):
            for pair in sorted(State.pairs, key=lambda pair: pair.number):
                say(event=words[0], name=" ".join(words[1:]), link=pair.index, number=pair.number, **pair.counts.fields())
        elif words[0] in ("cut", "answer"):
            State.plan = (words[0], int(words[1]), words[2], float(words[3]))
        elif words[0] in ("close", "open"):
            State.is_closed = words[0] == "close"
            for pair in list(State.pairs) if State.is_closed else []:
                pair.end("reset")
        say(event="done")


main()

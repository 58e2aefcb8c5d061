"""Pictures that are to hurt: what `kalij-app-decode` takes for each, beside a photograph of 12 megapixels, and what the app's row
says.

    bombs.py PROGRAM           measures the decoder PROGRAM alone
    stage PROGRAM bombs        measures, then another person sends each, and the app shows them
"""
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
#: What the decoder may take, whatever it is given: its 64 MB, and what it has before it is confined.
MEMORY, SECONDS = 64 + 16, 5.5
#: The rows of a portion of the bomb.
PORTION = 100


def png(width, height, depth, colour):
    """A picture of zeros, as small as zlib makes it: its data are the same compressed portion again and again."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    channels = {0: 1, 2: 3, 6: 4}[colour]
    row = 1 + (width * depth * channels + 7) // 8
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    portion = packer.compress(bytes(row * PORTION)) + packer.flush(zlib.Z_FULL_FLUSH)
    # Adler-32 of zeros: the first sum remains 1, and the second one counts them.
    adler = (row * height % 65521) << 16 | 1
    data = b"\x78\xda" + portion * (height // PORTION) + b"\x03\x00" + struct.pack(">I", adler)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def animation(frames, side):
    """A GIF whose frames cover all of it; codes have 8 bits, because the table is emptied before it grows."""
    head = b"GIF89a" + struct.pack("<HHBBB", side, side, 0xF6, 0, 0) + random.randbytes(3 * 128)

    def frame(colour):
        codes = b"".join(bytes([0x80]) + bytes([colour]) * 100 for _ in range(side * side // 100)) + bytes([0x81])
        blocks = b"".join(bytes([len(part)]) + part for part in (codes[at:at + 255] for at in range(0, len(codes), 255)))
        return b"\x2c" + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x07" + blocks + b"\x00"

    kinds = [frame(colour) for colour in range(128)]
    return head + b"".join(kinds[n % 128] for n in range(frames)) + b"\x3b"


def photograph(folder, width=4000, height=3000):
    """A JPEG like that of a camera: blurred noise."""
    import gi
    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf, GLib
    noise = GLib.Bytes.new(random.randbytes(400 * 300 * 3))
    small = GdkPixbuf.Pixbuf.new_from_bytes(noise, GdkPixbuf.Colorspace.RGB, False, 8, 400, 300, 1200)
    path = str(folder / "photograph.jpg")
    small.scale_simple(width, height, GdkPixbuf.InterpType.BILINEAR).savev(path, "jpeg", ["quality"], ["92"])
    return open(path, "rb").read()


def progressive(side):
    """The head of a progressive JPEG: a decoder keeps the coefficients of all of it."""
    table = bytes([0, *([0] * 16)])
    return (b"\xff\xd8\xff\xdb\x00\x43\x00" + bytes([1] * 64)
            + b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, side, side, 3) + b"\x01\x11\x00\x02\x11\x00\x03\x11\x00"
            + b"\xff\xc4" + struct.pack(">H", 2 + 17 + 1) + bytes([0, 1, *([0] * 15), 0])
            + b"\xff\xda\x00\x0c\x03\x01\x00\x02\x00\x03\x00\x00\x00\x00" + bytes(1000) + b"\xff\xd9")


def tiff(width, height):
    """One strip of zeros, not compressed."""
    entries = [(256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 200), (277, 3, 1),
               (278, 4, height), (279, 4, width * height)]
    body = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    return (b"II*\x00\x08\x00\x00\x00" + body).ljust(200, b"\0") + bytes(width * height)


def make(folder):
    """The pictures by name. Those whose name begins with `photograph` are decoded, the rest as it may be."""
    photo = photograph(folder)
    pictures = {
        "photograph.jpg": photo,
        "bomb.png": png(50_000, 50_000, 8, 6),
        "bomb-grey.png": png(50_000, 50_000, 1, 0),
        "animation.gif": animation(10_000, 20),
        "animation-large.gif": animation(10_000, 200)[:9 << 20],
        "scan.tiff": tiff(2000, 1500),
        "truncated.jpg": photo[:len(photo) // 2],
        "progressive.jpg": progressive(65_000),
        "drawing.svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>while(true){}</script>"
                       b"<rect width='9' height='9'/></svg>",
    }
    for name, body in pictures.items():
        (folder / name).write_bytes(body)
    return {name: folder / name for name in pictures}


def measure(program, pictures, folder, say):
    """The exit status, the peak in MB and the seconds by name; raises if one exceeds the limits."""
    peak = str(folder / "peak")
    subprocess.run(["cc", "-O1", "-o", peak, str(HERE / "peak.c")], check=True)
    found, faults = {}, []
    say(f"{'':22}{'bytes':>12}  {'is decoded':12}{'peak':>9}{'CPU':>10}{'time':>10}")
    for name, path in pictures.items():
        words = subprocess.run([peak, program, str(path)], check=True, capture_output=True, text=True, timeout=60).stdout.split()
        end, memory, cpu, seconds = int(words[0]), int(words[1]) / 1024, int(words[2]), int(words[3])
        outcome = {0: "yes", 65: "no"}.get(end, f"no, {end}")
        say(f"{name:22}{path.stat().st_size:12,}  {outcome:12}{memory:6.1f} MB{cpu:7d} ms{seconds:7d} ms")
        found[name] = (end, memory, seconds / 1000)
        if memory > MEMORY or seconds > SECONDS * 1000:
            faults.append(f"{name}: {memory:.0f} MB, {seconds} ms")
    if found["photograph.jpg"][0] != 0:
        faults.append("the photograph is not decoded")
    if faults:
        raise AssertionError("; ".join(faults))
    return found


def stage():
    """The tour; `bombs.py` alone needs no display."""
    import person
    import tour
    from person import Atspi

    class Bombs(tour.Stage):
        """Somebody sends the pictures, and they are downloaded and displayed."""

        def run(self):
            self.begin("juliet")
            folder = pathlib.Path(self.stage) / "pictures"
            folder.mkdir()
            random.seed(41)
            pictures = make(folder)
            decoder = os.path.dirname(os.path.abspath(os.environ["KALIJ_APP"])) + "/kalij-app-decode"
            found = measure(decoder, pictures, folder, self.say)
            self.log_in()
            mine, self.data = self.data, self.stage + "/juliet"
            self.log_in("juliet")
            theirs, self.data = self.data, mine
            self.kalij("send", "juliet@localhost", "Good morrow")
            self.start()
            me = self.person
            me.select("Conversations", "juliet@localhost.*")
            me.key("Return")
            me.wait_row("Messages", ".*Good morrow.*")
            before = None
            for name, path in pictures.items():
                words = ["--data", theirs, "send", "romeo@localhost", "--file", str(path), "--keep-metadata"]
                subprocess.run([os.environ["KALIJ_BINARY"], *words], check=True, capture_output=True, timeout=60)
                cpu = self.cpu()
                row = me.wait(f"{name} is here", lambda: self.row(name), 60)
                me.wait(f"the picture of {name}, or the note", lambda: self.is_noted(row) == (found[name][0] != 0))
                before = before or self.memory()
                self.say(f"{name}: {row.get_name()!r}, {'not shown' if found[name][0] else 'shown'}; "
                         f"{self.cpu() - cpu} ms of CPU of the app")
            me.picture("bombs.png")
            self.say(f"private memory of the app: {before:.1f} MB with the photograph, {self.memory():.1f} MB with all")
            if self.memory() > before + 10:
                raise person.Lost("the app has taken much memory")
            me.end()
            self.warnings()

        def row(self, name):
            """The row of a picture that is here; small ones are fetched by themselves."""
            row = next(self.person.nodes("list item", f"juliet@localhost, .*Picture {re.escape(name)}\\. .*"), None)
            if row is None or "ownload" not in row.get_name().split(name, 1)[1]:
                return row
            for node, _ in person.all_of(row, 2):
                if node.get_role_name() == "push button" and node.get_name() == "Download":
                    Atspi.Action.do_action(node, 0)

        def is_noted(self, row):
            return any((node.get_name() or "").startswith("Not shown: ") for node, _ in person.all_of(row, 2))

        def memory(self):
            """Megabytes."""
            for line in open(f"/proc/{self.person.program.pid}/status"):
                if line.startswith("RssAnon"):
                    return int(line.split()[1]) / 1024

    return Bombs


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        random.seed(41)
        measure(os.path.abspath(sys.argv[1]), make(pathlib.Path(name)), pathlib.Path(name), print)

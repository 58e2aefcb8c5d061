#!/usr/bin/python3
"""What logging in costs on a line of 32 kbit/s each way and 500 ms, on the four servers; beside Kalij, go-sendxmpp and slixmpp.

usage: run.py KALIJ [--rounds N] [--waiting N] [--servers a,b] [--only connect,send,waiting] [--json FILE]

connect: from connect(2) to the resumed session, the median of N (default 5); "flight" is a server with SASL2, Bind 2 and FAST, "ticket"
one that takes tickets, too. send: a process that connects, sends one message and ends. waiting: so many messages wait (default 0,
none of this): seconds to the last one shown, bytes down as a multiple of what as many cost that come at once, connections lost; and what a reconnect costs
over 60 s later. ratio: what Kalij needs for a message, by what the better of the others needs. Debian 13's servers come from KALIJ_DEBIAN13; without it only Debian 12's are measured. The counts are the line's.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

from links import HERE, PROGRAMS, Kalij, Link, servers, until

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("kalij")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--waiting", type=int, default=0)
parser.add_argument("--servers", default=",".join(servers.NAMES))
parser.add_argument("--only", default="connect,send,waiting")
parser.add_argument("--json")
parser.add_argument("--beside", action="store_true", help="measures the servers at the same time, each with a line of its own")
options = parser.parse_args()
RESULTS = []

SLIXMPP = """
import sys, slixmpp
port, authority, user, recipient, direct = sys.argv[1:]
client = slixmpp.ClientXMPP(user, "secret")
client.ca_certs = authority
client.use_ipv6 = False
async def begin(event):
    client.send_presence()
    client.send_message(mto=recipient, mbody="one", mtype="chat")
    await client.disconnect(wait=5)
client.add_event_handler("session_start", begin)
client.add_event_handler("failed_auth", lambda event: sys.exit(1))
client.connect(("127.0.0.1", int(port)), use_ssl=direct == "1", force_starttls=direct != "1", disable_starttls=direct == "1")
client.process(forever=False)
"""


def report(**fields):
    RESULTS.append(fields)
    print("  ".join("%s %s" % (name, value) for name, value in fields.items()), flush=True)


def median(values, name):
    found = [value[name] for value in values]
    return round(statistics.median(found), 2) if found else None


def worst(values):
    return max(value["seconds"] for value in values)


def configurations(name):
    """What a server can be: as installed, with everything for one flight, and with tickets that it takes."""
    yield "as installed", {}
    if name.endswith("13"):
        yield "flight", {"flight": True}
    if name == "prosody13":
        yield "flight, ticket", {"flight": True, "tickets": True}


def connect(folder, server, link, what, direct):
    kalij = Kalij(options.kalij, folder + "/kalij-%d" % direct, server, link, direct)
    kalij.settle()
    # The second one resumes with whatever the first was given.
    kalij.settle(1)
    link.slow()
    rounds = []
    for _ in range(options.rounds):
        mark = link.mark
        run = kalij.run()
        _, moment, line = run.wait(lambda line: line["event"] == "online", 90)
        found = link.connections(mark)
        if line["resumed"] and found:
            rounds.append({**until(found[-1], moment), "connections": len(found)})
        # What the server asked for, and the state, come to rest.
        time.sleep(1.5)
        run.end()
    link.fast()
    report(part="connect", server=server.name, configuration=what, tls="direct" if direct else "starttls", resumed=len(rounds),
           of=options.rounds, trips=median(rounds, "trips"), seconds=median(rounds, "seconds"), worst=worst(rounds) if rounds else None,
           up=median(rounds, "up"), down=median(rounds, "down"), connections=median(rounds, "connections"))


def send(folder, server, link, direct, what):
    """One message of each program."""
    port = link.direct if direct else link.port
    kalij = Kalij(options.kalij, folder + "/send-%d" % direct, server, link, direct, user="carol")
    kalij.call("send", "bob@localhost", "zero")
    environment = {**os.environ, "SSL_CERT_FILE": server.authority, "HOME": folder}
    programs = {
        "kalij": lambda: kalij.call("send", "bob@localhost", "one")[0],
        "slixmpp": lambda: subprocess.run(
            ["/usr/bin/python3", "-c", SLIXMPP, str(port), server.authority, "alice@localhost", "bob@localhost", "01"[direct]],
            timeout=120, capture_output=True).returncode,
        "go-sendxmpp": lambda: subprocess.run(
            ["go-sendxmpp", "-u", "alice@localhost", "-p", "secret", "-j", "localhost:%d" % port, *["-t"] * direct, "bob@localhost"],
            input=b"one", timeout=120, capture_output=True, env=environment).returncode,
    }
    for name, program in programs.items():
        link.fast()
        try:
            if name != "kalij" and program() != 0:
                report(part="send", server=server.name, configuration=what, tls="direct" if direct else "starttls", program=name, failed=True)
                continue
            link.slow()
            rounds = []
            for _ in range(max(1, options.rounds // 2)):
                mark, start = link.mark, time.monotonic()
                status = program()
                seconds = time.monotonic() - start
                if status == 0:
                    found = link.settled(mark)
                    rounds.append({"seconds": seconds, **{key: sum(one[key] for one in found) for key in ("trips", "up", "down")}, "connections": len(found)})
            report(part="send", server=server.name, configuration=what, tls="direct" if direct else "starttls", program=name,
                   trips=median(rounds, "trips"), seconds=median(rounds, "seconds"), up=median(rounds, "up"), down=median(rounds, "down"),
                   connections=median(rounds, "connections"))
        except (subprocess.TimeoutExpired, FileNotFoundError) as problem:
            report(part="send", server=server.name, tls="direct" if direct else "starttls", program=name, failed=type(problem).__name__)
    link.fast()
    beside = [row for row in RESULTS if row["part"] == "send" and row["server"] == server.name and row.get("configuration") == what
              and row["tls"] == ("direct" if direct else "starttls") and row.get("trips")]
    ours, others = [[row for row in beside if (row["program"] == "kalij") == is_ours] for is_ours in (True, False)]
    if ours and others:
        ratio = lambda value: round(value(ours[0]) / min(map(value, others)), 2)
        report(part="ratio", server=server.name, configuration=what, tls="direct" if direct else "starttls", trips=ratio(lambda row: row["trips"]),
               seconds=ratio(lambda row: row["seconds"]), bytes=ratio(lambda row: row["up"] + row["down"]))


def text(number):
    return "message %d of many, of a usual length, with words in it" % number


def waiting(folder, server, link, direct):
    # Needs python3-openssl, which the other parts do without.
    import logins
    kalij = Kalij(options.kalij, folder + "/waiting", server, link, direct)
    kalij.settle()
    bob, _ = logins.Account(server, "bob").steps()

    def say(number, body):
        bob.say("<message to='alice@localhost' type='chat' id='w%d'><body>%s</body></message>" % (number, body))
        bob.buffer = ""

    copy = one_copy(kalij, link, lambda number: say(number, "live, " + text(number))) * options.waiting
    for number in range(options.waiting):
        say(number, text(number))
        if number % 50 == 49:
            bob.receive(0.05)
    bob.quiet(1)
    bob.drop()
    link.slow()
    mark, start = link.mark, time.monotonic()
    run = kalij.run()
    shown = {}

    def last(line):
        if line["event"] == "message":
            body = line.get("body") or ""
            if body.startswith("message "):
                shown[body] = shown.get(body, 0) + 1
        return len(shown) >= options.waiting
    try:
        _, moment, _ = run.wait(last, 60 + options.waiting * 1.2)
        seconds = round(moment - start, 1)
    except TimeoutError:
        seconds = None
    found = link.connections(mark)
    down, up = sum(one["down"] for one in found), sum(one["up"] for one in found)
    # The tail is read in the quiet.
    previous = -1
    while down_now(link, mark) != previous:
        previous = down_now(link, mark)
        time.sleep(35)
    total = down_now(link, mark)
    time.sleep(62)
    run.end()
    time.sleep(0.5)
    again, begun = link.mark, time.monotonic()
    run = kalij.run()
    _, moment, _ = run.wait(lambda line: line["event"] == "online", 90)
    time.sleep(20)
    later = link.connections(again)
    run.end()
    link.fast()
    report(part="waiting", server=server.name, tls="direct" if direct else "starttls", messages=options.waiting, shown=len(shown),
           twice=sum(count > 1 for count in shown.values()), seconds=seconds, up=up, down=down, copy=round(copy), copies=round(down / copy, 2),
           lost=len(found) - 1, with_tail=total, reconnect_seconds=round(moment - begun, 1),
           reconnect_up=sum(one["up"] for one in later), reconnect_down=sum(one["down"] for one in later))


def one_copy(kalij, link, say, count=50):
    """Bytes of a message that comes at once."""
    mark = link.mark
    run = kalij.run()
    index, _, _ = run.wait(lambda line: line["event"] == "caught_up", 30)
    time.sleep(3)
    before = down_now(link, mark)
    for number in range(count):
        say(number)
    for _ in range(count):
        index, _, _ = run.wait(lambda line: line["event"] == "message", 30, index + 1)
    time.sleep(2)
    after = down_now(link, mark)
    run.end()
    return (after - before) / count


def down_now(link, mark):
    return sum(one["down"] for one in link.connections(mark))


def beside(names):
    """Each server in a process of its own. Most of the time is waiting."""
    with tempfile.TemporaryDirectory(prefix="kalij-links-") as folder:
        words = [arg for arg in sys.argv if arg != "--beside"]
        running = [(name, subprocess.Popen([sys.executable, *words, "--servers", name, "--json", folder + "/" + name])) for name in names]
        bad = [name for name, process in running if process.wait() != 0]
        for name in names:
            if os.path.exists(folder + "/" + name):
                with open(folder + "/" + name) as source:
                    RESULTS.extend(json.load(source))
        if bad:
            raise SystemExit("failed: " + ", ".join(bad))


def table():
    """The figures in columns."""
    for part in ("connect", "send", "ratio", "waiting"):
        rows = [row for row in RESULTS if row["part"] == part]
        names = list(dict.fromkeys(name for row in rows for name in row if name != "part"))
        cells = [names] + [[str(row.get(name, "")) for name in names] for row in rows]
        widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
        if rows:
            print("\n" + part)
        for line in cells if rows else []:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def main():
    if options.beside:
        beside(options.servers.split(","))
        finish()
        table()
        return
    parts = options.only.split(",")
    for name in options.servers.split(","):
        if name.endswith("13") and "KALIJ_DEBIAN13" not in os.environ:
            print("%s is left out: KALIJ_DEBIAN13 names no folder (Scripts/debian13-servers)" % name)
            continue
        for what, more in configurations(name):
            with tempfile.TemporaryDirectory(prefix="kalij-links-") as folder:
                server = servers.Server(name, folder + "/server", **more)
                link = Link(server)
                try:
                    for direct in (False, True):
                        if "connect" in parts:
                            connect(folder, server, link, what, direct)
                        if "send" in parts and what in ("as installed", "flight"):
                            send(folder, server, link, direct, what)
                    if "waiting" in parts and options.waiting and what == "as installed":
                        waiting(folder, server, link, True)
                finally:
                    link.end()
                    server.stop()
    finish()


def finish():
    if options.json:
        with open(options.json, "w") as target:
            json.dump(RESULTS, target, indent=1)


main()

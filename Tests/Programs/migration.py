#!/usr/bin/python3
"""Opens databases of former versions with many messages: how long the migration takes, that it can be killed at any moment, and that it
says what it does.

usage: migration.py KALIJ ROWS [KILLS]       exit status 1 if a migration takes over a minute, loses a row, or is silent
"""
import os, random, shutil, signal, sqlite3, subprocess, sys, tempfile, time

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../KalijClientTests/Fixtures")
# Seconds of the longest migration of a million rows.
LIMIT = 60


def fill(path, version, rows):
    """A database of the version, with so many messages in 500 conversations, beside its own."""
    database = sqlite3.connect(path)
    database.executescript(open(f"{FIXTURES}/version{version}.sql").read())
    columns = [row[1] for row in database.execute("PRAGMA table_info(message)")]
    values = {
        "id": "1000 + n", "account": "(SELECT min(id) FROM account)", "direction": "CASE n % 3 WHEN 0 THEN 'out' ELSE 'in' END",
        "conversation": "'contact' || (n % 500) || '@example.net'", "position": "1000 + n", "archive": "''",
        "stanza_id": "lower(hex(randomblob(16)))", "message_id": "lower(hex(randomblob(16)))", "origin_id": "NULL",
        "sender": "'contact' || (n % 500) || '@example.net/phone'", "recipient": "'juliet@example.org'", "type": "'chat'",
        "body": "'But soft, what light through yonder window breaks? It is line ' || n", "sent_at": "1700000000000 + n * 1000",
        "received_at": "CASE n % 6 WHEN 0 THEN NULL ELSE 1700000000000 + n * 1000 END", "state": "CASE n % 3 WHEN 0 THEN 'acked' END",
    }
    used = [column for column in columns if column in values]
    database.execute(
        f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) "
        f"INSERT INTO message({', '.join(used)}) SELECT {', '.join(values[column] for column in used)} FROM c")
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def state(path):
    """How many messages there are, the names of the migrations made, and whether the file is whole."""
    database = sqlite3.connect(path)
    count = database.execute("SELECT count(*) FROM message").fetchone()[0]
    has = database.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'migration'").fetchone()[0]
    made = {row[0] for row in database.execute("SELECT name FROM migration")} if has else set()
    whole = database.execute("PRAGMA quick_check").fetchone()[0]
    database.close()
    return count, made, whole


def opening(kalij, data):
    """Any command: the first one migrates."""
    return [kalij, "--data", data, "status"]


def main():
    kalij, rows = sys.argv[1], int(sys.argv[2])
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    failures = 0
    for version in (1, 2):
        folder = tempfile.mkdtemp(prefix="kalij-migration-")
        try:
            os.chmod(folder, 0o700)
            fill(folder + "/former.db", version, rows)
            before = state(folder + "/former.db")
            data = folder + "/data"

            def former():
                shutil.rmtree(data, ignore_errors=True)
                os.mkdir(data, 0o700)
                shutil.copy(folder + "/former.db", data + "/kalij.db")
                os.chmod(data + "/kalij.db", 0o600)

            former()
            begin = time.monotonic()
            run = subprocess.run(opening(kalij, data), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            seconds = time.monotonic() - begin
            after = state(data + "/kalij.db")
            says = run.stderr.strip().replace("\n", "; ")
            good = (run.returncode == 0 and after[0] >= before[0] and after[2] == "ok" and after[1] and seconds <= LIMIT and "bringing" in says)
            print(f"version {version}, {rows} messages: {seconds:.1f} s (at most {LIMIT}), {len(after[1])} migrations, "
                  f"status {run.returncode}, says \"{says}\"{'' if good else ': FAILED'}", flush=True)
            failures += not good
            unfinished = 0
            former()
            for _ in range(kills):
                if state(data + "/kalij.db")[1] == after[1]:
                    former()
                process = subprocess.Popen(opening(kalij, data), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(random.uniform(0, seconds))
                process.send_signal(signal.SIGKILL)
                process.wait()
                now = state(data + "/kalij.db")
                unfinished += now[1] != after[1]
                if now[0] < before[0] or now[2] != "ok" or now[1] not in (before[1], after[1]):
                    failures += 1
                    print(f"  FAILED after a kill: {now[0]} of {before[0]} messages, {len(now[1])} migrations, {now[2]}", flush=True)
            run = subprocess.run(opening(kalij, data), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            now = state(data + "/kalij.db")
            good = run.returncode == 0 and now[1] == after[1] and now[0] >= before[0] and now[2] == "ok"
            failures += not good
            print(f"  {kills} kills, {unfinished} of them before the end; then migrated, {now[0]} messages{'' if good else ': FAILED'}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""A bot that answers each message once, whichever process is killed: usage bot.py KALIJ DATA STATE RUNS

The bot reads `kalij run --json --since N`, answers each message with a `send` with an id made from the message, waits
until the answer is accepted, and only then stores the event's number in the file STATE. When KALIJ's `run` has ended,
the bot starts another. RUNS gets the pid of each.
"""
import json, os, subprocess, sys, time

kalij, data, state, runs = sys.argv[1:5]


def stored():
    try:
        with open(state) as file:
            return int(file.read())
    except FileNotFoundError:
        return 0


def store(number):
    with open(state + ".new", "w") as file:
        file.write(str(number))
    os.rename(state + ".new", state)


def answer(run, event):
    command = {
        "command": "send", "to": event["from"].split("/")[0], "body": "answer to " + event["body"],
        "origin_id": "answer-%d" % event["id"]}
    run.stdin.write(json.dumps(command) + "\n")
    run.stdin.flush()


def serve():
    since = stored()
    run = subprocess.Popen(
        [kalij, "--data", data, "--json", "run", "--since", str(since)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True)
    with open(runs, "a") as file:
        file.write("%d\n" % run.pid)
    waiting = []  # numbers in order: of events, and whether they are handled
    try:
        for line in run.stdout:
            event = json.loads(line)
            if event["event"] == "error":
                sys.exit("error: " + line)
            if event["event"] == "accepted":
                # Answers come in the order of the commands.
                next(entry for entry in waiting if not entry[1])[1] = True
            if "number" in event:
                if event["number"] <= since:
                    sys.exit("number %d after %d" % (event["number"], since))
                since = event["number"]
                isToAnswer = event["event"] == "message" and event["direction"] == "in" and event.get("body")
                waiting.append([event["number"], not isToAnswer])
                if isToAnswer:
                    answer(run, event)
            done = 0
            while waiting and waiting[0][1]:
                done = waiting.pop(0)[0]
            if done:
                store(done)
    except BrokenPipeError:
        pass
    run.kill()
    run.wait()


while True:
    serve()
    time.sleep(0.05)

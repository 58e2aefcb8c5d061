#!/usr/bin/python3
"""with_lxml.py STREAM CHUNK PASSES: the same with lxml, through its feed interface; each complete stanza is dropped,
like in a client. Prints the CPU time of each pass in milliseconds."""
import sys, time
from lxml import etree


def read(chunks):
    parser = etree.XMLPullParser(events=("start", "end"), huge_tree=True, resolve_entities=False)
    events, depth, count, root = parser.read_events(), 0, 0, None
    for chunk in chunks:
        parser.feed(chunk)
        for event, element in events:
            if event == "start":
                depth += 1
                root = element if root is None else root
            else:
                depth -= 1
                if depth == 1:
                    count += 1
                    root.remove(element)
    return count


data = open(sys.argv[1], "rb").read()
size = int(sys.argv[2])
chunks = [data[start:start + size] for start in range(0, len(data), size)]
for _ in range(int(sys.argv[3])):
    start = time.process_time()
    read(chunks)
    print((time.process_time() - start) * 1000)

#!/usr/bin/python3
"""Reads documents with lxml and writes what is in them, in a form that two programs can write alike.

Input, for each document a line and a block: "<length>\n" document
Output, for each document a line and a block:
  "+ <flags> <length>\n" dump    accepted; flags, "-" if there are none:
      D document type declaration, C comment, P processing instruction, T text between the stanzas,
      E another encoding than UTF-8 declared
  "- <length>\n" message         refused

The dump of a stream: one line for its root, whose text is left out, and one for each child, whose tail is left out.
    root      the element without its content, then "|" and the default namespace
    element   "<" name { " " attribute "=" value } ">" { text | element } "/"
    text      '"' and the text
Each name, value and text has its length in bytes before it ("3:abc"), names as {namespace}local, attributes sorted by
name. Text between two elements is one text.
"""
import sys

from lxml import etree


def measured(text):
    data = text.encode()
    return b"%d:%s" % (len(data), data)


def opening(element):
    out = [b"<", measured(element.tag)]
    pairs = [(key.encode(), value) for key, value in element.attrib.items()]
    for key, value in sorted(pairs):
        out.append(b" %d:%s=" % (len(key), key) + measured(value))
    out.append(b">")
    return out


def content(element, out):
    out += opening(element)
    if element.text:
        out += [b'"', measured(element.text)]
    for child in element:
        content(child, out)
        if child.tail:
            out += [b'"', measured(child.tail)]
    out.append(b"/")


def is_text(text):
    return bool(text) and bool(text.strip(" \t\r\n"))


def flags_of(root, tree):
    flags = set()
    if tree.docinfo.doctype or tree.docinfo.internalDTD is not None:
        flags.add("D")
    if (tree.docinfo.encoding or "UTF-8").upper() != "UTF-8":
        flags.add("E")
    around = list(root.itersiblings()) + list(root.itersiblings(preceding=True)) + list(root.iter())
    for node in around:
        if node.tag is etree.Comment:
            flags.add("C")
        elif node.tag is etree.ProcessingInstruction:
            flags.add("P")
    if is_text(root.text) or any(is_text(child.tail) for child in root):
        flags.add("T")
    return "".join(sorted(flags)) or "-"


def main():
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.setrecursionlimit(10_000)
    while line := source.readline():
        document = source.read(int(line))
        parser = etree.XMLParser(resolve_entities=True, no_network=True, huge_tree=True, remove_blank_text=False)
        try:
            root = etree.fromstring(document, parser)
        except etree.XMLSyntaxError as error:
            message = str(error).encode("utf-8", "replace")
            target.write(b"- %d\n%s" % (len(message), message))
            continue
        # lxml itself goes by the last error alone, and a warning may follow an error.
        errors = parser.error_log.filter_from_errors()
        if errors:
            message = errors[0].message.encode("utf-8", "replace")
            target.write(b"- %d\n%s" % (len(message), message))
            continue
        flags = flags_of(root, root.getroottree())
        lines = []
        if "C" not in flags and "P" not in flags:
            standard = (root.nsmap.get(None) or "").encode()
            lines.append(b"".join(opening(root)) + b"|" + standard)
            for child in root:
                out = []
                content(child, out)
                lines.append(b"".join(out))
        dump = b"\n".join(lines)
        target.write(b"+ %s %d\n%s" % (flags.encode(), len(dump), dump))


main()

import CYardstickXML2
import FoundationEssentials
import KalijXML

// hostile CASE [CHUNK]: the cost of a stream made to hurt, in CPU time and peak memory of the process.
func shortName(_ number: Int) -> String {
    var (text, rest) = ("", number)
    repeat {
        text.unicodeScalars.append(Unicode.Scalar(UInt8(97 + rest % 26)))
        rest /= 26
    } while rest > 0
    return text
}
let cases: [String: (begin: String, fill: (Int) -> String, end: String)] = [
    "idle": ("<a/>", { _ in "" }, ""),
    "text": ("<m><b>", { _ in "yyyyyyyyyyyyyyyy" }, ""),
    "nested": ("<m>", { _ in "<a>" }, ""),
    "flat": ("<m>", { _ in "<a/>" }, ""),
    "pairs": ("<m>", { _ in "<a><b/></a>" }, ""),
    "attributes-flat": ("<m>", { _ in "<a b=''/>" }, ""),
    "attribute": ("<m a='", { _ in "yyyyyyyyyyyyyyyy" }, ""),
    "attribute-gt": ("<m a='", { _ in "yyyyyyyyyyyyyyy>" }, ""),
    "attribute-references": ("<m a='", { _ in "&amp;" }, ""),
    "attribute-ended": ("<m a='", { $0 % 900_000 < 899_999 ? "yyyyyyyyyyyyyyyy" : "'/><m a='" }, ""),
    "values": ("<m", { " a\($0)='\(String(repeating: "y", count: 10_000))'" }, ""),
    "name": ("<m ", { _ in "aaaaaaaaaaaaaaaa" }, ""),
    "short-names": ("<m>", { "<\(shortName($0))/>" }, ""),
    "attributes": ("<m", { " a\($0)=''" }, ""),
    "section": ("<m><![CDATA[", { _ in "yyyyyyyyyyyyyyyy" }, ""),
    "section-gt": ("<m><![CDATA[", { _ in "yyyyyyyyyyyyyyy>" }, ""),
    "names": ("<m>", { "<a\($0)/>" }, ""),
    "declarations": ("<m>", { "<a xmlns:p\($0)='u'>" }, ""),
    "mixed-soft": ("<m>", { $0 % 30_000 == 29_999 ? "</m><m>" : "<a> </a>" }, ""),
    "new-names": ("<m>", { $0 % 1_000 == 999 ? "</m><m>" : "<a\($0) b\($0)='c'/>" }, ""),
]
let arguments = CommandLine.arguments
guard arguments.count > 1, let hostile = cases[arguments[1]] else {
    print(cases.keys.sorted().joined(separator: " "))
    exit(64)
}
let chunk = arguments.count > 2 ? Int(arguments[2]) ?? 1_400 : 1_400
let parser = StreamParser()
var (sent, number, events) = (0, 0, 0)
var outcome = "\(100_000_000) bytes read"
do {
    try parser.feed(Array("<stream xmlns='jabber:client'>\(hostile.begin)".utf8)) { _ in }
    var pending: [UInt8] = []
    while sent < 100_000_000, number >= 0 {
        while pending.count < chunk {
            let more = hostile.fill(number)
            if more.isEmpty { break }
            pending += Array(more.utf8)
            number += 1
        }
        if pending.isEmpty { break }
        try parser.feed(pending) { _ in events += 1 }
        sent += pending.count
        pending.removeAll(keepingCapacity: true)
    }
} catch {
    outcome = "after \(sent) bytes: \(error)"
}
let status = (try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)) ?? ""
let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
print(
    "\(arguments[1]): \(floor_cpu_seconds()) s, \(peak.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]) kB, \(events) events, \(outcome)"
)

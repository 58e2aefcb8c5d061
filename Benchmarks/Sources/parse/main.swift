import CYardstickXML2
import FoundationEssentials
import Glibc
import KalijXML

// parse STREAM [CHUNK [PASSES]]: CPU time of reading a stream into trees against libxml2 with empty callbacks, pass by
// pass in turn, the last 100 stanzas kept alive, all limits on. One JSON line; times in milliseconds.
// parse - [CHUNK]: reads a stream of any length from standard input once; prints how many stanzas it held.
let arguments = CommandLine.arguments
let path = arguments.count > 1 ? arguments[1] : "-"
let chunk = arguments.count > 2 ? max(Int(arguments[2]) ?? 1_400, 1) : 1_400
let passes = arguments.count > 3 ? max(Int(arguments[3]) ?? 20, 1) : 20
// "floor" or "ours": only this one, for a profiler.
let only = arguments.count > 4 ? arguments[4] : ""

/// Keeps the last 100 stanzas, as a client with some work to do would.
struct Kept {
    private var elements = [Element?](repeating: nil, count: 100)
    private(set) var count = 0

    mutating func take(_ event: consuming StreamParserEvent) {
        guard case .element(let element) = event else { return }
        elements[count % elements.count] = element
        count += 1
    }
}

func trees(_ bytes: UnsafeRawBufferPointer, _ kept: inout Kept) throws {
    let parser = StreamParser()
    for start in stride(from: 0, to: bytes.count, by: chunk) {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + chunk, bytes.count)])
        try parser.feed(piece) { event in kept.take(event) }
    }
}

func standardInput() throws -> Int {
    var kept = Kept()
    let parser = StreamParser()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 8)
    defer { buffer.deallocate() }
    while true {
        let count = read(0, buffer.baseAddress, chunk)
        guard count > 0 else { break }
        try parser.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { event in kept.take(event) }
    }
    try parser.finish { _ in }
    return kept.count
}

struct Spread: Encodable {
    var minimum: Double
    var median: Double
    var maximum: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        (minimum, median, maximum) = (sorted[0], sorted[sorted.count / 2], sorted[sorted.count - 1])
    }
}

struct Report: Encodable {
    var bytes: Int
    var elements: Int
    var stanzas: Int
    var passes: Int
    var floor: Spread
    var trees: Spread
    var ratio: Spread
}

func compare(_ input: Data) throws -> Report {
    var kept = Kept()
    var (floors, ours): ([Double], [Double]) = ([], [])
    var elements = 0
    try input.withUnsafeBytes { bytes in
        for pass in 0..<(passes + 2) {
            kept = Kept()
            let start = floor_cpu_seconds()
            if only != "ours" {
                elements = floor_parse(bytes.bindMemory(to: CChar.self).baseAddress, bytes.count, Int32(chunk))
            }
            let middle = floor_cpu_seconds()
            if only != "floor" { try trees(bytes, &kept) }
            let end = floor_cpu_seconds()
            // Two passes to get warm.
            guard pass >= 2 else { continue }
            floors.append((middle - start) * 1_000)
            ours.append((end - middle) * 1_000)
        }
    }
    return Report(
        bytes: input.count, elements: elements, stanzas: kept.count, passes: passes, floor: Spread(floors),
        trees: Spread(ours), ratio: Spread(zip(ours, floors).map { $0 / $1 }))
}

if path == "-" {
    print("\(try standardInput()) stanzas")
} else {
    let report = try compare(try Data(contentsOf: URL(filePath: path)))
    print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
}

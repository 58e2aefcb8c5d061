import CYardstickXML2
import FoundationEssentials
import KalijXML

// parse [STREAM [CHUNK [PASSES]]]: CPU time of reading a stream into trees against libxml2 with empty callbacks, pass
// by pass in turn, the last 100 stanzas kept alive. STREAM is made by the yardstick's gen.py.
let arguments = CommandLine.arguments
let path = arguments.count > 1 ? arguments[1] : "stream.xml"
let chunk = arguments.count > 2 ? Int(arguments[2]) ?? 1_400 : 1_400
let passes = arguments.count > 3 ? Int(arguments[3]) ?? 20 : 20
guard let input = try? Data(contentsOf: URL(filePath: path)) else {
    print("cannot read \(path)")
    exit(66)
}

let only = arguments.count > 4 ? arguments[4] : ""
func trees(_ bytes: UnsafeRawBufferPointer, _ kept: inout [Element?]) throws -> Int {
    let parser = StreamParser()
    var count = 0
    for start in stride(from: 0, to: bytes.count, by: chunk) {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + chunk, bytes.count)])
        try parser.feed(piece) { event in
            if case .element(let element) = event {
                kept[count % kept.count] = element
                count += 1
            }
        }
    }
    return count
}

var kept = [Element?](repeating: nil, count: 100)
var (floors, ours): ([Double], [Double]) = ([], [])
try input.withUnsafeBytes { bytes in
    for pass in 0..<(passes + 2) {
        let start = floor_cpu_seconds()
        let elements =
            only == "ours" ? 1 : floor_parse(bytes.bindMemory(to: CChar.self).baseAddress, bytes.count, Int32(chunk))
        let middle = floor_cpu_seconds()
        let stanzas = only == "floor" ? 1 : try trees(bytes, &kept)
        let end = floor_cpu_seconds()
        if pass == 0 { print("\(elements) elements, \(stanzas) stanzas, \(bytes.count) bytes, chunks of \(chunk)") }
        guard pass >= 2 else { continue }
        floors.append(middle - start)
        ours.append(end - middle)
    }
}
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
let ratios = zip(ours, floors).map { $0 / $1 }
print("floor \(median(floors) * 1000) ms, trees \(median(ours) * 1000) ms, ratio \(median(ratios))")

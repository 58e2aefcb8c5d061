import Foundation

/// Stored forms of released versions: a line of hexadecimal digits each, text after `#`. Never changed: later versions
/// must read all of them.
enum Fixture {
    struct Damaged: Error {}

    static func bytes(_ name: String) throws -> [UInt8] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(name).hex")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let digits = lines.joined()
        guard digits.count.isMultiple(of: 2) else { throw Damaged() }
        return try stride(from: 0, to: digits.count, by: 2).map { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            guard let byte = UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) else { throw Damaged() }
            return byte
        }
    }
}

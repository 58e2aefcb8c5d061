/// Finds where a text is not JSON (RFC 8259), and duplicate keys in an object; Foundation reports neither.
struct JSONValidator {
    /// A fault and its place, in lines and columns from 1.
    struct Fault: Error, Equatable, CustomStringConvertible {
        var line: Int
        var column: Int
        var reason: String

        var description: String { "\(reason) at line \(line), column \(column)" }
    }

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Throws: ``Fault``, the first in the text.
    static func check(_ bytes: [UInt8]) throws(Fault) {
        var check = JSONValidator(bytes)
        try check.value(depth: 0)
        check.skipSpace()
        guard check.position == bytes.count else { throw check.fault("something follows the end") }
    }

    private func fault(_ reason: String) -> Fault {
        let before = bytes.prefix(position)
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return Fault(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: position - start + 1, reason: reason)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    }

    private mutating func consume(_ character: Character) -> Bool {
        guard let byte = next, byte == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Fault) {
        skipSpace()
        guard depth < 64 else { throw fault("too deep") }
        guard let byte = next else { throw fault("the text ends too early") }
        switch Character(Unicode.Scalar(byte)) {
        case "{": try object(depth)
        case "[": try array(depth)
        case "\"": _ = try string()
        case "t": try consumeLiteral("true")
        case "f": try consumeLiteral("false")
        case "n": try consumeLiteral("null")
        case "-", "0"..."9": number()
        default: throw fault("a value is missing")
        }
    }

    private mutating func object(_ depth: Int) throws(Fault) {
        position += 1
        skipSpace()
        if consume("}") { return }
        var keys: Set<String> = []  // characters: two spellings of a key are one.
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw fault("a key in quotation marks is missing") }
            let start = position
            let key = try string()
            guard keys.insert(key).inserted else {
                position = start
                throw fault("the key \"\(key)\" stands twice")
            }
            skipSpace()
            guard consume(":") else { throw fault("\":\" is missing") }
            try value(depth: depth + 1)
            skipSpace()
            if consume("}") { return }
            guard consume(",") else { throw fault("\",\" or \"}\" is missing") }
        }
    }

    private mutating func array(_ depth: Int) throws(Fault) {
        position += 1
        skipSpace()
        if consume("]") { return }
        while true {
            try value(depth: depth + 1)
            skipSpace()
            if consume("]") { return }
            guard consume(",") else { throw fault("\",\" or \"]\" is missing") }
        }
    }

    /// The characters between the quotation marks, unchanged.
    private mutating func string() throws(Fault) -> String {
        position += 1
        let start = position
        while let byte = next {
            if byte == UInt8(ascii: "\"") {
                position += 1
                return String(decoding: bytes[start..<(position - 1)], as: UTF8.self)
            }
            if byte < 0x20 { throw fault("a string goes over the end of its line") }
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        position = bytes.count
        throw fault("the text ends within a string")
    }

    private mutating func consumeLiteral(_ word: String) throws(Fault) {
        guard bytes[position...].starts(with: word.utf8) else { throw fault("a value is missing") }
        position += word.utf8.count
    }

    /// Foundation checks the form of a number.
    private mutating func number() {
        while let byte = next, "+-.eE0123456789".utf8.contains(byte) { position += 1 }
    }
}

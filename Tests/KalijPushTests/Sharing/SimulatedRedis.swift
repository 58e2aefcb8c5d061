@testable import KalijPush

/// As much of Redis as nodes use, as a value. `RedisTests` compares it with the real one.
struct SimulatedRedis {
    struct ID: Comparable, Hashable {
        var high: UInt64
        var low: UInt64

        static func < (one: ID, other: ID) -> Bool { (one.high, one.low) < (other.high, other.low) }

        var text: [UInt8] { Array("\(high)-\(low)".utf8) }

        /// - Parameter low: for a text without a second number.
        init?(_ text: String, low: UInt64 = 0) {
            let parts = text.split(separator: "-", maxSplits: 1)
            guard let first = parts.first, let high = UInt64(first) else { return nil }
            self.high = high
            self.low = low
            guard parts.count == 2 else { return }
            guard let second = UInt64(parts[1]) else { return nil }
            self.low = second
        }
    }

    struct Stream {
        var entries: [(id: ID, field: [UInt8], value: [UInt8])] = []
        var last = ID("0-0")
    }

    var streams: [String: Stream] = [:]
    /// No memory is left.
    var isFull = false

    /// - Parameter time: since 1970, in milliseconds.
    mutating func execute(_ words: [[UInt8]], time: Milliseconds) -> RESP {
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        switch texts.first {
        case "AUTH": return .status("OK")
        case "TIME": return .array([text("\(time / 1000)"), text("\(time % 1000 * 1000)")])
        case "XINFO": return end(of: texts[2])
        case "XADD": return add(texts[1], texts[2], words[3], words[4])
        case "XREAD": return read(texts)
        case "XTRIM": return trim(texts[1], texts[3])
        case "FLUSHALL":
            streams = [:]
            return .status("OK")
        default: return .error("ERR unknown command '\(texts.first ?? "")'")
        }
    }

    private func text(_ text: String) -> RESP { .text(Array(text.utf8)) }

    private func end(of key: String) -> RESP {
        guard let last = streams[key]?.last else { return .error("ERR no such key") }
        return .array([text("length"), .integer(0), text("last-generated-id"), .text(last.text)])
    }

    private mutating func add(_ key: String, _ id: String, _ field: [UInt8], _ value: [UInt8]) -> RESP {
        if isFull { return .error("OOM command not allowed when used memory > 'maxmemory'.") }
        guard let id = ID(id) else {
            return .error("ERR Invalid stream ID specified as stream command argument")
        }
        if id == ID("0-0") { return .error("ERR The ID specified in XADD must be greater than 0-0") }
        var stream = streams[key] ?? Stream()
        if let last = stream.last, id <= last {
            return .error("ERR The ID specified in XADD is equal or smaller than the target stream top item")
        }
        stream.entries.append((id, field, value))
        stream.last = id
        streams[key] = stream
        return .text(id.text)
    }

    private func read(_ words: [String]) -> RESP {
        let names = words.dropFirst(4)
        let keys = Array(names.prefix(names.count / 2))
        let places = Array(names.suffix(names.count / 2))
        let limit = Int(words[2]) ?? 0
        var found: [RESP] = []
        for (key, place) in zip(keys, places) {
            guard let stream = streams[key], let after = ID(place) else { continue }
            var (low, high) = (0, stream.entries.count)
            while low < high {
                let middle = (low + high) / 2
                if stream.entries[middle].id > after { high = middle } else { low = middle + 1 }
            }
            let entries = stream.entries[low...].prefix(limit).map { entry -> RESP in
                .array([.text(entry.id.text), .array([.text(entry.field), .text(entry.value)])])
            }
            if !entries.isEmpty { found.append(.array([text(key), .array(entries)])) }
        }
        return found.isEmpty ? .null : .array(found)
    }

    private mutating func trim(_ key: String, _ least: String) -> RESP {
        guard let least = ID(least), var stream = streams[key] else { return .integer(0) }
        let before = stream.entries.count
        stream.entries.removeAll { $0.id < least }
        streams[key] = stream
        return .integer(Int64(before - stream.entries.count))
    }
}

import TestSupport

/// Damages a stream: most results are no longer well-formed, some are, and some are another well-formed stream.
enum Damage {
    private static let insertions = [
        "<!-- c -->", "<?pi x?>", "<!DOCTYPE a>", "&foo;", "&#0;", "&#xD800;", "&#x110000;", "<", ">", "&", "]]>",
        "<![CDATA[", "xmlns:p=''", " xmlns='urn:a b'", "\u{0}", "\u{1}", "\u{FFFE}", "'", "\"", "</", "/>", ":", "p:",
        " a='1'", " a='1' a='2'", "<a>", "</a>", "<p:a/>", " xmlns:xml='urn:a'", " xmlns:xmlns='urn:a'", "text", "\r",
    ]

    static func damage(_ stream: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var bytes = stream
        for _ in 0...random.below(2) {
            guard bytes.count > 2 else { break }
            switch random.below(8) {
            case 0: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
            case 1: bytes[random.below(bytes.count)] = UInt8(random.below(256))
            case 2: bytes.removeLast(random.below(min(bytes.count, 200)) + 1)
            case 3: bytes.remove(at: random.below(bytes.count))
            case 4, 5:
                let place = random.chance(50) ? random.below(bytes.count) : tagEdge(bytes, &random)
                bytes.insert(contentsOf: Array(random.pick(insertions).utf8), at: place)
            case 6: swapTags(&bytes, &random)
            default:
                let place = random.below(bytes.count)
                let piece = bytes[place..<min(place + random.below(30), bytes.count)]
                bytes.insert(contentsOf: Array(piece), at: random.below(bytes.count))
            }
        }
        return bytes
    }

    /// A place where a tag begins or has ended.
    private static func tagEdge(_ bytes: [UInt8], _ random: inout Seeded) -> Int {
        let start = random.below(bytes.count)
        let edge = bytes[start...].firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") } ?? start
        return bytes[edge] == UInt8(ascii: ">") ? edge + 1 : edge
    }

    /// Two tags change places.
    private static func swapTags(_ bytes: inout [UInt8], _ random: inout Seeded) {
        let starts = bytes.indices.filter { bytes[$0] == UInt8(ascii: "<") }
        guard starts.count > 2 else { return }
        let (one, other) = (random.pick(starts), random.pick(starts))
        let (first, second) = (min(one, other), max(one, other))
        guard let end = bytes[first...].firstIndex(of: UInt8(ascii: ">")), end < second,
            let otherEnd = bytes[second...].firstIndex(of: UInt8(ascii: ">"))
        else { return }
        let swapped =
            Array(bytes[second...otherEnd]) + Array(bytes[(end + 1)..<second]) + Array(bytes[first...end])
        bytes.replaceSubrange(first...otherEnd, with: swapped)
    }
}

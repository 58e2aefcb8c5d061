import KalijXML

/// The parts of a message's texts that are fallbacks for clients without support for an extension (XEP-0428): `<fallback/>` elements
/// with ranges of code points, for the extensions that this client processes instead.
package struct Fallback {
    package static let namespace = "urn:xmpp:fallback:0"

    private let message: Element
    /// The namespaces of the processed extensions, whose fallbacks are removed.
    private let replaced: Set<String>

    package init(in message: Element, for replaced: Set<String>) { (self.message, self.replaced) = (message, replaced) }

    /// Whether a part of the message is a fallback for `namespace`.
    package static func isDeclared(for namespace: String, in message: Element) -> Bool {
        message.children("fallback", Self.namespace).contains { $0["for"] == namespace }
    }

    /// `text`, of the element called `name`, without the parts that are fallbacks.
    package func rest(of text: String, in name: String) -> String {
        guard !replaced.isEmpty else { return text }
        let scalars = Array(text.unicodeScalars)
        let ranges = ranges(in: name, of: scalars.count)
        guard !ranges.isEmpty else { return text }
        var (rest, place) = (String.UnicodeScalarView(), 0)
        for range in ranges {
            rest.append(contentsOf: scalars[place..<range.lowerBound])
            place = range.upperBound
        }
        rest.append(contentsOf: scalars[place...])
        return String(rest)
    }

    /// `text` without its fallbacks, if all of them look like quotes: for messages whose ranges any intermediary could have written.
    package func restWithoutQuotes(of text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        let areQuotes = ranges(in: "body", of: scalars.count).allSatisfy { range in
            // characters: scalars.
            let lines = scalars[range].split(separator: "\n", omittingEmptySubsequences: true)
            let isWhole =
                (range.lowerBound == 0 || scalars[range.lowerBound - 1] == "\n")
                && (range.upperBound == scalars.count || scalars[range].last == "\n")
            return isWhole && lines.allSatisfy { $0.first == ">" }
        }
        return areQuotes ? rest(of: text, in: "body") : text
    }

    /// The parts of a text with `count` code points, in order, without overlaps.
    private func ranges(in name: String, of count: Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        let language = message.childInOwnLanguage(name, "jabber:client")?["xml:lang"]
        for fallback in message.children("fallback", Self.namespace) {
            guard let namespace = fallback["for"], replaced.contains(namespace) else { continue }
            let regions = fallback.children
            if regions.isEmpty { ranges.append(0..<count) }
            ranges += regions.filter { $0.name == name && isIn(language, $0) }.compactMap { Self.range($0, of: count) }
        }
        return ranges.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, next in
            guard let last = merged.last, next.lowerBound <= last.upperBound else { return merged.append(next) }
            merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
        }
    }

    /// Whether a region applies to the text in this language.
    private func isIn(_ language: String?, _ region: Element) -> Bool {
        region["xml:lang"].map { $0 == language ?? message["xml:lang"] } ?? true
    }

    /// The region of a text with `count` code points: without attributes all of it; nil if it is malformed.
    private static func range(_ region: Element, of count: Int) -> Range<Int>? {
        func place(_ name: String, _ missing: Int) -> Int? {
            guard let text = region[name] else { return missing }
            return UInt32(text).map { min(Int($0), count) }  // fits: 32 bits
        }
        guard let start = place("start", 0), let end = place("end", count), start <= end else { return nil }
        return start..<end
    }
}

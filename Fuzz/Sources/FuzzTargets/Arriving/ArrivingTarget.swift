import KalijAddress
import KalijStore
import KalijXML

/// Stanzas of strangers arrive at an account that is in a room, with a database of its own. The input chooses the stanzas, the names in
/// every place of an identifier, and the texts.
///
/// Checked: two canonically equivalent names cause the same events and rows as two unrelated names, so that nothing mixes; and of
/// Characters of 100 kB no more than the limits in bytes is stored beside messages.
func fuzzArriving(_ input: UnsafeRawBufferPointer) throws {
    var source = ByteSource(input)
    let isLarge = source.oneIn(8)
    let letters = String(
        source.text().utf8.filter { (0x61...0x7A).contains($0) }.prefix(9).map { Character(Unicode.Scalar($0)) })
    if isLarge {
        let text = LargeText.texts(&source)
        let script = ArrivingScript(&source, mostSteps: 4)
        let account = try ArrivingAccount()
        _ = try script.play(to: account, one: letters + "k", other: letters + "\u{301}k", text: text)
        for (place, bytes) in try account.largest() {
            try require(bytes <= ArrivingAccount.mostBytes, "\(place) has \(bytes) bytes")
        }
        return
    }
    let pair = EquivalentPair(&source, isPrepared: true)
    let (one, other) = (letters + pair.one, letters + pair.other)
    let script = ArrivingScript(&source, mostSteps: 12)
    let (equivalent, unlike) = (try ArrivingAccount(), try ArrivingAccount())
    let events = try script.play(to: equivalent, one: one, other: other, text: "text")
    let wanted = try script.play(to: unlike, one: one, other: letters + "\u{4E27}", text: "text")
    try require(events == wanted, script.told(with: events, wanted))
    for (row, wanted) in try zip(equivalent.counts(), unlike.counts()) {
        try require(row == wanted, script.told(with: events) + "rows: \(row)\nwith unlike names: \(wanted)")
    }
}

/// What arrives, one after the other.
struct ArrivingScript {
    enum Step {
        /// A stanza, in which each `%` is the first name or the other.
        case stanza(String, isOther: [Bool])
        /// A new session begins, in which the account is in the room again.
        case session
        /// Everything is read that an application shows.
        case reading
    }

    let steps: [Step]

    init(_ source: inout ByteSource, mostSteps: Int) {
        var steps: [Step] = []
        while !source.isEmpty, steps.count < mostSteps {
            switch source.byte() {
            case 255: steps.append(.session)
            case 254: steps.append(.reading)
            case let number:
                let stanza = Self.stanzas[Int(number) % Self.stanzas.count]
                let bits = source.byte()
                let places = stanza.utf8.count { $0 == UInt8(ascii: "%") }
                steps.append(.stanza(stanza, isOther: (0..<places).map { bits >> ($0 & 7) & 1 == 1 }))
            }
        }
        self.steps = steps + [.reading]
    }

    /// The steps with the two names as 1 and 2, and the events of each.
    func told(with events: [[String]]...) -> String {
        steps.enumerated().map { number, step in
            let told = events.map { $0[number].joined(separator: " ") }.joined(separator: " | ")
            guard case .stanza(let stanza, let isOther) = step else { return "\(step): \(told)\n" }
            return "\(Self.filled(stanza, isOther.map { $0 ? "2" : "1" }, "text")): \(told)\n"
        }.joined()
    }

    /// - Returns: the names of the events of each step.
    func play(to account: ArrivingAccount, one: String, other: String, text: String) throws -> [[String]] {
        let text = Self.escaped(text)
        return try steps.map { step in
            switch step {
            case .session: return try account.begin()
            case .reading:
                try account.readAll()
                return []
            case .stanza(let stanza, let isOther):
                let filled = Self.filled(stanza, isOther.map { $0 ? other : one }, text)
                // A text may have what XML cannot.
                guard let element = try? Element.parse(Array(filled.utf8)) else { return [] }
                return try linear("a step", filled.utf8.count) { try account.receive(element) }
            }
        }
    }

    private static func filled(_ stanza: String, _ names: [String], _ text: String) -> String {
        var (filled, names) = ("", names[...])
        for scalar in stanza.unicodeScalars {
            switch scalar {
            case "%": filled += names.popFirst() ?? ""
            case "$": filled += text
            default: filled.unicodeScalars.append(scalar)
            }
        }
        return filled
    }

    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&apos;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}

import Foundation
import KalijAddress
import KalijStream
import KalijXML
import Testing

extension Negotiation.Configuration {
    /// The user of RFC 5802, 5, with the example's nonce.
    static func test(
        account: JID = .received("user@example.org"), credentials: Credentials = .password("pencil"),
        weakest: SASLMechanism? = nil
    ) -> Negotiation.Configuration {
        Negotiation.Configuration(
            account: account, credentials: credentials, nonce: "fyko+d2lbbFgONRv9qkxdawL", weakestMechanism: weakest)
    }
}

extension Element {
    /// An element of a stream; without the stream its namespace would not be jabber:client.
    static func parsed(_ xml: String) -> Element? {
        let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        let parser = Feeder()
        var found: Element?
        for event in (try? parser.feed(header + xml)) ?? [] {
            if case .element(let element) = event { found = element }
        }
        return found
    }
}

/// A conversation, written down line by line and played against a negotiation:
///
///     S: what the server sends; HEADER stands for its stream header
///     C: what has to be sent next; HEADER for the beginning of ours, ANY for anything
///     *  what the owner tells
///     !  what the owner has to be told next
///
/// Text in braces stands for its Base64. All actions must be in the transcript.
struct Transcript {
    /// How a play ended.
    struct Played {
        var negotiation: Negotiation
        var keys: SCRAMKeys?
    }

    private let configuration: Negotiation.Configuration

    init(_ configuration: Negotiation.Configuration = .test()) { self.configuration = configuration }

    @discardableResult
    func play(_ script: String) throws -> Played {
        var play = Play(configuration)
        for line in script.split(separator: "\n", omittingEmptySubsequences: true) {
            let line = encodeBraces(String(line))
            if line.hasPrefix("S: ") {
                try play.serverSends(String(line.dropFirst(3)))
            } else if line.hasPrefix("C: ") {
                play.expectSent(String(line.dropFirst(3)))
            } else if line.hasPrefix("* ") {
                try play.ownerTells(line.dropFirst(2).split(separator: " ").map(String.init))
            } else if line.hasPrefix("! ") {
                play.expectTold(String(line.dropFirst(2)))
            } else {
                Issue.record("no line of a transcript: \(line)")
            }
        }
        play.expectNothing(before: "the end")
        return Played(negotiation: play.negotiation, keys: play.keys)
    }

    private func encodeBraces(_ line: String) -> String {
        guard let open = line.firstIndex(of: "{"), let close = line.lastIndex(of: "}") else { return line }
        let inside = Data(line[line.index(after: open)..<close].utf8).base64EncodedString()
        return line[..<open] + inside + line[line.index(after: close)...]
    }
}

/// Feeds a parser and gathers the results.
struct Feeder {
    private let parser = StreamParser()

    func feed(_ text: String) throws -> [StreamParserEvent] {
        var events: [StreamParserEvent] = []
        try parser.feed(Array(text.utf8)) { events.append($0) }
        return events
    }
}

private struct Play {
    var negotiation: Negotiation
    var keys: SCRAMKeys?
    private var feeder = Feeder()
    private var pending: [Negotiation.Action] = []

    private static let header =
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
    private static let ours = header + "version='1.0' xml:lang='en' to='example.org'"
    private static let servers = header + "from='example.org' id='1' version='1.0'>"

    init(_ configuration: Negotiation.Configuration) { negotiation = Negotiation(configuration) }

    mutating func serverSends(_ text: String) throws {
        expectNothing(before: "S: \(text)")
        for event in try feeder.feed(text == "HEADER" ? Self.servers : text) {
            switch event {
            case .opened(let header): try handle(.opened(header))
            case .element(let element): try handle(.element(element))
            case .closed: try handle(.closed)
            default: Issue.record("\(event)")
            }
        }
    }

    mutating func ownerTells(_ words: [String]) throws {
        expectNothing(before: "* \(words)")
        switch words.first {
        case "connected": try handle(.connected(secured: words.last == "secured"))
        case "secured": try handle(.secured)
        case "resume": try handle(.resume(id: words[1], handled: HandledCount(UInt32(words[2]) ?? 0)))
        case "bind": try handle(.bind(resource: words.count > 1 ? words[1] : nil))
        case "enable":
            let maximum = words.count > 2 ? Int(words[2]) : nil
            try handle(.enableStreamManagement(resumable: words.contains("resumable"), maximum: maximum))
        case "without": try handle(.withoutStreamManagement)
        default: Issue.record("no event: \(words)")
        }
    }

    private mutating func handle(_ event: Negotiation.Event) throws {
        let actions = try negotiation.handle(event)
        for action in actions {
            switch action {
            case .restartParser, .startTLS: feeder = Feeder()
            case .authenticated(_, let keys): self.keys = keys
            default: break
            }
        }
        pending += actions
    }

    mutating func expectSent(_ expected: String) {
        guard !pending.isEmpty, case .send(let bytes) = pending.removeFirst() else {
            Issue.record("nothing was sent, expected \(expected)")
            return
        }
        let sent = String(decoding: bytes, as: UTF8.self)
        if expected == "ANY" { return }
        #expect(sent == (expected.hasPrefix("HEADER") ? Self.ours + expected.dropFirst(6) + ">" : expected))
    }

    mutating func expectTold(_ expected: String) {
        guard !pending.isEmpty else {
            Issue.record("nothing was told, expected \(expected)")
            return
        }
        #expect(pending.removeFirst().words == expected)
    }

    func expectNothing(before what: String) {
        #expect(pending.map(\.words) == [], "before \(what)")
    }
}

extension Negotiation.Action {
    /// The action as a line of a transcript.
    fileprivate var words: String {
        switch self {
        case .send(let bytes): "send \(String(decoding: bytes, as: UTF8.self))"
        case .startTLS: "start TLS"
        case .restartParser: "restart parser"
        case .authenticated(let mechanism, let keys):
            "authenticated \(mechanism) \(keys == nil ? "without" : "with") keys"
        case .unauthenticated: "unauthenticated"
        case .choose: "choose"
        case .resumed(let handled): "resumed \(handled)"
        case .resumeFailed(let handled, let condition):
            "resume failed \(handled.map(\.description) ?? "unknown") \(condition)"
        case .bound(let jid): "bound \(jid)"
        case .stanza(let element): "stanza \(element.name)"
        case .enabled(let id, let maximum, let location):
            "enabled \(id ?? "-") \(maximum.map(String.init) ?? "-") \(location ?? "-")"
        case .enableFailed(let condition): "enable failed \(condition)"
        case .established: "established"
        }
    }
}

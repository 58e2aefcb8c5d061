import Foundation
import KalijAddress
import KalijStream
import KalijXML
import Testing

extension Negotiation.Configuration {
    /// The user of RFC 5802, 5, with the example's nonce.
    static func test(
        account: JID = .received("user@example.org"), credentials: Credentials = .password("pencil"),
        pins: DowngradePins = DowngradePins(), userAgent: String? = nil, tokens: [FASTToken] = []
    ) -> Negotiation.Configuration {
        var configuration = Negotiation.Configuration(
            account: account, credentials: credentials, nonce: "fyko+d2lbbFgONRv9qkxdawL", pins: pins)
        (configuration.userAgent, configuration.tokens) = (userAgent, tokens)
        configuration.now = 1_700_000_000_000
        return configuration
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
/// Text in braces stands for its Base64. All actions must be in the transcript, except what is learned of the server.
struct Transcript {
    /// How a play ended.
    struct Played {
        var negotiation: Negotiation
        var login: SuccessfulAuthentication?
        /// The server as last learned.
        var known: KnownServer
        var tokens: [FASTToken] = []
        /// All bytes sent, as text; Base64 decoded.
        var sent = ""
        var error: NegotiationError?
        var keys: SCRAMKeys? { login?.keys }
    }

    private let configuration: Negotiation.Configuration
    private let bindings: ChannelBindings
    private let known: KnownServer

    init(
        _ configuration: Negotiation.Configuration = .test(), bindings: ChannelBindings = ChannelBindings([:]),
        known: KnownServer = KnownServer()
    ) {
        (self.configuration, self.bindings, self.known) = (configuration, bindings, known)
    }

    @discardableResult
    func play(_ script: String) throws -> Played {
        let played = outcome(script)
        if let error = played.error { throw error }
        return played
    }

    /// Plays to the end, or to the first error.
    func outcome(_ script: String) -> Played {
        var play = Play(configuration, bindings, known)
        do {
            for line in script.split(separator: "\n", omittingEmptySubsequences: true) {
                try play.read(encodeBraces(String(line)))
            }
            play.expectNothing(before: "the end")
        } catch let error as NegotiationError {
            play.played.error = error
        } catch {
            Issue.record("\(error)")
        }
        play.played.negotiation = play.negotiation
        return play.played
    }

    private func encodeBraces(_ line: String) -> String {
        guard let open = line.firstIndex(of: "{"), let close = line[open...].firstIndex(of: "}") else { return line }
        let inside = Data(line[line.index(after: open)..<close].utf8).base64EncodedString()
        return encodeBraces(line[..<open] + inside + line[line.index(after: close)...])
    }
}

/// Feeds a parser and gathers the results.
struct Feeder {
    private let parser = StreamParser()

    init() { parser.expectRestart(after: Negotiation.lastElement.name, Negotiation.lastElement.namespace) }

    func feed(_ text: String) throws -> [StreamParserEvent] {
        var events: [StreamParserEvent] = []
        try parser.feed(Array(text.utf8)) { events.append($0) }
        return events
    }
}

private struct Play {
    var negotiation: Negotiation
    var played: Transcript.Played
    private let bindings: ChannelBindings
    private var feeder = Feeder()
    private var pending: [Negotiation.Action] = []

    private static let header =
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
    private static let from = " from='user@example.org'>"
    private static let servers = header + "from='example.org' id='1' version='1.0'>"

    init(_ configuration: Negotiation.Configuration, _ bindings: ChannelBindings, _ known: KnownServer) {
        negotiation = Negotiation(configuration)
        played = Transcript.Played(negotiation: negotiation, known: known)
        self.bindings = bindings
    }

    mutating func read(_ line: String) throws {
        let rest = String(line.dropFirst(3))
        switch line.prefix(2) {
        case "S:": try serverSends(rest)
        case "C:": expectSent(rest)
        case "* ": try ownerTells(line.dropFirst(2).split(separator: " ").map(String.init))
        case "! ": expectTold(String(line.dropFirst(2)))
        default: Issue.record("no line of a transcript: \(line)")
        }
    }

    mutating func serverSends(_ text: String) throws {
        expectNothing(before: "S: \(text)")
        for event in try feeder.feed(text.replacingOccurrences(of: "HEADER", with: Self.servers)) {
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
        case "connected":
            try handle(.connected(secured: words.last == "secured" ? bindings : nil, known: played.known))
        case "secured": try handle(.secured(bindings))
        case "silent": try handle(.silent)
        case "plan": try handle(.planned(SessionPlan(words: words.dropFirst())))
        default: Issue.record("no event: \(words)")
        }
    }

    private mutating func handle(_ event: Negotiation.Event) throws {
        for action in try negotiation.handle(event) {
            switch action {
            case .restartParser(keepingRest: false), .startTLS: feeder = Feeder()
            case .authenticated(let login): played.login = login
            case .token(let token): played.tokens.append(token)
            case .send(let bytes): played.sent += String(decoding: bytes, as: UTF8.self)
            case .learned(let known):
                #expect(known != played.known, "nothing new was learned")
                played.known = known
                continue
            default: break
            }
            pending.append(action)
        }
    }

    mutating func expectSent(_ expected: String) {
        guard !pending.isEmpty, case .send(let bytes) = pending.removeFirst() else {
            Issue.record("nothing was sent, expected \(expected)")
            return
        }
        let sent = String(decoding: bytes, as: UTF8.self)
        if expected == "ANY" { return }
        let header = Self.header + "version='1.0' xml:lang='en' to='example.org'"
        let undeclared = "<stream:stream" + header.components(separatedBy: "<stream:stream")[1]
        #expect(
            sent
                == expected.replacingOccurrences(of: "UNDECLARED", with: undeclared + Self.from)
                .replacingOccurrences(of: "BARE", with: undeclared)
                .replacingOccurrences(of: "SECURED", with: header + Self.from)
                .replacingOccurrences(of: "HEADER", with: header))
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

extension SessionPlan {
    /// "resume=ID:H", "bind" or "bind=RESOURCE" with "carbons", "inactive", "max=SECONDS".
    init(words: some Sequence<String>) {
        self.init()
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            switch parts[0] {
            case "resume":
                let values = parts[1].split(separator: ":").map(String.init)
                resume = Resume(id: values[0], handled: HandledCount(UInt32(values[1]) ?? 0))
            case "bind": bind = Bind(resource: parts.count > 1 ? parts[1] : nil, tag: "Kalij")
            case "carbons": bind?.carbons = true
            case "inactive": bind?.isInactive = true
            case "max": bind?.maximum = Int(parts[1])
            default: Issue.record("no plan: \(word)")
            }
        }
    }
}

extension Negotiation.Action {
    /// The action as a line of a transcript.
    fileprivate var words: String {
        switch self {
        case .send(let bytes): "send \(String(decoding: bytes, as: UTF8.self))"
        case .startTLS: "start TLS"
        case .restartParser(let keepingRest): keepingRest ? "next stream" : "restart parser"
        case .authenticated(let login):
            if let token = login.usedToken {
                "authenticated \(token.mechanism)"
            } else {
                "authenticated \(login.mechanism?.rawValue ?? "?") \(login.keys == nil ? "without" : "with") keys"
            }
        case .unauthenticated: "unauthenticated"
        case .plan: "plan"
        case .offered: "offered"
        case .learned: "learned"
        case .token(let token): "token \(token.mechanism) \(token.secret) \(token.expiry.map(String.init) ?? "-")"
        case .tokenRefused(let token): "token refused \(token.secret)"
        case .resumed(let handled): "resumed \(handled)"
        case .resumeFailed(let handled, let condition):
            "resume failed \(handled.map(\.description) ?? "unknown") \(condition)"
        case .connectAgain: "connect again"
        case .bound(let jid, let carbons): "bound \(jid)\(carbons ? " carbons" : "")"
        case .stanza(let element): "stanza \(element.name)"
        case .enabled(let id, let maximum, let location):
            "enabled \(id ?? "-") \(maximum.map(String.init) ?? "-") \(location ?? "-")"
        case .enableFailed(let condition): "enable failed \(condition)"
        case .established: "established"
        }
    }
}

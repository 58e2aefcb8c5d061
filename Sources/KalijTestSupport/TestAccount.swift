import KalijAddress
import KalijClient
import KalijStream
import KalijXML

/// An account whose engine a test drives by hand, with the features of an application: the test gives stanzas, sees what is sent, and
/// kills the process.
///
/// Everything behind the network is the real engine: the steps, the database, the queue. In the place of the server the test has the
/// account. Each of its functions ends when everything is committed, sent and acknowledged that the call has caused, and gives the
/// stanzas that the server has got. Requests to the server that the test does not answer (``answer``) are answered as by a server with
/// no more than the core of XMPP: they are not among the stanzas given, and neither is presence.
public final class TestAccount {
    /// When a process is killed.
    public enum Kill: Sendable, CaseIterable {
        /// All features have had their turns, and nothing is committed: the server sends the stanza again to the next process.
        case beforeCommit
        /// The step is committed, and nothing was sent.
        case afterCommit
        /// Everything was sent, and the server has acknowledged nothing.
        case afterSending
    }

    /// The account's address.
    public let jid: JID
    /// The time, which stands still between calls.
    public let time: TestTime
    /// The directory of the present process, for readers such as `HistoryReader`. A kill moves the account to another directory.
    public var directory: AccountDirectory { process.directory }
    /// The account, for readers.
    public var account: Account { process.account }
    /// The events emitted since the beginning, or since the test has emptied the list.
    public var events: [EngineEvent] = []
    /// How many processes were killed.
    public private(set) var kills = 0
    /// Answers a request of the engine or of a feature to the server or to the user's own account: an answer, or nil for the usual one.
    public var answer: (_ request: Element) throws -> Element? = { _ in nil }

    private let features: [any Feature.Type]
    private var process: DrivenAccount
    private var messages = 0

    /// Logs in, sends the initial presence, and performs the queries of a client at the beginning of a session.
    /// - Parameters:
    ///   - address: the account's address.
    ///   - features: of the application, as in `Engine.Options.features`.
    ///   - time: the time; nil for a time of the account's own.
    /// - Throws: `JIDError`, `FeatureError`, `HandlerError`, `StoreError`, or what a feature throws.
    public init(_ address: String = "bot@example.org", features: [any Feature.Type], time: TestTime? = nil) throws {
        jid = try JID(address)
        self.time = time ?? TestTime()
        self.features = features
        process = try DrivenAccount(
            in: TestFolder(), as: jid, resource: "test", applications: features, clock: self.time)
        events += try process.bind()
        _ = try settle()
        // Messages are newer than the account.
        self.time.advance(by: .seconds(1))
    }

    // MARK: From others

    /// A chat message arrives.
    /// - Parameters:
    ///   - body: the text.
    ///   - sender: the sender's address.
    ///   - id: the id of the stanza; nil for a new one.
    ///   - kill: when the process is killed meanwhile; nil: not at all.
    /// - Returns: what the server has got, from both processes if one was killed.
    /// - Throws: what a feature throws: then nothing has happened. `StoreError`
    @discardableResult
    public func receive(_ body: String, from sender: String, id: String? = nil, killed kill: Kill? = nil) throws
        -> [Element]
    {
        messages += 1
        let message = Element(
            "message", xmlns: "jabber:client",
            attributes: [
                "from": sender, "to": jid.description, "type": "chat", "id": id ?? "message-\(messages)",
            ])
        message.add(Element("body", xmlns: "jabber:client")).setText(body)
        return try receive(message, killed: kill)
    }

    /// A stanza arrives: with the namespace `jabber:client`, as `Element.parse("<iq xmlns='jabber:client' .../>")` has.
    /// - Returns: as ``receive(_:from:id:killed:)-(String,_,_,_)``.
    /// - Throws: what a feature throws: then nothing has happened. `StoreError`
    @discardableResult
    public func receive(_ stanza: Element, killed kill: Kill? = nil) throws -> [Element] {
        let copy = stanza.xml()
        return try run(kill) { try $0.receive(Element.parse(copy)).events }
    }

    /// Time passes, and what is due is done: timers, and requests without an answer.
    /// - Returns: as ``receive(_:from:id:killed:)-(String,_,_,_)``.
    /// - Throws: what a handler throws, `StoreError`
    @discardableResult
    public func wait(_ duration: Duration, killed kill: Kill? = nil) throws -> [Element] {
        time.advance(by: duration)
        return try run(kill) { try $0.due() }
    }

    // MARK: From the application

    /// Runs `body` as a step, as `Engine.perform` does; what `body` sends has left afterwards (``sent()``).
    /// - Throws: the error of `body`: then nothing has happened. `StoreError`
    @discardableResult
    public func perform<Result>(_ body: (Step) throws -> Result) throws -> Result {
        let (result, emitted) = try process.run(body)
        events += emitted
        return result
    }

    /// What leaves now: what steps of ``perform(_:)``, or readers and writers of the directory, have queued.
    /// - Throws: `StoreError`
    public func sent() throws -> [Element] { try settle() }

    /// The process dies, and another continues with the files of the last commit and with the session.
    /// - Throws: `StoreError`, or what a feature throws.
    public func kill() throws { try restart(in: TestFolder(copyOf: directory.path)) }

    // MARK: Processes

    private func run(_ kill: Kill?, _ body: (DrivenAccount) throws -> [EngineEvent]) throws -> [Element] {
        switch kill {
        case nil: events += try body(process)
        case .beforeCommit:
            let files = try TestFolder(copyOf: directory.path)
            _ = try body(process)
            try restart(in: files)
            events += try body(process)
        case .afterCommit:
            events += try body(process)
            try self.kill()
        case .afterSending:
            events += try body(process)
            let first = try process.send()
            events += first.events
            try self.kill()
            return try visible(first.stanzas) + settle()
        }
        return try settle()
    }

    private func restart(in folder: TestFolder) throws {
        process = try DrivenAccount(
            in: folder, as: jid, resource: "test", applications: features, clock: time, received: process.received)
        kills += 1
        events += try process.resume()
    }

    /// Sends everything pending, and answers requests, until nothing is left to do.
    private func settle() throws -> [Element] {
        var seen: [Element] = []
        while true {
            let (stanzas, told) = try process.send()
            events += told
            events += try process.acknowledge()
            guard !stanzas.isEmpty else { return seen }
            seen += try visible(stanzas)
        }
    }

    /// Answers requests to the server.
    /// - Returns: the stanzas for others.
    private func visible(_ stanzas: [Element]) throws -> [Element] {
        var others: [Element] = []
        for stanza in stanzas {
            if let reply = try reply(to: stanza) {
                events += try process.receive(reply).events
            } else if !stanza.isNamed("presence") {
                others.append(stanza)
            }
        }
        return others
    }

    private func reply(to stanza: Element) throws -> Element? {
        guard stanza.isNamed("iq"), ["get", "set"].contains(stanza["type"]) else { return nil }
        let to = stanza["to"]
        guard to == nil || to == jid.description || to == jid.domain else { return nil }
        let reply = try answer(stanza) ?? usualReply(to: stanza)
        (reply["id"], reply["to"], reply["from"]) = (stanza["id"], jid.description + "/test", to ?? jid.description)
        return reply
    }

    private func usualReply(to stanza: Element) -> Element {
        let reply = Element("iq", xmlns: "jabber:client", attributes: ["type": "result"])
        for (name, namespace) in [("query", DiscoveryInfo.namespace), ("query", "jabber:iq:roster")]
        where stanza.child(name, namespace) != nil {
            reply.add(Element(name, xmlns: namespace))
            return reply
        }
        reply["type"] = "error"
        let error = reply.add(Element("error", xmlns: "jabber:client", attributes: ["type": "cancel"]))
        error.add(Element("service-unavailable", xmlns: "urn:ietf:params:xml:ns:xmpp-stanzas"))
        return reply
    }
}

extension Element {
    /// The text of a message; nil for another stanza, and for a message without a text.
    public var body: String? { isNamed("message") ? child("body")?.text : nil }
}

import Foundation
import KalijAddress
import KalijStore
import KalijStream
import KalijText
import KalijTransport
import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore
@testable import KalijCoordination
@testable import KalijStore
@testable import kalij

/// "One function cleans everything that is printed for people (indenting what continues a message), errors included; a property
/// test over all printing code."
@Suite struct PrintingTests {
    private static let seeds: ClosedRange<UInt64> = 1...UInt64(RandomInput.rounds(30))

    /// Checks the output for people and the JSON of the same content.
    private func check(_ what: String, _ seed: UInt64, people: [PrintedText], json: [PrintedText] = []) throws {
        for text in people {
            #expect(HostileText.fault(in: text) == nil, "\(what), seed \(seed)")
        }
        for line in json {
            #expect(HostileText.fault(inLine: line) == nil, "\(what) in JSON, seed \(seed)")
            _ = try JSONSerialization.jsonObject(with: Data(line.description.utf8))
        }
    }

    @Test("the output of run and wake for events and notifications, and of history for messages and gaps") func events()
        throws
    {
        let scratch = try ScratchDirectory()
        let database = try Database(path: scratch.file("any.db"), durability: .process)
        for seed in Self.seeds {
            var text = HostileText(seed)
            let account = JID.received(text.next())
            for direction in ["in", "out"] {
                let message = try #require(try message(direction, &text, in: database))
                try check(
                    "history", seed, people: [message.line, message.line(WallClock(isUTC: true))],
                    json: [try JSONLine.of(EventRecord(message, account: text.next(), at: 1))])
                let told: [any EventContent] = [
                    MessageStored(message), MessageStateChanged(message), MessageUnsettled(message),
                ]
                for content in told + contents(&text) {
                    let event = EngineEvent(account: account, at: 1, content: content)
                    let printer = EventPrinter(json: false, verbose: true, clock: WallClock(isUTC: false))
                    try check(
                        type(of: content).name, seed, people: [try #require(printer.line(event))],
                        json: [try printer.json(event)])
                }
            }
            for kind in [Notification.Kind.show, .withdraw] {
                let notification = Notification(
                    kind: kind, identifier: text.next(), account: text.next(), conversation: text.next(),
                    peer: text.next(),
                    sender: text.next(), body: text.next(), at: 1)
                try check(
                    "wake", seed, people: [try NotificationPrinter(json: false).line(notification)],
                    json: [try NotificationPrinter(json: true).line(notification)])
            }
            for reason in [HistoryGap.Reason.notFetched, .lost, .reading, .unread(text.next())] {
                let gap = HistoryGap(after: 1, before: nil, reason: reason, archive: text.next(), position: 1)
                let utc = WallClock(isUTC: true)
                let record = GapRecord(gap, account: text.next())
                try check("gap", seed, people: [record.line(utc), record.text(utc)], json: [try JSONLine.of(record)])
            }
        }
    }

    private func message(_ direction: String, _ text: inout HostileText, in database: Database) throws -> Message? {
        let state: Value = direction == "out" ? "failed" : .null
        let values: [Value] = [
            .text(direction), .text(text.next()), .text(text.next()), .text(text.next()), .text(text.next()),
            .text(text.next()), .text(text.next()), .text(text.next()), .text(text.next()), .text(text.next()),
            .text(text.next()), .text(text.next()), state, .text(text.next()),
        ]
        var message = try database.prepare(
            """
            SELECT 7 AS id, ? AS direction, ? AS conversation, ? AS message_id, ? AS stanza_id, ? AS origin_id, ? AS sender,
                ? AS recipient, ? AS type, ? AS body, 1 AS shown, 2 AS edited_at, NULL AS erased, ? AS corrects,
                ? AS reply_to, ? AS encryption, 1 AS sent_at, ? AS state, ? AS error, 0 AS settled, NULL AS author
            """
        ).first(values) { Message($0) }
        message?.reactions = [Reaction(author: text.next(), emoji: [text.next()])]
        return message
    }

    private func contents(_ text: inout HostileText) -> [any EventContent] {
        let room = JID.received(text.next())
        let letter = DeadLetter(
            id: 1, account: text.next(), at: 1, origin: .request, name: text.next(), reason: text.next(), handler: [])
        return [
            Connecting(), Online(jid: text.next(), resumed: true),
            Offline(reason: Reason(other: text.next()), retryIn: 1),
            Refused(reason: Reason(.loginRefused, text.next())), CaughtUp(problem: text.next()),
            RoomRead(room: room, problem: text.next()), RoomRead(room: room, problem: nil),
            HistoryFilled(room: room, messages: 1, problem: text.next()),
            HistoryFilled(room: room, messages: 1, problem: nil),
            Quarantined(reason: text.next(), sender: text.next()), HandlerDeadLettered(letter),
            LoggedOut(removed: true),
            WaitingForStorage(StoreError(.full, text.next()), retryIn: 1), StorageAvailable(), EventsDropped(count: 3),
            SlowStep(step: text.next(), milliseconds: 1),
        ]
    }

    @Test("the output of status, quarantine and pending") func states() throws {
        for seed in Self.seeds {
            var text = HostileText(seed)
            let stanza = Quarantine.Stanza(
                id: 1, account: text.next(), at: 1, reason: text.next(), name: text.next(), sender: text.next(),
                size: 1,
                retrying: .possible)
            let quarantined = QuarantineRecord(stanza)
            let status = StatusRecord(
                directory: text.next(), driver: FenceOwner(number: 1, role: .main, pid: 1, since: 1, letGo: false),
                accounts: [try account(&text)], quarantine: [stanza],
                deadLetters: [DeadLetter.Origin.share, .timer].map {
                    DeadLetter(
                        id: 1, account: text.next(), at: 1, origin: $0, name: text.next(), reason: text.next(),
                        handler: [])
                },
                slowSteps: [StatusReader.SlowStep(kind: text.next(), count: 1, longest: 1)])
            try check(
                "status", seed, people: status.lines(verbose: true, WallClock(isUTC: false)) + [quarantined.line],
                json: [try JSONLine.of(status), try JSONLine.of(quarantined)])
            for origin in [DeadLetter.Origin.request, .timer, .promise] {
                let pending = PendingRecord(
                    PendingReader.Pending(
                        origin: origin, account: text.next(), handler: text.next(), id: text.next(),
                        responder: text.next(), since: 1, until: 1))
                try check("pending", seed, people: [pending.line], json: [try JSONLine.of(pending)])
            }
        }
    }

    private func account(_ text: inout HostileText) throws -> StatusReader.AccountStatus {
        let account = Account(
            id: 1, jid: .received(text.next()), resource: text.next(), server: ServerSettings(),
            pins: DowngradePins(mechanism: .plain),
            credentials: .password(text.next()), state: .active, historyDays: 14)
        let gap = HistoryGap(after: nil, before: 1, reason: .unread(text.next()), archive: text.next(), position: 1)
        return StatusReader.AccountStatus(
            account: account, boundJID: text.next(), isResumable: true, lastOnline: 1, hasCarbons: true,
            hasArchive: true,
            catchUp: text.next(), catchUpProblem: text.next(), storedMessages: 1, queuedMessages: 1,
            messagesInMailbox: 1, sentMessages: 1, unsettledMessages: 1, failedMessages: 1, queuedStanzas: 1,
            pendingNotifications: 1, gaps: [gap], link: nil, features: [EventField(.reason, .text(text.next()))])
    }

    @Test("the output of iq, ping, disco and query for answers") func answers() throws {
        for seed in Self.seeds {
            var text = HostileText(seed)
            let query = DiscoveryInfo.namespace
            let found = Element(
                "query", xmlns: query,
                children: [
                    Element("identity", attributes: ["category": text.xml(), "type": text.xml(), "name": text.xml()]),
                    Element("feature", attributes: ["var": text.xml()]),
                ])
            for (outcome, answer) in [
                ("result", Element("iq", children: [found])), ("error", failed(text.xml())), ("timeout", nil),
            ] {
                let question = AdHocRequests.Question(
                    id: 1, account: text.next(), recipient: text.next(), askedAt: 1, answeredAt: nil, roundTrip: 1,
                    outcome: outcome, reason: text.next(), answer: answer?.xml())
                let record = QuestionRecord(question)
                let discovered = DiscoveryRecord([question, question], node: text.next())
                try check(
                    "question", seed, people: [record.line, "\(ErrorWords.of(question))"],
                    json: [try JSONLine.of(record), try JSONLine.of(discovered)])
                for line in DiscoveryLines.of(question) {
                    #expect(HostileText.fault(inLine: line, tabs: true) == nil, "disco, seed \(seed)")
                }
                if outcome == "result" { #expect(!DiscoveryLines.of(question).isEmpty) }
            }
            let results: [QueryResult] = [.text(text.next()), .element(found), .attributes(["a": text.next()])]
            let people = ResultPrinter(json: false, isForPeople: true)
            let json = ResultPrinter(json: true, isForPeople: false)
            for result in results {
                #expect(HostileText.fault(in: try people.line(result)) == nil, "query, seed \(seed)")
            }
            for result in results { #expect(HostileText.fault(inLine: try json.line(result)) == nil) }
        }
    }

    private func failed(_ text: String) -> Element {
        let namespace = "urn:ietf:params:xml:ns:xmpp-stanzas"
        return Element(
            "iq", xmlns: "jabber:client", attributes: ["type": "error"],
            children: [
                Element(
                    "error", xmlns: "jabber:client", attributes: ["type": "cancel"],
                    children: [
                        Element("forbidden", xmlns: namespace), Element("text", xmlns: namespace, text: text),
                    ])
            ])
    }

    @Test("errors, with any text of a server inside") func errors() throws {
        for seed in Self.seeds {
            var text = HostileText(seed)
            let errors: [any Error] = [
                Failure(.badInput, text.next()), StoreError(.full, text.next()),
                DirectoryError.noAccount(directory: text.next()),
                DirectoryError.whichAccount(known: [text.next()], asked: text.next()),
                EngineError.refused(account: .received(text.next()), reason: text.next()),
                LoginError.failed(text.next()), LoginError.noStream(text.next()),
                LoginError.refused(.sasl(SASLError(nil, text: text.next()))),
                LoginError.refused(.stream(StreamError(.undefinedCondition, text: text.next()))),
                LoginError.refused(.authentication(.refusedByServer(reason: text.next()))),
                LoginError.refused(.authentication(.noMechanism(offered: [text.next()]))),
                LoginError.refused(.bind(StanzaError(.forbidden, text: text.next()))),
                LoginError.refused(.boundElsewhere(.received(text.next()))),
                LoginError.refused(.unexpected(element: text.next(), during: text.next())),
                LoginError.unreachable(
                    ConnectFailure([.init(host: text.next(), kind: .certificate, reason: text.next())])),
                XMLError(condition: text.next(), text: text.next(), line: 1, column: 1),
            ]
            for error in errors {
                try check("\(type(of: error))", seed, people: ["kalij: \(Failure(error).message)"])
            }
        }
    }

    @Test("everything is printed by functions that take only cleaned text")
    func oneWayOut() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let allowed = [
            "Output.swift", "KalijPushCommand.swift", "PushDemo.swift", "Terminal.swift", "SignalDisposition.swift",
            "LogOutput.swift",
        ]
        let printing = try Regex(
            #"(^|[^.\w])(print|debugPrint|dump|puts|perror)\(|std(out|err)\)|STD(OUT|ERR)_FILENO|FileHandle\.standard"#)
        let parts = [
            "rint(", "dump(", "puts(", "perror(", "stdout)", "stderr)", "_FILENO", "FileHandle.standard",
        ].map { Data($0.utf8) }
        var files = 0
        for target in [
            "kalij", "kalij-push", "kalij-push-demo", "KalijLab", "KalijClient", "KalijPush", "KalijTransport",
        ] {
            let folder = root.appendingPathComponent(target)
            let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
            for name in names where name.hasSuffix(".swift") && !allowed.contains((name as NSString).lastPathComponent)
            {
                files += 1
                let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
                // A regular expression takes seconds for all sources in a debug build.
                guard parts.contains(where: { bytes.range(of: $0) != nil }) else { continue }
                let source = String(decoding: bytes, as: UTF8.self)
                for line in source.split(separator: "\n") {
                    let code = line.drop { $0 == " " }
                    guard !code.hasPrefix("//"), !code.contains("func print("), code.contains(printing) else {
                        continue
                    }
                    #expect(code.contains("isatty("), "\(target)/\(name) prints by itself: \(code)")
                }
            }
        }
        #expect(files > 100)
    }
}

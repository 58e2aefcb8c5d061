import KalijClient
import KalijText

/// Prints events: the results to standard output, remarks to standard error; with `--json` everything to standard
/// output.
struct EventPrinter {
    let json: Bool
    let verbose: Bool
    private var times: TimedLines

    init(json: Bool, verbose: Bool, clock: WallClock) {
        (self.json, self.verbose, times) = (json, verbose, TimedLines(clock))
    }

    mutating func print(_ event: EngineEvent) { Output.attempt { try write(event) } }

    /// - Throws: `OutputClosed`, `Failure`. In each case the event was not printed.
    mutating func write(_ event: EngineEvent) throws {
        if json { return try Output.results(json(event) + "\n") }
        guard event.content.isResult else { return printNotice(event) }
        guard let line = line(event) else { return }
        try Output.results(times.next(line, at: message(event)?.sentAt ?? event.at) + "\n")
    }

    /// Prints any event on standard error.
    func printNotice(_ event: EngineEvent) {
        guard verbose || !event.content.isDetail else { return }
        let moment = message(event).map { times.clock.moment($0.sentAt) + " " } ?? ""
        if let line = line(event, moment) { Output.notice(line) }
    }

    /// The line for people, with the account; nil if the event is omitted.
    func line(_ event: EngineEvent, _ moment: String = "") -> PrintedText? {
        guard verbose || !event.content.isDetail else { return nil }
        return event.content.line.map { "\(event.account): \(moment)\($0)" }
    }

    private func message(_ event: EngineEvent) -> Message? { (event.content as? any MessageEvent)?.message }

    /// The event's line of JSON.
    func json(_ event: EngineEvent) throws -> PrintedText { try JSONLine.of(EventRecord(event)) }
}

/// An event in JSON, a row of a history, or the fields that features report about an account.
struct EventRecord: Encodable {
    private let fields: [(name: String, value: EventValue)]

    init(_ event: EngineEvent) {
        self.init(
            type(of: event.content).name, account: event.account.description, at: event.at, number: event.number,
            event.content.fields)
    }

    init(_ name: String, account: String, at: Int64, number: Int64? = nil, _ fields: [EventField]) {
        let known: [(String, EventValue?)] = [
            ("event", .text(name)), ("account", .text(account)), ("at", .time(at)),
            ("number", number.map { .integer($0) }),
        ]
        self.fields =
            known.compactMap { name, value in value.map { (name, $0) } } + fields.map { ($0.key.name, $0.value) }
    }

    init(_ fields: [EventField]) { self.fields = fields.map { ($0.key.name, $0.value) } }

    /// A message in the form of the history.
    init(_ message: Message, event: String = MessageStored.name, account: String, at: Int64) {
        self.init(event, account: account, at: at, message.fields)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for (name, value) in fields {
            switch value {
            case .text(let text): try object.encode(text, forKey: Key(name))
            case .integer(let integer): try object.encode(integer, forKey: Key(name))
            case .number(let number): try object.encode(number, forKey: Key(name))
            case .flag(let flag): try object.encode(flag, forKey: Key(name))
            case .time(let time): try object.encode(Stamp.of(time), forKey: Key(name))
            case .texts(let texts): try object.encode(texts, forKey: Key(name))
            case .lists(let lists):
                let values = Dictionary(lists.map { ($0.name, $0.texts) }) { first, _ in first }
                try object.encode(values, forKey: Key(name))
            case .object(let fields):
                try object.encode(EventRecord(fields), forKey: Key(name))
            }
        }
    }
}

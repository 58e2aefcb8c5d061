import KalijCore
import KalijFeatures
import KalijXML

import FoundationEssentials

/// An event in JSON, a row of a history, or the fields that features report about an account.
public struct EventRecord: Encodable, Sendable {
    private let fields: [(name: String, value: EventValue)]

    /// An event.
    public init(_ event: EngineEvent) {
        self.init(
            type(of: event.content).name, account: event.account.description, at: event.at, number: event.number,
            event.content.fields)
    }

    /// The fields of an event with this name.
    public init(_ name: String, account: String, at: Int64, number: Int64? = nil, _ fields: [EventField]) {
        let known: [(String, EventValue?)] = [
            ("event", .text(name)), ("account", .text(account)), ("at", .time(at)),
            ("number", number.map { .integer($0) }),
        ]
        self.fields =
            known.compactMap { name, value in value.map { (name, $0) } } + fields.map { ($0.key.name, $0.value) }
    }

    /// The fields alone.
    public init(_ fields: [EventField]) { self.fields = fields.map { ($0.key.name, $0.value) } }

    /// A message in the form of the history.
    public init(_ message: Message, event: String = MessageStored.name, account: String, at: Int64) {
        self.init(event, account: account, at: at, message.fields)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Encodes an object with the keys of the fields.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for (name, value) in fields {
            switch value {
            case .text(let text): try object.encode(text, forKey: Key(name))
            case .integer(let integer): try object.encode(integer, forKey: Key(name))
            case .number(let number): try object.encode(number, forKey: Key(name))
            case .flag(let flag): try object.encode(flag, forKey: Key(name))
            case .time(let time): try object.encode(DateTime.stamp(time), forKey: Key(name))
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

extension DateTime {
    /// The date-time of a time in milliseconds since 1970.
    static func stamp(_ milliseconds: Int64) -> String {
        text(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
    }
}

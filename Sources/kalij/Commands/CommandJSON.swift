import FoundationEssentials
import Synchronization

/// Any JSON value, returned unchanged; numbers with up to 38 digits. At most 32 levels deep and of 1000 values, because a decoder
/// takes minutes for more.
enum CommandJSON: Codable, Equatable {
    case null
    case text(String)
    case flag(Bool)
    case integer(Int64)
    case natural(UInt64)
    case decimal(Decimal)
    case number(Double)
    case list([CommandJSON])
    case object([String: CommandJSON])

    private static let maxDepth = 32
    private static let maxValues = 1000
    private static let counting = CodingUserInfoKey(rawValue: "values")

    private final class Count: Sendable {
        private let values = Mutex(0)

        func next() -> Int {
            values.withLock {
                $0 += 1
                return $0
            }
        }
    }

    /// Decodes the value of a key.
    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        if let counting { decoder.userInfo[counting] = Count() }
        return decoder
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let count = Self.counting.flatMap({ decoder.userInfo[$0] }) as? Count {
            guard count.next() <= Self.maxValues else {
                throw DecodingError.dataCorruptedError(
                    in: value, debugDescription: "more than \(Self.maxValues) values")
            }
        }
        guard decoder.codingPath.count <= Self.maxDepth else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "nested too deep")
        }
        // A failed attempt takes time, so the common types are tried first, and exact number types before the others.
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else if var list = try? decoder.unkeyedContainer() {
            var values: [CommandJSON] = []
            while !list.isAtEnd { values.append(try list.decode(CommandJSON.self)) }
            self = .list(values)
        } else if let object = try? decoder.container(keyedBy: Name.self) {
            let pairs = try object.allKeys.map { ($0.stringValue, try object.decode(CommandJSON.self, forKey: $0)) }
            self = .object(Dictionary(pairs) { first, _ in first })
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(UInt64.self) {
            self = .natural(number)
        } else if let number = try? value.decode(Decimal.self) {
            self = .decimal(number)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "a number out of range")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .text(let text): try container.encode(text)
        case .flag(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .natural(let number): try container.encode(number)
        case .decimal(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

import Synchronization

/// A stored handler: its name, the version of its format, and the bound values.
///
/// A class, so that all holders see the invalidation. Other handlers can bind a stored handler.
public final class StoredHandler: Codable, Sendable, Hashable, CustomStringConvertible {
    /// The name of the type (``Handler/name``).
    public let name: String
    /// The version of the format of the values (``Handler/version``).
    public let version: Int
    /// The bound values, by the names of the properties.
    public let values: [String: StoredValue]
    private let invalidated: Atomic<Bool>

    /// Whether the handler was invalidated: no call or invalidation is possible any more.
    public var isInvalidated: Bool { invalidated.load(ordering: .sequentiallyConsistent) }

    /// Binds `handler`.
    /// - Throws: `HandlerError` `.notStorable` if a value cannot be stored.
    public init<H: Handler>(_ handler: H) throws(HandlerError) {
        name = H.name
        version = H.version
        invalidated = Atomic(false)
        do {
            guard case .map(let values) = try StoredValue(encoding: handler) else {
                throw HandlerError(.notStorable, H.name, detail: "its values have no names")
            }
            self.values = values
        } catch let error as HandlerError {
            throw error
        } catch let error as EncodingError {
            throw HandlerError(.notStorable, H.name, argument: error.argument)
        } catch {
            throw HandlerError(.notStorable, H.name, detail: "\(error)")
        }
    }

    /// The parts of the stored form; nil for any other value.
    private struct Parts {
        let name: String
        let version: Int
        let values: [String: StoredValue]
        let isInvalidated: Bool

        init?(_ value: StoredValue?) {
            guard case .list(let parts) = value, (3...4).contains(parts.count), case .text(let name) = parts[0],
                case .integer(let version) = parts[1], version > 0, case .map(let values) = parts[2],
                parts.count == 3 || parts[3] == .bool(true)
            else { return nil }
            (self.name, self.version, self.values) = (name, Int(version), values)
            isInvalidated = parts.count == 4
        }
    }

    private init(_ parts: Parts) {
        (name, version, values) = (parts.name, parts.version, parts.values)
        invalidated = Atomic(parts.isInvalidated)
    }

    /// Reads the bytes of ``bytes``.
    /// - Throws: `HandlerError` `.malformed`
    public convenience init(bytes: [UInt8]) throws(HandlerError) {
        guard let parts = Parts(StoredValue(canonical: bytes)) else { throw HandlerError(.malformed, "") }
        self.init(parts)
    }

    private var value: StoredValue {
        var parts: [StoredValue] = [.text(name), .integer(Int64(version)), .map(values)]
        if isInvalidated { parts.append(.bool(true)) }
        return .list(parts)
    }

    /// The stored form: the same bytes for the same handler in every release.
    public var bytes: [UInt8] { value.canonicalBytes }

    public convenience init(from decoder: any Decoder) throws {
        let value: StoredValue?
        if let decoder = decoder as? StoredDecoder {
            value = decoder.value
        } else {
            value = StoredValue(canonical: try decoder.singleValueContainer().decode([UInt8].self))
        }
        guard let parts = Parts(value) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no handler"))
        }
        self.init(parts)
    }

    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? StoredEncoder {
            encoder.slot.set(value)
        } else {
            var container = encoder.singleValueContainer()
            try container.encode(bytes)
        }
    }

    /// Marks the handler invalidated; false if already marked.
    func markInvalidated() -> Bool {
        invalidated.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged
    }

    /// Takes the mark back, because the invalidation failed as a whole.
    func unmark() { invalidated.store(false, ordering: .sequentiallyConsistent) }

    public static func == (left: StoredHandler, right: StoredHandler) -> Bool {
        left.name == right.name && left.version == right.version && left.values == right.values
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(values)
    }

    public var description: String { "\(name) (\(values.keys.sorted().joined(separator: ", ")))" }
}

/// Makes values from the output of ``StoredEncoder``.
struct StoredDecoder: Decoder {
    let value: StoredValue
    let codingPath: [any CodingKey]
    var asked: RequestedKeys?
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The value of `type` stored as `value`, at `path` for the errors.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from value: StoredValue, at path: [any CodingKey], asked: RequestedKeys? = nil
    ) throws -> Value {
        if let primitive = try Primitives.restore(type, from: value, at: path) { return primitive }
        return try Value(from: StoredDecoder(value: value, codingPath: path, asked: asked))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let values) = value else { throw mismatch("a value with names") }
        return KeyedDecodingContainer(KeyedDecoding(values: values, codingPath: codingPath, asked: asked))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let values) = value else { throw mismatch("a list") }
        return UnkeyedDecoding(values: values, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleValueDecoding(value: value, codingPath: codingPath)
    }

    private func mismatch(_ what: String) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "not \(what)")
        return value == .null
            ? .valueNotFound(StoredValue.self, context) : .typeMismatch(StoredValue.self, context)
    }
}

/// The names that a handler requested during decoding: its properties.
final class RequestedKeys {
    fileprivate(set) var names: Set<String> = []
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let values: [String: StoredValue]
    let codingPath: [any CodingKey]
    let asked: RequestedKeys?

    var allKeys: [Key] { values.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { value(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try required(key) == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try StoredDecoder.decode(type, from: try required(key), at: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        StoredDecoder(value: values["super"] ?? .null, codingPath: codingPath + [PathKey(stringValue: "super")])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }

    private func nested(_ key: Key) throws -> StoredDecoder {
        StoredDecoder(value: try required(key), codingPath: codingPath + [key])
    }

    private func value(_ key: Key) -> StoredValue? {
        asked?.names.insert(key.stringValue)
        return values[key.stringValue]
    }

    private func required(_ key: Key) throws -> StoredValue {
        guard let value = value(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "not stored"))
        }
        return value
    }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let values: [StoredValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(values: [StoredValue], codingPath: [any CodingKey]) {
        self.values = values
        self.codingPath = codingPath
    }

    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }
    private var path: [any CodingKey] { codingPath + [PathKey(intValue: currentIndex)] }

    mutating func decodeNil() throws -> Bool {
        guard try next() == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try StoredDecoder.decode(type, from: try next(), at: path)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try nested().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try nested() }

    private mutating func nested() throws -> StoredDecoder {
        let decoder = StoredDecoder(value: try next(), codingPath: path)
        currentIndex += 1
        return decoder
    }

    private func next() throws -> StoredValue {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                StoredValue.self, .init(codingPath: path, debugDescription: "the list is shorter"))
        }
        return values[currentIndex]
    }
}

private struct SingleValueDecoding: SingleValueDecodingContainer {
    let value: StoredValue
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { value == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try StoredDecoder.decode(type, from: value, at: codingPath)
    }
}

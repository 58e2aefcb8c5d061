/// Makes a ``StoredValue`` from anything that is `Encodable`.
struct StoredEncoder: Encoder {
    let slot: Slot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The stored form of `value`.
    static func value<Value: Encodable>(of value: Value, at path: [any CodingKey] = []) throws -> StoredValue {
        if let stored = Primitives.store(value) { return stored }
        let slot = Slot()
        try value.encode(to: StoredEncoder(slot: slot, codingPath: path))
        return slot.finished
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.beginMap()
        return KeyedEncodingContainer(KeyedEncoding(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.beginList()
        return UnkeyedEncoding(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleEncoding(slot: slot, codingPath: codingPath)
    }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) throws { slot.put(.value(.null), as: key.stringValue) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if let stored = Primitives.store(value) {
            slot.put(.value(stored), as: key.stringValue)
        } else {
            slot.put(.value(try StoredEncoder.value(of: value, at: codingPath + [key])), as: key.stringValue)
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { nested(PathKey(stringValue: "super")) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> StoredEncoder {
        let inner = Slot()
        slot.put(.slot(inner), as: key.stringValue)
        return StoredEncoder(slot: inner, codingPath: codingPath + [key])
    }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]
    var count: Int { slot.count }

    mutating func encodeNil() throws { slot.append(.value(.null)) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        slot.append(.value(try StoredEncoder.value(of: value, at: codingPath + [PathKey(intValue: count)])))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nested() }

    private func nested() -> StoredEncoder {
        let inner = Slot()
        let path = codingPath + [PathKey(intValue: count)]
        slot.append(.slot(inner))
        return StoredEncoder(slot: inner, codingPath: path)
    }
}

private struct SingleEncoding: SingleValueEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]

    mutating func encodeNil() throws { slot.set(.null) }
    mutating func encode<Value: Encodable>(_ value: Value) throws {
        slot.set(try StoredEncoder.value(of: value, at: codingPath))
    }
}

/// The values bound by a stored handler, by the names of the properties: the input of a migration.
public struct BoundValues: Hashable, Sendable {
    var values: [String: StoredValue]
    private let handler: String
    private let version: Int

    init(_ values: [String: StoredValue], of handler: String, version: Int) {
        self.values = values
        self.handler = handler
        self.version = version
    }

    /// The names of the bound values, sorted.
    public var names: [String] { values.keys.sorted() }

    /// The value bound as `name`; nil if there is none.
    /// - Throws: `HandlerError` `.wrongType` for a value of another type.
    public func value<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws(HandlerError) -> Value?
    {
        guard let value = values[name], value != .null else { return nil }
        do {
            return try value.decoded(as: type)
        } catch {
            throw HandlerError(.wrongType, handler, version: version, argument: name, detail: "not \(type)")
        }
    }

    /// Binds `value` as `name`, in place of an earlier value.
    /// - Throws: `HandlerError` `.notStorable`
    public mutating func bind(_ name: String, _ value: some Encodable) throws(HandlerError) {
        do {
            values[name] = try StoredValue(encoding: value)
        } catch {
            throw HandlerError(.notStorable, handler, version: version, argument: name, detail: "\(type(of: value))")
        }
    }

    /// Renames the bound value `old` to `new`; nothing happens if there is none.
    public mutating func rename(_ old: String, to new: String) {
        if let value = values.removeValue(forKey: old) { values[new] = value }
    }

    /// Removes the bound value `name`.
    public mutating func remove(_ name: String) { values[name] = nil }
}

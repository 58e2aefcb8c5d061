extension StoredHandler {
    /// The handler itself, with some values replaced.
    /// - Throws: `HandlerError`
    func decode<H: Handler>(_ type: H.Type, overriding: [String: any Encodable] = [:]) throws(HandlerError) -> H {
        var bound = BoundValues(values, of: name, version: version)
        try migrate(&bound, for: type)
        for (name, value) in overriding { try bound.bind(name, value) }
        let asked = overriding.isEmpty ? nil : RequestedKeys()
        let handler: H
        do {
            handler = try StoredDecoder.decode(type, from: .map(bound.values), at: [], asked: asked)
        } catch {
            throw failure(error)
        }
        if let unknown = overriding.keys.sorted().first(where: { asked?.names.contains($0) == false }) {
            throw HandlerError(.unknownArgument, name, version: version, argument: unknown)
        }
        return handler
    }

    private func migrate<H: Handler>(_ bound: inout BoundValues, for type: H.Type) throws(HandlerError) {
        guard version <= H.version else {
            throw HandlerError(.newerVersion, name, version: version, detail: "this one has \(H.version)")
        }
        guard version < H.version else { return }
        do {
            try H.migrate(&bound, from: version)
        } catch let error as HandlerError {
            throw error
        } catch {
            throw HandlerError(.noMigration, name, version: version, detail: "\(error)")
        }
    }

    private func failure(_ error: any Error) -> HandlerError {
        switch error {
        case let error as HandlerError: return error
        case DecodingError.keyNotFound(let key, let context):
            return HandlerError(
                .missingArgument, name, version: version, argument: DecodingError.path(context.codingPath + [key]))
        case DecodingError.valueNotFound(_, let context):
            return HandlerError(
                .missingArgument, name, version: version, argument: DecodingError.path(context.codingPath))
        case DecodingError.typeMismatch(let type, let context):
            return HandlerError(
                .wrongType, name, version: version, argument: DecodingError.path(context.codingPath),
                detail: "not \(type)")
        case DecodingError.dataCorrupted(let context):
            return HandlerError(.wrongType, name, version: version, argument: DecodingError.path(context.codingPath))
        default: return HandlerError(.wrongType, name, version: version, detail: "\(error)")
        }
    }
}

extension DecodingError {
    static func path(_ keys: [any CodingKey]) -> String? {
        keys.isEmpty ? nil : keys.map(\.stringValue).joined(separator: ".")
    }
}

extension EncodingError {
    /// The faulty bound value.
    var argument: String? {
        switch self {
        case .invalidValue(_, let context): DecodingError.path(context.codingPath)
        @unknown default: nil
        }
    }
}

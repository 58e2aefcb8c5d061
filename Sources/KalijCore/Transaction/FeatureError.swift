import KalijStore
import KalijText

/// Why the features that an application names cannot be used. This is a programming error.
public enum FeatureError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The name is not of letters, digits, hyphens and full stops, or has no full stop.
    case badName(String)
    /// Two features have this name, or handlers with the same prefix.
    case taken(String)
    /// The feature's tables and Kalij's could have the same names: the name begins with that of a table.
    case reserved(String, table: String)
    /// A migration, handler or event of the feature has a name that does not begin with the feature's.
    case foreignName(String, feature: String)

    public var description: String {
        switch self {
        case .badName(let name):
            "\"\(name)\" cannot be an application's feature: its name begins with a domain of the author, as in org.example.bot"
        case .taken(let name): "there are two features with the name \(name)"
        case .reserved(let name, let table):
            "\"\(name)\" cannot be an application's feature: the names of its tables could be Kalij's, which has the table \(table); "
                + "the name begins with a domain of the author, as in org.example.bot"
        case .foreignName(let name, let feature):
            "\(name) is in the feature \(feature): the names of migrations begin with \(feature)/, of handlers and events with \(feature)."
        }
    }
}

extension FeatureError {
    /// Checks what `application` adds to `own`.
    /// - Throws: `FeatureError`
    package static func check(
        _ application: [any Feature.Type], besides own: [any Feature.Type]
    ) throws(FeatureError) {
        let migrations = CoreTables.migrations + own.flatMap { $0.migrations }
        var names = Set(own.flatMap { [$0.name, $0.handlerPrefix] })
        for feature in application {
            let name = feature.name
            guard isName(name) else { throw .badName(name) }
            guard Set([name, feature.handlerPrefix]).isDisjoint(with: names) else { throw .taken(name) }
            let table = Migration.table(owning: name, in: migrations)
            if let table { throw .reserved(name, table: table) }
            names.formUnion([name, feature.handlerPrefix])
            let foreign = foreignNames(in: feature).first
            if let foreign { throw .foreignName(foreign, feature: name) }
        }
    }

    private static func foreignNames(in feature: any Feature.Type) -> [String] {
        let (name, prefix) = (feature.name, feature.handlerPrefix)
        let migrations: [String] = feature.migrations.map(\.name).filter { !$0.begins(with: name + "/") }
        let handlers: [String] = feature.handlers.map { $0.name }.filter { !$0.begins(with: prefix + ".") }
        let events: [String] = feature.events.map { $0.name }.filter { $0 != name && !$0.begins(with: name + ".") }
        return migrations + handlers + events
    }

    private static func isName(_ name: String) -> Bool {
        let parts = name.parts(at: ".")
        return parts.count > 1 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(isAllowed) }
    }

    private static func isAllowed(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "-")
    }
}

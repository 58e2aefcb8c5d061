import KalijText

/// An object of a configuration, read key by key; a key not asked for is an error.
struct SettingsReader {
    let path: String
    /// Where the settings file is; empty for the working directory.
    private let folder: String
    private let members: [String: JSONValue]
    private var asked: Set<String> = []  // characters: names of ours.

    init(_ value: JSONValue, path: String, folder: String) throws(SettingsError) {
        guard case .object(let members) = value else {
            throw SettingsError(path, "is \(value.kind), an object is wanted")
        }
        self.members = members
        self.path = path
        self.folder = folder
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Every key, in order; for objects with names as keys.
    var keys: [String] { members.keys.sorted() }

    mutating func value(_ key: String) -> JSONValue? {
        asked.insert(key)
        let value = members[key]
        return value == .null ? nil : value
    }

    mutating func object(_ key: String) throws(SettingsError) -> SettingsReader? {
        guard let value = value(key) else { return nil }
        return try SettingsReader(value, path: path(of: key), folder: folder)
    }

    mutating func text(_ key: String) throws(SettingsError) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.text else { throw SettingsError(path(of: key), "is \(value.kind), a string is wanted") }
        guard !text.isEmpty else { throw SettingsError(path(of: key), "is empty") }
        return text
    }

    mutating func requiredText(_ key: String) throws(SettingsError) -> String {
        guard let text = try text(key) else { throw SettingsError(path(of: key), "is missing") }
        return text
    }

    /// A text for a field of HTTP or a name at a provider: printable ASCII without blanks.
    mutating func word(_ key: String) throws(SettingsError) -> String? {
        guard let text = try text(key) else { return nil }
        guard text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw SettingsError(path(of: key), "has a blank, a control character or a character beyond ASCII")
        }
        return text
    }

    mutating func requiredWord(_ key: String) throws(SettingsError) -> String {
        guard let word = try word(key) else { throw SettingsError(path(of: key), "is missing") }
        return word
    }

    /// The name of a host, or an address: no URL, and no address of a user.
    mutating func host(_ key: String) throws(SettingsError) -> String {
        let host = try requiredText(key)
        guard
            !host.unicodeScalars.contains(where: {
                $0.value <= 0x20 || $0.value == 0x7f || "/@".unicodeScalars.contains($0)
            })
        else { throw SettingsError(path(of: key), "is no name of a host: a blank, \"/\" or \"@\" is in it") }
        return host
    }

    /// The path of a file. A relative path begins at the settings file: a check by hand and the service have different
    /// working directories.
    mutating func file(_ key: String) throws(SettingsError) -> String? {
        guard let name = try text(key) else { return nil }
        return folder.isEmpty || name.begins(with: "/") ? name : "\(folder)/\(name)"
    }

    /// A list of texts; empty if the key is missing.
    mutating func texts(_ key: String) throws(SettingsError) -> [String] {
        var texts: [String] = []
        for element in try array(key) {
            guard let text = element.text, !text.isEmpty else {
                throw SettingsError(path(of: key), "a list of strings is wanted")
            }
            texts.append(text)
        }
        return texts
    }

    /// The paths of files.
    mutating func files(_ key: String) throws(SettingsError) -> [String] {
        try texts(key).map { folder.isEmpty || $0.begins(with: "/") ? $0 : "\(folder)/\($0)" }
    }

    /// A list of objects; empty if the key is missing.
    mutating func objects(_ key: String) throws(SettingsError) -> [SettingsReader] {
        var objects: [SettingsReader] = []
        for (index, element) in try array(key).enumerated() {
            objects.append(try SettingsReader(element, path: "\(path(of: key))[\(index)]", folder: folder))
        }
        return objects
    }

    private mutating func array(_ key: String) throws(SettingsError) -> [JSONValue] {
        guard let value = value(key) else { return [] }
        guard case .array(let elements) = value else {
            throw SettingsError(path(of: key), "is \(value.kind), a list is wanted")
        }
        return elements
    }

    mutating func bool(_ key: String, _ standard: Bool) throws(SettingsError) -> Bool {
        guard let value = value(key) else { return standard }
        guard case .bool(let bool) = value else {
            throw SettingsError(path(of: key), "is \(value.kind), true or false is wanted")
        }
        return bool
    }

    mutating func integer(_ key: String, _ standard: Int, in range: ClosedRange<Int>) throws(SettingsError) -> Int {
        guard let value = value(key) else { return standard }
        guard case .integer(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
            throw SettingsError(
                path(of: key), "a whole number from \(range.lowerBound) to \(range.upperBound) is wanted")
        }
        return integer
    }

    /// Milliseconds.
    mutating func time(_ key: String, _ standard: Milliseconds, least: Milliseconds = 0) throws(SettingsError)
        -> Milliseconds
    {
        guard let value = value(key) else { return standard }
        guard let text = value.text, let time = HumanTime.milliseconds(text) else {
            throw SettingsError(path(of: key), "a duration is wanted, such as \"20s\", \"10m\" or \"1h 30m\"")
        }
        guard time >= least else { throw SettingsError(path(of: key), "is less than \(least) ms") }
        return time
    }

    /// Throws if there is a key that was not asked for.
    func finish() throws(SettingsError) {
        guard let unknown = members.keys.filter({ !asked.contains($0) }).min() else { return }
        let folded = unknown.lowercased().filter { $0 != "_" }
        let near = asked.first { $0.lowercased().filter { $0 != "_" } == folded }
        throw SettingsError(path(of: unknown), "is no key known here" + (near.map { "; \"\($0)\" is" } ?? ""))
    }
}

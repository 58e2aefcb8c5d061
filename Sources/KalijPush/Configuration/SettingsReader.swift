import KalijText

/// An object of a configuration, read key by key; a key that no reader requests is an error. Errors are noted, and an invalid
/// value is read as a missing one.
struct SettingsReader {
    let path: String
    /// Where the settings file is; empty for the working directory.
    private let folder: String
    private let members: [String: JSONValue]
    private let errors: SettingsErrors
    /// Whether the value is an object; in any other value no missing key is reported.
    private let isObject: Bool
    private var requestedKeys: Set<String> = []  // characters: names of this program's.

    init(_ value: JSONValue, path: String, folder: String, _ errors: SettingsErrors) {
        (self.path, self.folder, self.errors) = (path, folder, errors)
        if case .object(let members) = value {
            (self.members, isObject) = (members, true)
        } else {
            (members, isObject) = ([:], false)
            errors.record(path, "is \(value.kind), an object is wanted")
        }
    }

    /// Notes an error at `key`.
    func record(_ key: String, _ reason: String) { errors.record(path(of: key), reason) }

    /// Notes that `key` is missing, unless it is there and wrong, and so was noted.
    /// - Returns: an empty text, as a placeholder.
    @discardableResult
    func missing(_ key: String, _ more: String = "") -> String {
        if isObject, members[key] ?? .null == .null { record(key, "is missing" + more) }
        return ""
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Every key, in order; for objects with names as keys.
    var keys: [String] { members.keys.sorted() }

    mutating func value(_ key: String) -> JSONValue? {
        requestedKeys.insert(key)
        let value = members[key]
        return value == .null ? nil : value
    }

    mutating func object(_ key: String) -> SettingsReader? {
        value(key).map { SettingsReader($0, path: path(of: key), folder: folder, errors) }
    }

    mutating func requiredObject(_ key: String) -> SettingsReader? {
        let object = object(key)
        if object == nil { missing(key) }
        return object
    }

    mutating func text(_ key: String) -> String? {
        guard let value = value(key) else { return nil }
        if value.text == nil { record(key, "is \(value.kind), a string is wanted") }
        if value.text?.isEmpty ?? false { record(key, "is empty") }
        return value.text
    }

    /// A text for a field of HTTP or a name at a provider: printable ASCII without blanks.
    mutating func word(_ key: String) -> String? {
        let text = text(key)
        if !(text ?? "").utf8.allSatisfy({ 0x21...0x7e ~= $0 }) {
            record(key, "has a blank, a control character or a character beyond ASCII")
        }
        return text
    }

    /// The name of a host, or an address: no URL, and no address of a user. Empty if there is none.
    mutating func host(_ key: String) -> String {
        let host = text(key) ?? missing(key)
        let isHost = !host.unicodeScalars.contains {
            $0.value <= 0x20 || $0.value == 0x7f || "/@".unicodeScalars.contains($0)
        }
        if !isHost { record(key, "is no name of a host: a blank, \"/\" or \"@\" is in it") }
        return host
    }

    /// The path of a file. A relative path begins at the settings file: a check by hand and the service have different
    /// working directories.
    mutating func file(_ key: String) -> String? {
        guard let name = text(key) else { return nil }
        return folder.isEmpty || name.begins(with: "/") ? name : "\(folder)/\(name)"
    }

    /// A list of texts; empty if the key is missing.
    mutating func texts(_ key: String) -> [String] {
        let elements = array(key)
        let texts = elements.compactMap(\.text).filter { !$0.isEmpty }
        if texts.count < elements.count { record(key, "a list of strings is wanted") }
        return texts
    }

    /// The paths of files.
    mutating func files(_ key: String) -> [String] {
        texts(key).map { folder.isEmpty || $0.begins(with: "/") ? $0 : "\(folder)/\($0)" }
    }

    /// A list of objects; empty if the key is missing.
    mutating func objects(_ key: String) -> [SettingsReader] {
        array(key).enumerated().map { index, element in
            SettingsReader(element, path: "\(path(of: key))[\(index)]", folder: folder, errors)
        }
    }

    /// A list of whole numbers; empty if the key is missing.
    mutating func integers(_ key: String, in range: ClosedRange<Int>) -> [Int] {
        let elements = array(key)
        let numbers = elements.compactMap { element -> Int? in
            if case .integer(let number) = element {
                Int(exactly: number).flatMap { range.contains($0) ? $0 : nil }
            } else {
                nil
            }
        }
        if numbers.count < elements.count {
            record(key, "a list of whole numbers from \(range.lowerBound) to \(range.upperBound) is wanted")
        }
        return numbers
    }

    private mutating func array(_ key: String) -> [JSONValue] {
        guard let value = value(key) else { return [] }
        if case .array(let elements) = value { return elements }
        record(key, "is \(value.kind), a list is wanted")
        return []
    }

    mutating func bool(_ key: String, _ standard: Bool) -> Bool {
        guard let value = value(key) else { return standard }
        if case .bool(let bool) = value { return bool }
        record(key, "is \(value.kind), true or false is wanted")
        return standard
    }

    mutating func integer(_ key: String, _ standard: Int, in range: ClosedRange<Int>) -> Int {
        guard let value = value(key) else { return standard }
        if case .integer(let number) = value, let integer = Int(exactly: number), range.contains(integer) {
            return integer
        }
        record(key, "a whole number from \(range.lowerBound) to \(range.upperBound) is wanted")
        return standard
    }

    /// A number of a port; `standard`, if nil, is missing.
    mutating func port(_ key: String, _ standard: Int?) -> UInt16 {
        if standard == nil { missing(key) }
        return UInt16(clamping: integer(key, standard ?? 0, in: 1...65_535))
    }

    /// Milliseconds.
    mutating func time(_ key: String, _ standard: Milliseconds, least: Milliseconds = 0) -> Milliseconds {
        guard let value = value(key) else { return standard }
        guard let text = value.text, let time = HumanTime.milliseconds(text) else {
            record(key, "a duration is wanted, such as \"20s\", \"10m\" or \"1h 30m\"")
            return standard
        }
        if time < least { record(key, "is less than \(least) ms") }
        return time
    }

    /// Notes each key that was not requested, with the known key that is most similar.
    func finish() {
        for unknown in members.keys.filter({ !requestedKeys.contains($0) }).sorted() {
            let near = requestedKeys.sorted().first { $0.folded == unknown.folded || $0.isAlmost(unknown) }
            record(unknown, "is no key known here" + (near.map { "; \"\($0)\" is" } ?? ""))
        }
    }
}

extension String {
    fileprivate var folded: String { lowercased().filter { $0 != "_" } }
}

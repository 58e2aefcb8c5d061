import FoundationEssentials
import KalijRatchet

/// Names of devices in lists (XEP-0384 section 5.3.1). Anybody can call a device anything.
extension DeviceList.Label {
    /// The maximum length of a name in Unicode scalars, as the standard recommends.
    static let maxName = 53

    /// The label of the own device.
    /// - Throws: `RatchetError.library`
    init(_ name: String, by identity: Identity) throws {
        text = name
        signature = Data(try identity.sign(label: Array(name.utf8))).base64EncodedString()
    }

    /// The name for people; nil if the owner of `key` has not signed it, or if nothing of it can be shown.
    func name(by key: PublicKey) throws -> String? {
        guard let bytes = Data(base64Encoded: signature), let identity = try? PublicIdentity(key),
            try identity.hasSigned(label: Array(text.utf8), [UInt8](bytes))
        else { return nil }
        return Self.clean(text)
    }

    /// The text without control characters, line breaks and characters that change the direction of writing, and not longer than a name
    /// may be; nil if nothing is left.
    static func clean(_ text: String) -> String? {
        var name = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where name.count < maxName {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: continue
            case .spaceSeparator: if let last = name.last, last != " " { name.append(" ") }
            default: name.append(scalar)
            }
        }
        if name.last == " " { name.removeLast() }
        return name.isEmpty ? nil : String(name)
    }
}

/// Why an element is no valid stanza. All but ``notThisStanza(_:found:namespace:)`` are to be answered with
/// `bad-request` (RFC 6120, 8.2.3 and 8.3.3.1; RFC 6121, 4.7.1).
public enum StanzaFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The element is called otherwise, or is in no namespace of stanzas.
    case notThisStanza(String, found: String, namespace: String?)
    /// The type is not in the standard's list; nil if a required type is missing.
    case unknownType(stanza: String, type: String?)
    /// An iq without an id.
    case missingID
    /// An iq with another number of payloads than its type allows.
    case payloadCount(Int, type: String)

    public var description: String {
        switch self {
        case .notThisStanza(let name, let found, let namespace):
            "expected <\(name)/> in a namespace of stanzas, found <\(found)/> in \(namespace ?? "no namespace")"
        case .unknownType(let stanza, let type?): "\"\(type)\" is no type of <\(stanza)/>"
        case .unknownType(let stanza, nil): "<\(stanza)/> without a type"
        case .missingID: "<iq/> without an id"
        case .payloadCount(let count, let type): "<iq/> of type \"\(type)\" with \(count) payloads"
        }
    }
}

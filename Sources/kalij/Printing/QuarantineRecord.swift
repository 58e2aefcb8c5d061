import KalijClient
import KalijText

/// A quarantined stanza, as printed by `status` and `quarantine`.
struct QuarantineRecord: Encodable {
    let id: Int64
    let account, at, reason, name: String
    let from: String?
    let size: Int
    let retry: String
    var stanza: String?

    init(_ stanza: Quarantine.Stanza) {
        id = stanza.id
        account = stanza.account
        at = Stamp.of(stanza.at)
        reason = stanza.reason
        name = stanza.name
        from = stanza.sender
        size = stanza.size
        retry =
            switch stanza.retrying {
            case .possible: "possible"
            case .wanted: "wanted"
            case .interrupted: "interrupted"
            case .truncated: "truncated"
            case .outdated: "outdated"
            }
    }

    /// The text for people.
    var line: PrintedText {
        let can =
            switch retry {
            case "wanted": "; will be tried again"
            case "interrupted": "; tried again, and the process ended meanwhile"
            case "truncated": "; cannot be tried again, only its first 64 KiB were kept"
            case "outdated": "; cannot be tried again, nobody waits for the answer any more"
            default: ""
            }
        return "\(id) \(at) <\(name)/> of \(size) bytes from \(from ?? "the server") for \(account): \(reason)\(can)"
    }
}

import CCares

/// Why the DNS did not give an answer to a question.
enum DNSError: Error, Equatable {
    /// There is no such name.
    case noSuchName
    /// The name is there, but has no record of the kind.
    case noRecords
    /// No answer in time, or the server's answer is that no answer is possible; in words.
    case noAnswer(String)
    /// The text cannot be a name.
    case badName

    /// - Parameter status: the result of c-ares; not `ARES_SUCCESS`.
    init(status: Int32) {
        switch status {
        case ARES_ENOTFOUND: self = .noSuchName
        case ARES_ENODATA: self = .noRecords
        case ARES_EBADNAME: self = .badName
        case ARES_ETIMEOUT: self = .noAnswer("no answer from the DNS")
        case ARES_ECONNREFUSED: self = .noAnswer("no DNS server can be reached")
        default: self = .noAnswer("DNS: " + String(cString: ares_strerror(status)).lowercased())
        }
    }

    var reason: String {
        switch self {
        case .noSuchName: "no such name"
        case .noRecords: "the name has no address"
        case .noAnswer(let reason): reason
        case .badName: "not a host name"
        }
    }

    var kind: ConnectFailure.Kind {
        switch self {
        case .noSuchName, .noRecords, .badName: .noSuchName
        case .noAnswer: .noAnswer
        }
    }
}

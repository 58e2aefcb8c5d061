import KalijClient
import KalijStream
import KalijText

/// The link of an account's server, in the output of `status`.
struct LinkRecord: Encodable {
    private let host, address: String
    private let port: Int
    private let directTLS: Bool
    private let roundTrip, rate: Int?
    private let login: LoginRecord
    private let unasked, off: [String]
    private let tickets: Bool

    private struct LoginRecord: Encodable {
        let mechanism, binding: String?
        let sasl2, token: Bool
        let sent, received, milliseconds: Int?
    }

    private enum CodingKeys: String, CodingKey {
        case host, address, port, login, unasked, off, tickets, rate
        case directTLS = "direct_tls"
        case roundTrip = "round_trip"
    }

    init(_ status: LinkStatus) {
        (host, address) = (status.endpoint.host, status.endpoint.address)
        (port, directTLS) = (Int(status.endpoint.port), status.endpoint.directTLS)
        (roundTrip, rate, tickets) = (status.roundTrip, status.bytesPerSecond, status.takesTickets)
        let cost = status.lastLogin
        login = LoginRecord(
            mechanism: status.pins.mechanism?.rawValue, binding: status.pins.binding?.rawValue,
            sasl2: status.pins.isSASL2, token: status.hasToken, sent: cost?.sent, received: cost?.received,
            milliseconds: cost?.milliseconds)
        unasked = status.unasked.map(\.rawValue).sorted()
        off = status.turnedOff.map(\.rawValue).sorted()
    }

    /// The text for people.
    var lines: [PrintedText] {
        let place: PrintedText = "\(host), \(address) port \(port), \(directTLS ? "direct TLS" : "STARTTLS")"
        let quickness: PrintedText =
            "round trip \(roundTrip.map { "\($0) ms" } ?? "unknown"), rate \(rate.map(Self.rateText) ?? "unknown")"
        var lines: [PrintedText] = ["  link: \(place); \(quickness)"]
        let means: [PrintedText] = [
            "\(login.mechanism ?? "no mechanism yet")",
            "\(login.binding.map { "bound by \($0)" } ?? "not bound to TLS")",
            login.sasl2 ? "SASL2" : "", login.token ? "a token is stored" : "", tickets ? "TLS tickets" : "",
        ].filter { !$0.isEmpty }
        lines.append("  login: \(means.joined(separator: ", "))\(cost)")
        let letters: PrintedText =
            "\(unasked.isEmpty ? "nothing" : unasked.joined(separator: ", "))"
            + (off.isEmpty ? "" : "; failed and turned off: \(off.joined(separator: ", "))")
        lines.append("  sent unasked: \(letters)")
        return lines
    }

    private var cost: PrintedText {
        guard let sent = login.sent, let received = login.received, let time = login.milliseconds else { return "" }
        return "; the last took \(sent) bytes up, \(received) down, \(Self.seconds(time)) s"
    }

    private static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1000).\(milliseconds % 1000 / 100)"
    }

    /// The rate in bits, the customary unit of links.
    private static func rateText(_ bytesPerSecond: Int) -> String {
        let kilobits = bytesPerSecond / 125
        return kilobits < 10_000 ? "\(kilobits) kbit/s" : "\(kilobits / 1000) Mbit/s"
    }
}

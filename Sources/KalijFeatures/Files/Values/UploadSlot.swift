import KalijCore
import KalijStream
import KalijXML

import FoundationEssentials

/// The URL for the PUT of a file, and the URL from which it can be fetched afterwards (XEP-0363 section 5).
package struct UploadSlot: Equatable, Sendable, Codable {
    package static let namespace = "urn:xmpp:http:upload:0"

    package let put: String
    package let get: String
    package let headers: [Header]

    /// A header of the PUT.
    package struct Header: Equatable, Sendable, Codable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package init(put: String, get: String, headers: [Header] = []) {
        (self.put, self.get, self.headers) = (put, get, headers)
    }

    /// The maximum length of a header and of a URL, in bytes: both are stored in a row.
    private static let maxLength = 4096
    /// The only headers that XEP-0363 section 5 allows.
    private static let allowed = ["authorization", "cookie", "expires"]

    /// Parses the response to a request for a slot.
    /// - Returns: nil unless the response contains two HTTPS URLs.
    init?(_ iq: Element) {
        guard let slot = iq.child("slot", Self.namespace), let put = slot.child("put", Self.namespace),
            let get = slot.child("get", Self.namespace)?["url"], let url = put["url"], Self.isURL(url), Self.isURL(get)
        else { return nil }
        let headers = put.children.compactMap { child -> Header? in
            guard child.isNamed("header", Self.namespace), let name = child["name"].map(Self.withoutBreaks),
                Self.allowed.contains(name.lowercased()), child.text.utf8.count <= Self.maxLength
            else { return nil }
            let value = Self.withoutBreaks(child.text)
            return value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ? Header(name, value) : nil
        }
        guard headers.count <= 10 else { return nil }
        self.init(put: url, get: get, headers: headers)
    }

    /// Removes line feeds, which would begin further headers (section 5), and enclosing spaces.
    private static func withoutBreaks(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { $0 != "\n" && $0 != "\r" }
        guard let first = scalars.firstIndex(where: { $0 != " " }), let last = scalars.lastIndex(where: { $0 != " " })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }

    private static func isURL(_ text: String) -> Bool {
        text.utf8.count <= maxLength && FileAddress.isWeb(text)
    }

    /// The request for a slot.
    static func request(name: String, size: Int64, type: String) -> Element {
        Element(
            "request", xmlns: namespace,
            attributes: ["filename": name, "size": "\(size)", "content-type": type])
    }
}

extension SlotRefusal {
    /// - Parameters:
    ///   - iq: the whole response.
    ///   - clock: the difference from the time of day to the steady time, in milliseconds.
    init(_ error: StanzaError, _ iq: Element, steadyAhead clock: Int64, now: Int64) {
        let details = iq.child("error", "jabber:client")
        switch error.condition {
        case .notAcceptable:
            let limit = details?.child("file-too-large", UploadSlot.namespace)?
                .child("max-file-size", UploadSlot.namespace)?.text
            self = .forGood(
                limit.flatMap { Int64($0) }.map { Reason(.fileTooLarge, "\($0)") } ?? Reason(error))
        // The same request would be refused again (RFC 6120 section 8.3.2).
        case .badRequest where error.kind == .modify || error.kind == .cancel:
            self = .forGood(Reason(.uploadRefused, "the server takes no such file: \(error)"))
        case .forbidden, .notAllowed:
            self = .forGood(Reason(.uploadRefused, "the server does not allow uploads: \(error)"))
        case .resourceConstraint:
            let stamp = details?.child("retry", UploadSlot.namespace)?["stamp"].flatMap { DateTime.date($0) }
            let time = stamp.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded()) }
            let (later, overflow) = (time ?? 0).addingReportingOverflow(clock)
            let wanted = time == nil || overflow ? now + 3_600_000 : later
            // A server with a wrong clock must not block the file forever.
            self = .until(min(max(wanted, now + 1_000), now + 7 * 86_400_000), "the server asks to wait: \(error)")
        default: self = .forNow("\(error)")
        }
    }
}

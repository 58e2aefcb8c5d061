import CCurl

/// A checked URL of a file: `https`, with a host, without a user name and a fragment.
///
/// Read by libcurl, which also connects: two readers of different opinions on the host would allow the rules to be bypassed.
public struct TransferURL: Sendable, Hashable {
    /// Of the text of a URL, in bytes.
    static let limit = 8 * 1024

    /// In libcurl's form, without the fragment.
    public let text: String
    /// In lower case, without the port; an IPv6 address in brackets.
    public let host: String

    /// - Parameter base: resolves a relative reference (RFC 3986, 5).
    /// - Throws: ``TransferFailure``: `invalidRequest`, or `libraryMissing` as libcurl reads URLs.
    public init(_ text: String, relativeTo base: TransferURL? = nil) throws(TransferFailure) {
        let parts = try Parts()
        guard text.utf8.count <= Self.limit else { throw TransferFailure(.invalidRequest, "the URL is too long") }
        guard !text.utf8.contains(0) else { throw TransferFailure(.invalidRequest, "the URL has a NUL") }
        if let base { try parts.set(base.text) }
        try parts.set(text)
        guard parts[CURLUPART_SCHEME] == "https" else {
            throw TransferFailure(.invalidRequest, "the URL is not https")
        }
        guard parts[CURLUPART_USER] == nil, parts[CURLUPART_PASSWORD] == nil else {
            throw TransferFailure(.invalidRequest, "the URL has a user name")
        }
        guard let host = parts[CURLUPART_HOST], !host.isEmpty else {
            throw TransferFailure(.invalidRequest, "the URL has no host")
        }
        parts.removeFragment()
        guard let whole = parts[CURLUPART_URL] else { throw TransferFailure(.invalidRequest, "the URL is malformed") }
        self.text = whole
        self.host = host.lowercased()
    }

    /// A handle of libcurl's for a URL.
    private final class Parts {
        private let curl: CurlLibrary
        private let handle: OpaquePointer

        init() throws(TransferFailure) {
            curl = try CurlLibrary.load()
            guard let handle = curl.functions.url() else { throw TransferFailure(.system, "out of memory") }
            self.handle = handle
        }

        deinit { curl.functions.url_cleanup(handle) }

        func set(_ text: String) throws(TransferFailure) {
            // Spaces and bytes outside of ASCII are encoded, as browsers do.
            let status = curl.functions.url_set(handle, CURLUPART_URL, text, UInt32(CURLU_URLENCODE))
            guard status == CURLUE_OK else { throw TransferFailure(.invalidRequest, "the URL is malformed") }
        }

        func removeFragment() { _ = curl.functions.url_set(handle, CURLUPART_FRAGMENT, nil, 0) }

        subscript(part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl.functions.url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
            defer { curl.functions.free(text) }
            return String(cString: text)
        }
    }
}

import CCurl
import COpenSSL
import Glibc
import KalijText

/// A transfer's handle in libcurl, with everything whose address libcurl keeps. `CurlMulti` gives the handle up before this
/// object is freed.
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    private let curl: CurlLibrary
    // lives: until deinit, after the handle
    private let errorText = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var addresses: UnsafeMutablePointer<curl_slist>?

    init(curl: CurlLibrary) throws(TransferFailure) {
        guard let handle = curl.functions.easy_init() else { throw TransferFailure(.system, "out of memory") }
        self.curl = curl
        self.handle = handle
        errorText.initialize(repeating: 0)
    }

    deinit {
        curl.functions.easy_cleanup(handle)
        curl.functions.slist_free_all(fields)
        curl.functions.slist_free_all(addresses)
        errorText.deallocate()
    }

    /// Requests bytes again after ``WithheldLastBlock/Portion/held``.
    func resume() { _ = curl.functions.easy_pause(handle, CURLPAUSE_CONT) }

    /// Whether TLS is established.
    var isConnected: Bool { offset(CURLINFO_APPCONNECT_TIME_T) > 0 }
    /// Seconds, 0 without the field; a date counts from this machine's clock.
    var retryAfter: Int64 { offset(CURLINFO_RETRY_AFTER) }

    private func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return kalij_curl_get_offset(curl.table, handle, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    /// What has arrived on a connection that is dead, and libcurl will not read: lines with their ends.
    func readRest() -> [[UInt8]] {
        guard let tls = kalij_curl_tls(curl.table, handle).map(OpaquePointer.init) else { return [] }
        var rest: [UInt8] = []
        var portion = [UInt8](repeating: 0, count: 16 * 1024)
        while rest.count <= ResponseHeadParser.limit {
            let count = SSL_read(tls, &portion, Int32(truncatingIfNeeded: portion.count))
            guard count > 0 else { break }
            rest += portion.prefix(Int(count))
        }
        ERR_clear_error()
        return rest.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map { $0 + [0x0A] }
    }

    // MARK: Setting

    /// - Throws: ``TransferFailure``: `invalidRequest`, `configuration`, or `libraryMissing` if libcurl does not support an option.
    func configure(for request: TransferRequest, url: TransferURL, length: Int64?) throws(TransferFailure) {
        try set(CURLOPT_URL, url.text)
        try set(CURLOPT_PROTOCOLS_STR, "https")
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // No variable of the environment counts.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOPROXY, "*")
        try set(CURLOPT_NOSIGNAL, 1)
        // A lookup under way does not hold up the end of its transfer.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        try set(CURLOPT_FRESH_CONNECT, 1)
        try set(CURLOPT_FORBID_REUSE, 1)
        try set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        try set(CURLOPT_BUFFERSIZE, Self.buffer)
        try set(CURLOPT_UPLOAD_BUFFERSIZE, Self.buffer)
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, min(request.limits.connect, 86_400) * 1000)))
        try setTrust(caFile: request.caFile)
        try setMethod(request.method, length: length)
        try setFields(request)
        let status = kalij_curl_set_pointer(curl.table, handle, CURLOPT_ERRORBUFFER, errorText.baseAddress)
        try check(status, CURLOPT_ERRORBUFFER)
    }

    /// Bytes read and written at a time.
    private static let buffer = 64 * 1024

    private func setMethod(_ method: TransferRequest.Method, length: Int64?) throws(TransferFailure) {
        switch method {
        case .get: try set(CURLOPT_HTTPGET, 1)
        case .head: try set(CURLOPT_NOBODY, 1)
        case .put:
            try set(CURLOPT_UPLOAD, 1)
            let status = kalij_curl_set_offset(curl.table, handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(length ?? 0))
            try check(status, CURLOPT_INFILESIZE_LARGE)
        }
    }

    /// As `TLSContext` of KalijTransport does: a directory of hashed names instead of the bundle, which takes megabytes.
    private func setTrust(caFile: String?) throws(TransferFailure) {
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_CA_CACHE_TIMEOUT, 0)
        var (file, directory) = (caFile, String?.none)
        if caFile == nil {
            directory =
                EnvironmentVariable.value(String(cString: X509_get_default_cert_dir_env()))
                ?? String(cString: X509_get_default_cert_dir())
            file = EnvironmentVariable.value(String(cString: X509_get_default_cert_file_env()))
            if let path = directory, access(path, R_OK) != 0 { directory = nil }
            if directory == nil, file == nil { file = String(cString: X509_get_default_cert_file()) }
        }
        try set(CURLOPT_CAINFO, file)
        try set(CURLOPT_CAPATH, directory)
    }

    private func setFields(_ request: TransferRequest) throws(TransferFailure) {
        var all = request.fields
        try HeaderValidation.check(all)
        if let offset = request.offset {
            guard request.method == .get, offset > 0 else {
                throw TransferFailure(.invalidRequest, "only a GET goes on, from byte 1 or later")
            }
            all.append(HeaderField("Range", "bytes=\(offset)-"))
            if let validator = request.validator {
                try HeaderValidation.check(value: validator)
                all.append(HeaderField("If-Range", validator))
            }
        }
        all.append(HeaderField("Accept-Encoding", "identity"))
        // libcurl's form for an empty value is a semicolon; a name with a colon alone leaves a field of libcurl out.
        for line in all.map({ $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }) + ["Expect:"] {
            try append(line, to: &fields)
        }
        let status = kalij_curl_set_pointer(curl.table, handle, CURLOPT_HTTPHEADER, fields)
        try check(status, CURLOPT_HTTPHEADER)
    }

    func setAddresses(_ lines: [String]) throws(TransferFailure) {
        guard !lines.isEmpty else { return }
        for line in lines { try append(line, to: &addresses) }
        try check(kalij_curl_set_pointer(curl.table, handle, CURLOPT_RESOLVE, addresses), CURLOPT_RESOLVE)
    }

    func setCallbacks(transfer: CurlTransfer, sockets: CurlTimers) throws(TransferFailure) {
        // lives: until the multi has dropped the handle, which it keeps the transfer for
        let user = Unmanaged.passUnretained(transfer).toOpaque()
        // lives: longer than the multi's handle
        let table = Unmanaged.passUnretained(sockets).toOpaque()
        let statuses = [
            kalij_curl_set_read(curl.table, handle, CurlCallbacks.read, user),
            kalij_curl_set_write(curl.table, handle, CurlCallbacks.write, user),
            kalij_curl_set_progress(curl.table, handle, CurlCallbacks.progress, user),
            kalij_curl_set_header(curl.table, handle, CurlCallbacks.header, user),
            kalij_curl_set_sockets(
                curl.table, handle, CurlCallbacks.openSocket, user, CurlCallbacks.closeSocket, table),
        ]
        for status in statuses { try check(status, CURLOPT_READFUNCTION) }
    }

    private func append(
        _ line: String, to list: inout UnsafeMutablePointer<curl_slist>?
    ) throws(TransferFailure) {
        guard let longer = curl.functions.slist_append(list, line) else {
            throw TransferFailure(.system, "out of memory")
        }
        list = longer
    }

    private func set(_ option: CURLoption, _ value: Int) throws(TransferFailure) {
        try check(kalij_curl_set_long(curl.table, handle, option, value), option)
    }

    private func set(_ option: CURLoption, _ value: String?) throws(TransferFailure) {
        try check(kalij_curl_set_text(curl.table, handle, option, value), option)
    }

    private func check(_ code: CURLcode, _ option: CURLoption) throws(TransferFailure) {
        guard code != CURLE_OK else { return }
        let isMemory = code == CURLE_OUT_OF_MEMORY
        throw TransferFailure(
            isMemory ? .system : .libraryMissing, "libcurl refuses option \(option.rawValue): \(curl.text(of: code))")
    }

    // MARK: Failing

    /// A result of libcurl as a ``TransferFailure``, with libcurl's words.
    func failure(_ code: CURLcode) -> TransferFailure {
        let words = errorText.baseAddress.map { String(cString: $0) } ?? ""
        return TransferFailure(Self.codes[code.rawValue] ?? .system, words.isEmpty ? curl.text(of: code) : words)
    }

    private static let codes: [UInt32: TransferFailure.Code] = {
        let named: [(CURLcode, TransferFailure.Code)] = [
            (CURLE_COULDNT_RESOLVE_HOST, .name), (CURLE_COULDNT_CONNECT, .connect),
            (CURLE_OPERATION_TIMEDOUT, .timeout),
            (CURLE_SSL_CONNECT_ERROR, .tls), (CURLE_SSL_CIPHER, .tls), (CURLE_PEER_FAILED_VERIFICATION, .certificate),
            (CURLE_SSL_CACERT_BADFILE, .configuration), (CURLE_RECV_ERROR, .cut), (CURLE_SEND_ERROR, .cut),
            (CURLE_SEND_FAIL_REWIND, .cut), (CURLE_GOT_NOTHING, .cut), (CURLE_PARTIAL_FILE, .cut),
            (CURLE_WEIRD_SERVER_REPLY, .protocolError), (CURLE_UNSUPPORTED_PROTOCOL, .protocolError),
            (CURLE_HTTP_RETURNED_ERROR, .protocolError), (CURLE_BAD_CONTENT_ENCODING, .protocolError),
            (CURLE_FILESIZE_EXCEEDED, .protocolError),  // CURLE_TOO_LARGE of 8.6 and later.
            (CURLcode(rawValue: 100), .protocolError),
        ]
        return Dictionary(named.map { ($0.0.rawValue, $0.1) }) { first, _ in first }
    }()
}

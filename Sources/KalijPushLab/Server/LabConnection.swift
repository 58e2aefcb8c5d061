import CNghttp2
import COpenSSL
import Glibc
import KalijTransport

/// A client of a stand-in: the server's side of TLS and of HTTP/2.
final class LabConnection {
    private let loop: EventLoop
    private let descriptor: Int32
    private let ssl: OpaquePointer?
    private let number: Int
    private let answer: (LabRequest) -> LabReply
    private let ended: () -> Void
    private var watch: Watch?
    // Owned: freed in deinit. nghttp2 calls back only from within the connection's own calls.
    private var session: OpaquePointer?
    private var requests: [Int32: LabRequest] = [:]
    private var bodies: [Int32: [UInt8]] = [:]
    private var output: [UInt8] = []
    private var isSecured = false
    private var isOver = false
    private var clientName: String?

    init(
        loop: EventLoop, descriptor: Int32, tls: LabTLS, number: Int, streams: UInt32, window: Int32,
        opening: LabOpening,
        answer: @escaping (LabRequest) -> LabReply, ended: @escaping () -> Void
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.number = number
        self.answer = answer
        self.ended = ended
        ssl = SSL_new(tls.context)
        SSL_set_fd(ssl, descriptor)
        SSL_set_accept_state(ssl)
        makeSession()
        limit(streams)
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, window)
        begin(opening)
        watch = try? loop.watch(descriptor, .read) { [weak self] _ in self?.step() }
    }

    deinit {
        nghttp2_session_del(session)
        SSL_free(ssl)
        if !isOver { close(descriptor) }
    }

    func hangUp() {
        guard !isOver else { return }
        isOver = true
        watch?.cancel()
        close(descriptor)
        loop.enqueue(ended)
    }

    private func begin(_ opening: LabOpening) {
        switch opening {
        case .usual: break
        case .goAway: nghttp2_submit_goaway(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 0, nil, 0)
        case .broken(let hasSettings):
            var start: UnsafePointer<UInt8>?
            while hasSettings {
                let count = nghttp2_session_mem_send(session, &start)
                guard count > 0, let start else { break }
                output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
            }
            // A PING has eight bytes (RFC 9113, 6.7); this one has none.
            output += [0, 0, 0, 6, 0, 0, 0, 0, 0]
        }
    }

    private func limit(_ streams: UInt32) {
        var entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: streams)
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    }

    // MARK: Bytes

    private func step() {
        ERR_clear_error()
        if !isSecured {
            let result = SSL_do_handshake(ssl)
            guard result == 1 else {
                let error = SSL_get_error(ssl, result)
                if error != SSL_ERROR_WANT_READ, error != SSL_ERROR_WANT_WRITE { hangUp() }
                return
            }
            isSecured = true
            clientName = readClientName()
        }
        read()
        flush()
    }

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
            while !isOver {
                ERR_clear_error()
                var count = 0
                let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
                guard result == 1 else {
                    let error = SSL_get_error(ssl, result)
                    if error != SSL_ERROR_WANT_READ, error != SSL_ERROR_WANT_WRITE { hangUp() }
                    // Without AUTO_RETRY a record without data ends a read, too; epoll reports the rest.
                    return
                }
                let bytes = buffer.bindMemory(to: UInt8.self).baseAddress
                if nghttp2_session_mem_recv(session, bytes, count) < 0 { return hangUp() }
            }
        }
    }

    private func flush() {
        while !isOver {
            if output.count < 65_536 {
                var start: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(session, &start)
                if count > 0, let start {
                    output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
                    continue
                }
            }
            if output.isEmpty { break }
            ERR_clear_error()
            var written = 0
            let result = SSL_write_ex(ssl, output, min(output.count, 16_384), &written)
            guard result == 1 else {
                let error = SSL_get_error(ssl, result)
                guard error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ else { return hangUp() }
                watch?.interest = [.read, .write]
                return
            }
            output.removeFirst(written)
        }
        if !isOver { watch?.interest = .read }
    }

    private func readClientName() -> String? {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return nil }
        var text = [CChar](repeating: 0, count: 256)
        // fits: 256
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, &text, Int32(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: HTTP/2

    private func makeSession() {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        // The pointer is used only from within the connection's own calls to nghttp2, while the connection lives.
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameSize, value, valueSize, _, user in
            guard let frame, let connection = LabConnection.of(user) else { return 0 }
            connection.field(
                frame.pointee.hd.stream_id,
                String(decoding: UnsafeBufferPointer(start: name, count: nameSize), as: UTF8.self),
                String(decoding: UnsafeBufferPointer(start: value, count: valueSize), as: UTF8.self))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, count, user in
            LabConnection.of(user)?.requests[stream]?.body
                .append(contentsOf: UnsafeBufferPointer(start: data, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame, let connection = LabConnection.of(user) else { return 0 }
            let isEnd = frame.pointee.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            if isEnd { connection.complete(frame.pointee.hd.stream_id) }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, user in
            LabConnection.of(user)?.requests[stream] = nil
            LabConnection.of(user)?.bodies[stream] = nil
            return 0
        }
        // lives: the session is deleted in the connection's deinit
        nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        nghttp2_session_callbacks_del(callbacks)
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> LabConnection? {
        pointer.map { Unmanaged<LabConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private func field(_ stream: Int32, _ name: String, _ value: String) {
        var request = requests.removeValue(forKey: stream) ?? LabRequest()
        switch name {
        case ":method": request.method = value
        case ":path": request.path = value
        default: request.fields[name] = value
        }
        requests[stream] = request
    }

    private func complete(_ stream: Int32) {
        guard var request = requests[stream] else { return }
        request.connection = number
        request.clientName = clientName
        requests[stream] = LabRequest()
        reply(answer(request), on: stream)
    }

    private func reply(_ reply: LabReply, on stream: Int32) {
        switch reply {
        case .respond(let status, let fields, let body): respond(stream, status, fields, body)
        case .later(let seconds, let next):
            loop.schedule(after: seconds) { [weak self] in
                guard let self, !isOver else { return }
                self.reply(next, on: stream)
                flush()
            }
        case .reset(let code): nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
        case .silence: break
        case .goAway(let including, let reason, let next):
            nghttp2_submit_goaway(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), including ? stream : max(0, stream - 2), 0,
                Array(reason.utf8), reason.utf8.count)
            self.reply(next, on: stream)
        case .limit(let streams, let next):
            limit(streams)
            self.reply(next, on: stream)
        case .hangUp: hangUp()
        }
    }

    private func respond(_ stream: Int32, _ status: Int, _ fields: [(String, String)], _ body: String) {
        bodies[stream] = Array(body.utf8)
        let all = [(":status", "\(status)")] + fields
        var bytes: [UInt8] = []
        for (name, value) in all { bytes += Array(name.utf8) + Array(value.utf8) }
        bytes.withUnsafeMutableBufferPointer { bytes in
            var position = 0
            let block = all.map { name, value in
                defer { position += name.utf8.count + value.utf8.count }
                // Points into the buffer lent for this call; nghttp2 copies.
                let start = bytes.baseAddress.map { $0 + position }
                return nghttp2_nv(
                    name: start, value: start.map { $0 + name.utf8.count }, namelen: name.utf8.count,
                    valuelen: value.utf8.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            guard !body.isEmpty else {
                nghttp2_submit_response(session, stream, block, block.count, nil)
                return
            }
            var provider = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: Self.readBody)
            nghttp2_submit_response(session, stream, block, block.count, &provider)
        }
    }

    private static let readBody: nghttp2_data_source_read_callback = { _, stream, buffer, length, flags, _, user in
        guard let connection = LabConnection.of(user), let buffer, let body = connection.bodies[stream] else {
            return 0
        }
        let count = min(length, body.count)
        // nghttp2 has room for `length` bytes.
        body.withUnsafeBufferPointer { bytes in
            if count > 0, let base = bytes.baseAddress { buffer.update(from: base, count: count) }
        }
        connection.bodies[stream] = Array(body.dropFirst(count))
        if count == body.count { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return count
    }
}

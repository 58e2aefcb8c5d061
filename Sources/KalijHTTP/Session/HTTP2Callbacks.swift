import CNghttp2

/// Dispatches nghttp2's callbacks to their session.
enum HTTP2Callbacks {
    static func install(on callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            if let frame, let session = HTTP2Callbacks.session(user) { HTTP2Callbacks.received(frame.pointee, session) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, valueLength, _, user in
            guard let frame, let session = HTTP2Callbacks.session(user) else { return 0 }
            HTTP2Callbacks.header(
                session, frame.pointee.hd.stream_id, HTTP2Callbacks.bytes(name, nameLength),
                HTTP2Callbacks.bytes(value, valueLength))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, length, user in
            if let session = HTTP2Callbacks.session(user) {
                HTTP2Callbacks.body(session, stream, HTTP2Callbacks.bytes(data, length))
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
            HTTP2Callbacks.session(user)?.streamClosed(stream, code: code)
            return 0
        }
    }

    // The pointer was given to nghttp2 in HTTP2Session.init, and nghttp2 calls only while the session lives.
    private static func session(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Session? {
        pointer.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    // Lent by nghttp2 for the length of the callback.
    private static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
    }

    private static func received(_ frame: nghttp2_frame, _ session: HTTP2Session) {
        let ack = frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        // fits: a byte
        switch UInt32(frame.hd.type) {
        case NGHTTP2_SETTINGS.rawValue where !ack: session.settingsReceived()
        case NGHTTP2_WINDOW_UPDATE.rawValue where frame.hd.stream_id == 0: session.windowGrown()
        case NGHTTP2_PING.rawValue where ack: session.events.append(.pong)
        case NGHTTP2_GOAWAY.rawValue:
            let reason = bytes(frame.goaway.opaque_data, min(frame.goaway.opaque_data_len, 200))
            session.goAwayReceived(
                lastStream: frame.goaway.last_stream_id, code: frame.goaway.error_code,
                reason: String(decoding: reason, as: UTF8.self))
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
            session.exchanges[frame.hd.stream_id]?.isComplete = true
        default: break
        }
    }

    private static func header(
        _ session: HTTP2Session, _ stream: Int32, _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) {
        guard var exchange = session.exchanges.removeValue(forKey: stream) else { return }
        defer { session.exchanges[stream] = exchange }
        if name.first == UInt8(ascii: ":") {
            // Informational responses precede the final response; the last status counts.
            exchange.status = Int(String(decoding: value, as: UTF8.self)) ?? 0
            exchange.fields.removeAll()
            return
        }
        exchange.fieldBytes += name.count + value.count + 32
        guard exchange.fieldBytes <= session.limits.fieldBytes else {
            if !exchange.isTooLarge { session.reset(stream, NGHTTP2_CANCEL) }
            exchange.isTooLarge = true
            return
        }
        exchange.fields.append(HTTPField(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }

    private static func body(_ session: HTTP2Session, _ stream: Int32, _ data: UnsafeBufferPointer<UInt8>) {
        guard let index = session.exchanges.index(forKey: stream) else { return }
        let room = session.limits.bodyBytes - session.exchanges.values[index].body.count
        guard data.count <= room else {
            if !session.exchanges.values[index].isTooLarge { session.reset(stream, NGHTTP2_CANCEL) }
            session.exchanges.values[index].isTooLarge = true
            return
        }
        session.exchanges.values[index].body.append(contentsOf: data)
    }

    /// Gives nghttp2 the next bytes of a request's body.
    static let readBody: nghttp2_data_source_read_callback = { _, stream, buffer, length, flags, _, user in
        guard let session = HTTP2Callbacks.session(user), let index = session.exchanges.index(forKey: stream),
            let buffer
        else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let start = session.exchanges.values[index].uploaded
        let upload = session.exchanges.values[index].upload
        let count = min(length, upload.count - start)
        // nghttp2 has room for `length` bytes.
        upload.withUnsafeBufferPointer { bytes in
            if count > 0, let base = bytes.baseAddress { buffer.update(from: base + start, count: count) }
        }
        session.exchanges.values[index].uploaded = start + count
        session.uploaded(count)
        if start + count == upload.count { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return count
    }
}

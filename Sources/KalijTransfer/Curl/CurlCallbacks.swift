import CCurl

/// Dispatches libcurl's callbacks to their objects.
enum CurlCallbacks {
    // The pointer was given to libcurl by CurlMulti or CurlEasy, and the multi keeps both objects longer than libcurl
    // the pointer.
    private static func object<Object: AnyObject>(_ pointer: UnsafeMutableRawPointer?, _: Object.Type) -> Object? {
        pointer.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }

    static let socket: curl_socket_callback = { _, socket, events, user, _ in
        CurlCallbacks.object(user, CurlTimers.self)?.wait(for: socket, events)
        return 0
    }

    static let timer: curl_multi_timer_callback = { _, milliseconds, user in
        CurlCallbacks.object(user, CurlTimers.self)?.wait(milliseconds: milliseconds)
        return 0
    }

    static let closeSocket: curl_closesocket_callback = { user, socket in
        CurlCallbacks.object(user, CurlTimers.self)?.closeSocket(socket)
        return 0
    }

    static let openSocket: curl_opensocket_callback = { user, _, address in
        guard let address else { return CURL_SOCKET_BAD }
        return CurlCallbacks.object(user, CurlTransfer.self)?.openSocket(address) ?? CURL_SOCKET_BAD
    }

    static let read: curl_read_callback = { buffer, size, count, user in
        // libcurl lends room for size times count bytes, where size is 1.
        let room = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
        switch CurlCallbacks.object(user, CurlTransfer.self)?.exchange.read(into: room) {
        case .bytes(let count): return count
        case .held: return Int(CURL_READFUNC_PAUSE)
        case .failed, nil: return Int(CURL_READFUNC_ABORT)
        }
    }

    static let progress: curl_xferinfo_callback = { user, _, _, _, written in
        let transfer = CurlCallbacks.object(user, CurlTransfer.self)
        transfer?.exchange.written(Int64(written))
        transfer?.turned()
        return 0
    }

    static let header: curl_write_callback = { bytes, size, count, user in
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return CurlCallbacks.object(user, CurlTransfer.self)?.receiveLine(line) == true ? size * count : 0
    }

    static let write: curl_write_callback = { bytes, size, count, user in
        let lent = UnsafeRawBufferPointer(start: bytes, count: size * count)
        if CurlCallbacks.object(user, CurlTransfer.self)?.receive(lent) == true { return size * count }
        // Any other number than that of the bytes stops libcurl; bytes without a number are none.
        return size * count == 0 ? 1 : 0
    }
}

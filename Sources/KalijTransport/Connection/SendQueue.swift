/// Bytes to be written to the kernel, oldest first.
struct SendQueue {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ more: [UInt8]) {
        if isEmpty {
            bytes = more
            start = 0
        } else {
            bytes += more
        }
    }

    /// Lends the oldest bytes, at most a TLS record's worth, for the call.
    func withNext<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { all in
            body(UnsafeRawBufferPointer(rebasing: all[start..<min(start + 16 * 1024, all.count)]))
        }
    }

    /// Removes the bytes taken by the kernel.
    mutating func drop(_ taken: Int) {
        start += taken
        if isEmpty {
            removeAll()
        } else if start > 256 * 1024, start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }
}

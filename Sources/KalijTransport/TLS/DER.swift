import COpenSSL

/// OpenSSL's values as bytes, and the reverse.
enum DER {
    /// The bytes from one of OpenSSL's `i2d` functions; empty if there are none.
    static func encode(_ i2d: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d(&start))
        guard count > 0, let start else { return [] }
        // OpenSSL has allocated `count` bytes, copied and freed here. They may hold a key.
        defer { CRYPTO_clear_free(start, count, "", 0) }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The value from one of OpenSSL's `d2i` functions, to be freed by the caller; nil if they are no such value.
    static func decode(
        _ bytes: [UInt8], _ d2i: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i(&start, buffer.count)
        }
    }
}

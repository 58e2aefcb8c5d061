import COpenSSL

/// Bytes that are overwritten before their memory is given back.
///
/// A secret never changes, so that values which share a secret stay values.
public final class Secret: Sendable {
    // Holds: written in `init` alone, before anybody else has the object; freed in `deinit`.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    public var count: Int { bytes.count }

    /// - Parameter fill: writes all `count` bytes.
    init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        bytes = .allocate(byteCount: count, alignment: 16)
        // If this throws, `deinit` runs: all properties are set.
        try fill(bytes)
    }

    /// A copy; the caller's bytes stay as they are.
    public convenience init(_ copied: some Collection<UInt8>) {
        self.init(count: copied.count) { $0.copyBytes(from: copied) }
    }

    /// Random bytes (`RAND_bytes`).
    /// - Throws: `RatchetError.library`
    static func random(_ count: Int, _ random: Randomness) throws -> Secret {
        try Secret(count: count) { try random.fill($0) }
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Calls `body` with the bytes, which are valid for the length of the call.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// The bytes from `range`.
    func part(_ range: Range<Int>) -> Secret {
        Secret(count: range.count) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range])) }
    }

    /// A copy for a row. The copy is not overwritten.
    public var exported: [UInt8] { [UInt8](bytes) }
}

/// The source of random bytes: tests inject fixed bytes.
package struct Randomness: Sendable {
    let fill: @Sendable (UnsafeMutableRawBufferPointer) throws -> Void

    package init(_ fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Void) { self.fill = fill }

    /// libcrypto's generator.
    package static let system = Randomness { bytes in
        try check(
            RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count)),
            "RAND_bytes")
    }

    package func bytes(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes(fill)
        return bytes
    }
}

/// - Throws: `RatchetError.library` if a function of libcrypto did not return 1.
func check(_ result: Int32, _ function: StaticString) throws {
    guard result == 1 else {
        ERR_clear_error()
        throw RatchetError.library("\(function)")
    }
}

func check<Value>(_ value: Value?, _ function: StaticString) throws -> Value {
    guard let value else {
        ERR_clear_error()
        throw RatchetError.library("\(function)")
    }
    return value
}

extension UnsafeRawBufferPointer {
    /// The bytes as the pointer that libcrypto takes.
    var octets: UnsafePointer<UInt8>? { bindMemory(to: UInt8.self).baseAddress }
}

extension UnsafeMutableRawBufferPointer {
    var octets: UnsafeMutablePointer<UInt8>? { bindMemory(to: UInt8.self).baseAddress }
}

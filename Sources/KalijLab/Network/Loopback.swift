import Glibc

/// An address in 127.0.0.0/8. On Linux all of them are the own machine's.
struct LoopbackAddress: Sendable, Equatable, CustomStringConvertible {
    /// In the order of the network's bytes.
    let bytes: [UInt8]

    /// 127.0.0.1.
    static let usual = LoopbackAddress(0, 0, 1)

    init(_ second: UInt8, _ third: UInt8, _ fourth: UInt8) { bytes = [127, second, third, fourth] }

    var description: String { bytes.map { "\($0)" }.joined(separator: ".") }
    fileprivate var number: UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }  // fits: a byte
}

/// A listening socket on a loopback address.
func listen(on port: Int, _ address: LoopbackAddress = .usual) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw LaboratoryError("cannot make a socket: \(lastSystemError())") }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard withLoopback(port, address, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 128) == 0 else {
        let reason = lastSystemError()
        close(descriptor)
        throw LaboratoryError("cannot listen on port \(port) of \(address): \(reason)")
    }
    return descriptor
}

/// Lends a port of a loopback address.
func withLoopback<Result>(
    _ port: Int, _ address: LoopbackAddress = .usual, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    var endpoint = sockaddr_in()
    endpoint.sin_family = sa_family_t(AF_INET)
    endpoint.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
    endpoint.sin_addr.s_addr = address.number.bigEndian
    return withUnsafePointer(to: &endpoint) { pointer in
        // The C interface requires the generic form of a sockaddr_in, together with its size.
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

import Glibc

/// Three consecutive TCP ports that are free on 127.0.0.1 right now.
///
/// Below the range that the system gives to outgoing connections, so that nobody takes one by accident in between.
func threeFreePorts() throws -> Int {
    for _ in 0..<200 {
        let first = Int.random(in: 20000..<32000)
        if (first..<first + 3).allSatisfy(isFree) { return first }
    }
    throw LaboratoryError("found no three free ports on 127.0.0.1 between 20000 and 32000")
}

/// A TCP port that is free on 127.0.0.1 right now, below the range that the system gives to outgoing connections.
public func freePort() throws -> Int { try threeFreePorts() }

private func isFree(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian  // fits: the ports asked for are ours
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) { pointer in
        // A sockaddr_in is passed where the C interface wants its generic form; its size goes along.
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
    }
}

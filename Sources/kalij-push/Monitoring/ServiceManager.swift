import Glibc
import KalijText

/// Reports the service's state to systemd (sd_notify(3)): a datagram to the socket named in `NOTIFY_SOCKET`.
enum ServiceManager {
    static func notify(_ state: String) {
        guard let name = EnvironmentVariable.value("NOTIFY_SOCKET"), !name.isEmpty else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(name.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // An abstract name begins with a zero byte, written as "@".
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(state.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            // The C function requires a pointer to the generic sockaddr; the size is passed with it.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, size)
            }
        }
    }
}

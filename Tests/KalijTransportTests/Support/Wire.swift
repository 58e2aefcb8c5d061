import Glibc
import Synchronization

/// A relay on loopback between a client and a server, which sees the bytes on the wire and may be slow.
final class Wire: Sendable {
    var port: UInt16 { server.value?.port ?? 0 }
    private let server = Box<Server>()
    private let up = Mutex<[UInt8]>([])
    private let pieces = Mutex<[Int]>([])

    /// - Parameters:
    ///   - port: of the server.
    ///   - pace: how many bytes the server's side sends at a time, and a pause in microseconds after each; nil for no
    ///     pause.
    init(to port: UInt16, pace: (bytes: Int, pause: UInt32)? = nil) throws {
        server.value = try Server { [self] peer in
            let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard connected(other, port) else { return }
            let back = Peer(other)
            var on: Int32 = 1
            setsockopt(peer.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
            setsockopt(other, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
            let client = peer.descriptor
            let downwards = Thread { Wire.carry(other, client, pace) }
            while case let bytes = peer.read(), !bytes.isEmpty {
                up.withLock { $0 += bytes }
                pieces.withLock { $0.append(bytes.count) }
                guard back.write(bytes) else { break }
            }
            shutdown(other, Int32(SHUT_RDWR))
            downwards.join()
        }
    }

    func stop() { server.value?.stop() }

    /// The client's bytes.
    var sent: [UInt8] { up.withLock { $0 } }
    /// How many bytes of the client came at a time.
    var arrivals: [Int] { pieces.withLock { $0 } }

    /// The types and contents of the client's TLS records.
    var records: [(type: UInt8, content: [UInt8])] {
        var rest = sent[...]
        var records: [(type: UInt8, content: [UInt8])] = []
        while rest.count >= 5 {
            let header = Array(rest.prefix(5))
            let length = Int(header[3]) << 8 | Int(header[4])
            records.append((header[0], Array(rest.dropFirst(5).prefix(length))))
            rest = rest.dropFirst(5 + length)
        }
        return records
    }

    private static func carry(_ from: Int32, _ to: Int32, _ pace: (bytes: Int, pause: UInt32)?) {
        var buffer = [UInt8](repeating: 0, count: pace?.bytes ?? 65536)
        while case let count = recv(from, &buffer, buffer.count, 0), count > 0 {
            if send(to, buffer, count, Int32(MSG_NOSIGNAL)) < count { break }
            if let pace { usleep(pace.pause) }
        }
        shutdown(to, Int32(SHUT_WR))
    }
}

/// Something made later, for threads.
final class Box<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)
    var value: Value? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

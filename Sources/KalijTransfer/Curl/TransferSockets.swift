import CCurl
import Glibc
import KalijTransport

/// The sockets of a transfer: which addresses they may connect to, and how they end.
final class TransferSockets {
    /// For a host of the own server: the address at which the server was reached.
    private let server: [UInt8]
    private let isPut: Bool
    private let waits: CurlTimers
    /// The first address that was refused, if all were; nil after any other.
    private(set) var refused: String?
    private var hasOpened = false
    private var sendBuffer: Int?

    init(waits: CurlTimers, server: [UInt8], isPut: Bool, sendBuffer: Int?) {
        self.waits = waits
        self.server = server
        self.isPut = isPut
        self.sendBuffer = sendBuffer
    }

    /// Opens a socket unless the address is refused: then libcurl tries the next address.
    func open(_ address: UnsafePointer<curl_sockaddr>) -> Int32? {
        let room = MemoryLayout<sockaddr_in6>.size
        let start = UnsafeRawPointer(address).advanced(by: MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        // libcurl has room for the longest address there, though the declaration has not.
        let bytes = UnsafeRawBufferPointer(start: start, count: min(Int(address.pointee.addrlen), room))
        let number = AddressRule.bytes(of: bytes) ?? []
        guard AddressRule.isPublic(number) || AddressRule.isBeside(number, server: server) else {
            if !hasOpened { refused = refused ?? AddressRule.text(of: number) }
            return nil
        }
        hasOpened = true
        refused = nil
        let socket = kalij_open_socket(address)
        guard socket >= 0 else { return nil }
        waits.opened(socket)
        if let sendBuffer { kalij_set_send_buffer(socket, Int32(clamping: sendBuffer)) }
        // A process that is killed gives a PUT up like a process that cancels.
        if isPut { kalij_set_reset_at_end(socket, 1) }
        return socket
    }

    /// Whether the connection has been reset.
    var isDead: Bool { waits.sockets.contains { kalij_is_dead($0) != 0 } }

    func limitSendBuffer(to bytes: Int) {
        sendBuffer = bytes
        for socket in waits.sockets { kalij_set_send_buffer(socket, Int32(clamping: bytes)) }
    }

    /// Nothing more leaves, and the other side does not see a proper end.
    func reset() {
        for socket in waits.sockets { kalij_reset(socket) }
    }

    func keepEndOrderly() {
        for socket in waits.sockets { kalij_set_reset_at_end(socket, 0) }
    }

    /// Bytes that the system holds, and the other side has not acknowledged.
    var unacknowledged: Int64 { waits.sockets.reduce(0) { $0 + Int64(kalij_unacknowledged($1)) } }
}

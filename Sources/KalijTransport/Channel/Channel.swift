import Glibc

/// The result of reading.
enum ReadOutcome {
    case bytes(Int)
    /// The bytes read were not data for the user; there may be more.
    case retry
    /// The server has given a ticket; there may be more to read.
    case ticket([UInt8])
    case blocked(on: Interest)
    /// The peer has ended its side in order.
    case ended
    case failed(TransportError)
}

/// The result of writing.
enum WriteOutcome {
    case wrote(Int)
    case blocked(on: Interest)
    case failed(TransportError)
}

/// A connected socket, plain or in TLS.
protocol Channel: AnyObject {
    var socket: SocketIO { get }
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome
    func write(_ bytes: UnsafeRawBufferPointer) -> WriteOutcome
    /// Notifies the peer that no more bytes follow: close_notify in TLS, nothing otherwise. May be called again until the notice
    /// is written.
    func endWriting() -> WriteOutcome
}

/// A plain socket.
final class PlainChannel: Channel {
    let socket: SocketIO

    init(socket: SocketIO) { self.socket = socket }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        guard let start = buffer.baseAddress else { return .blocked(on: .read) }
        let count = socket.read(start, buffer.count)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        return socket.wouldBlock ? .blocked(on: .read) : .failed(TransportError(system: socket.lastError))
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        guard let start = bytes.baseAddress else { return .wrote(0) }
        let count = socket.write(start, bytes.count)
        if count >= 0 { return .wrote(count) }
        return socket.wouldBlock ? .blocked(on: .write) : .failed(TransportError(system: socket.lastError))
    }

    func endWriting() -> WriteOutcome { .wrote(0) }
}

import KalijText
import KalijTransport

/// Sends nothing and writes a line for each push: for testing the server.
public final class LogProvider: PushProvider {
    private let loop: EventLoop
    private let write: (String) -> Void

    /// - Parameter write: takes a line.
    public init(loop: EventLoop, write: @escaping (String) -> Void) {
        self.loop = loop
        self.write = write
    }

    public func send(_ delivery: Delivery, _ done: @escaping (Verdict) -> Void) {
        write(
            "push to \(delivery.token.cut(to: 6))...\(delivery.isBackground ? ", in the background" : "")")
        loop.enqueue { done(.delivered) }
    }

    public var credentialsEnd: Int64? { nil }
    public var serviceEnd: Int64? { nil }
    public var connections: Int { 0 }
    public func close() {}
}

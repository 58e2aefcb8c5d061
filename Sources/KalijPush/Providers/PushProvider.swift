/// Sends pushes: a service of Apple, Google, or anybody. A third service is another file.
///
/// Belongs to the thread of the server's loop.
public protocol PushProvider: AnyObject {
    /// Sends a push.
    /// - Parameter done: called once from the loop, never from within this call, at the latest after twice the module's
    ///   request time-out: credentials may have to be requested first.
    func send(_ delivery: Delivery, _ done: @escaping (Verdict) -> Void)
    /// The expiry of the server's certificate or key, in seconds since 1970; nil if there is none or the time is unknown.
    var credentialsEnd: Int64? { get }
    /// The expiry of the service's certificate, in seconds since 1970; nil before the first connection.
    var serviceEnd: Int64? { get }
    /// Established connections.
    var connections: Int { get }
    /// The push services; nil for a provider with one service.
    var services: ServiceFigures? { get }
    /// Closes all connections; pushes in flight fail.
    func close()
}

extension PushProvider {
    public var services: ServiceFigures? { nil }
}

/// Shared by the providers' connections.
enum PushConnection {
    /// The longest wait before the next attempt to connect, in seconds. Between attempts every publish is answered `wait`, and
    /// each such publish is a message without a notification.
    static let backoff = 5.0
}

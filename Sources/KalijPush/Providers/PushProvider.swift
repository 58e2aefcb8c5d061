/// Sends pushes: one of Apple's, Google's, or anybody's services. A third one is one more file.
///
/// Belongs to the thread of the server's loop.
public protocol PushProvider: AnyObject {
    /// Sends a push.
    /// - Parameter done: called once from the loop, never from within this call, at the latest after twice the
    ///   module's request time-out: credentials may have to be asked for first.
    func send(_ delivery: Delivery, _ done: @escaping (Verdict) -> Void)
    /// When the certificate or key that we show runs out, in seconds since 1970; nil if it does not, or is not known.
    var credentialsEnd: Int64? { get }
    /// When the certificate that the service shows runs out, in seconds since 1970; nil before the first connection.
    var serviceEnd: Int64? { get }
    /// Connections that stand.
    var connections: Int { get }
    /// Ends all connections; what is under way fails.
    func close()
}

/// What providers' connections have in common.
enum PushConnection {
    /// The longest wait before the next attempt to connect, in seconds: while nothing is tried, every publish is
    /// answered `wait`, which is a message that nobody hears of.
    static let backoff = 5.0
}

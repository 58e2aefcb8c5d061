import KalijTransport

/// A connection as an account's driver uses it. A program uses only `KalijTransport.Connection`. The simulator substitutes
/// another type, and so runs everything above unchanged.
package protocol StreamConnection: AnyObject {
    /// Bytes that the system has not accepted yet.
    var unsent: Int { get }
    var isReading: Bool { get set }
    /// Bytes sent and received on the socket since it was opened, TLS included.
    var traffic: Traffic { get }
    /// The round trip as measured by the system; nil if the system does not report it.
    var roundTrip: RoundTrip? { get }
    func open()
    func startTLS()
    func send(_ bytes: [UInt8])
    func close(_ finished: (() -> Void)?)
}

extension Connection: StreamConnection {}

import Glibc

/// The bytes on a socket since the connection was established: with everything of TLS, without the headers of TCP and IP.
public struct Traffic: Sendable, Equatable {
    public var received: Int
    public var sent: Int

    public init(received: Int = 0, sent: Int = 0) {
        self.received = received
        self.sent = sent
    }
}

/// The kernel's estimate of a connection's round trip (RFC 6298 2), in seconds. A proxy or a VPN that terminates TCP hides the
/// path behind it.
public struct RoundTrip: Sendable, Equatable {
    /// SRTT.
    public var smoothed: Double
    /// RTTVAR.
    public var variance: Double

    public init(smoothed: Double, variance: Double) {
        self.smoothed = smoothed
        self.variance = variance
    }

    /// Queries the kernel; nil for a socket that is closed, or not TCP's, or without a measurement.
    init?(of descriptor: Int32) {
        var info = tcp_info()
        var size = socklen_t(MemoryLayout<tcp_info>.size)
        guard descriptor >= 0, getsockopt(descriptor, SOL_TCP, TCP_INFO, &info, &size) == 0,
            info.tcpi_rtt > 0
        else { return nil }
        // The kernel's numbers are microseconds.
        self.init(smoothed: Double(info.tcpi_rtt) / 1e6, variance: Double(info.tcpi_rttvar) / 1e6)
    }
}

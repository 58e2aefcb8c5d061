import CLinux
import Glibc

/// Reports changes of the machine's addresses, links or default routes, so that reconnecting need not wait.
///
/// Watches a netlink route socket; nothing runs while nothing changes. Changes at the same time are reported once, and
/// a change without a result (a renewed lease, a statistic of the radio) is not reported.
public final class NetworkMonitor {
    private let loop: EventLoop
    private let onChange: () -> Void
    private let descriptor: Int32
    private var watch: Watch?
    private var pause: Timer?
    private var routesChanged = false
    private var known: Set<String> = []  // characters: the system's names.

    /// How long changes are collected, in seconds: a new interface causes several.
    private let coalescing = 0.1

    /// Begins to watch. `onChange` is called from the loop, until the monitor is dropped.
    ///
    /// - Throws: ``SystemError`` if the process cannot get such a socket.
    public init(loop: EventLoop, onChange: @escaping () -> Void) throws(SystemError) {
        self.loop = loop
        self.onChange = onChange
        descriptor = kalij_route_socket()
        if descriptor < 0 { throw SystemError("socket") }
        try subscribe()
        known = Self.addresses()
        watch = try loop.watch(descriptor, .read) { [weak self] _ in self?.drain() }
    }

    deinit {
        watch?.cancel()
        pause?.cancel()
        close(descriptor)
    }

    private func subscribe() throws(SystemError) {
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(  // fits: constants of a few bits
            RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)
        let status = withUnsafePointer(to: &address) { pointer in
            // Every socket address begins as a sockaddr.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        if status != 0 { throw SystemError("bind") }
    }

    private func drain() {
        while true {
            let count = recv(descriptor, loop.scratch.baseAddress, loop.scratch.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                let messages = UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
                if Self.changesDefaultRoute(messages) { routesChanged = true }
            } else if count < 0, errno == ENOBUFS {
                // More messages arrived than the socket holds; something has certainly changed.
                routesChanged = true
            } else {
                break
            }
        }
        guard pause == nil else { return }
        pause = loop.schedule(after: coalescing) { [weak self] in self?.compare() }
    }

    private func compare() {
        pause = nil
        let now = Self.addresses()
        guard routesChanged || now != known else { return }
        routesChanged = false
        known = now
        onChange()
    }

    /// Searches netlink messages for an added or removed default route.
    private static func changesDefaultRoute(_ messages: UnsafeRawBufferPointer) -> Bool {
        var rest = messages
        let headerSize = MemoryLayout<nlmsghdr>.size
        while rest.count >= headerSize + MemoryLayout<rtmsg>.size {
            let header = rest.loadUnaligned(as: nlmsghdr.self)
            let route = rest.loadUnaligned(fromByteOffset: headerSize, as: rtmsg.self)
            let isRoute = header.nlmsg_type == UInt16(RTM_NEWROUTE) || header.nlmsg_type == UInt16(RTM_DELROUTE)
            if isRoute, route.rtm_dst_len == 0, Int(route.rtm_type) == Int(RTN_UNICAST) { return true }
            // Messages are aligned to four bytes.
            let step = (Int(header.nlmsg_len) + 3) & ~3
            guard step >= headerSize, step <= rest.count else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[step...])
        }
        return false
    }

    /// Interfaces that are up and running with their addresses, as comparable text.
    private static func addresses() -> Set<String> {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: Set<String> = []  // characters: the system's names.
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            let running = UInt32(IFF_UP | IFF_RUNNING)
            guard entry.ifa_flags & running == running, let address = entry.ifa_addr else { continue }
            let name = String(cString: entry.ifa_name)
            found.insert(name + " " + (SocketAddress(taking: address)?.text ?? "link"))
        }
        return found
    }
}

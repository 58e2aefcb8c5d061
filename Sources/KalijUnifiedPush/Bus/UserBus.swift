import CSystemd
import Glibc

/// A connection to the session bus, used by one thread. Nothing arrives but by ``next()``.
public final class UserBus {
    private let library: BusLibrary
    // lives: until deinit
    private let bus: OpaquePointer

    /// - Throws: ``BusProblem`` without libsystemd or a session bus.
    public init() throws(BusProblem) {
        library = try BusLibrary.load()
        var opened: OpaquePointer?
        let code = library.functions.open_user(&opened)
        guard code >= 0, let opened else {
            throw code == -ENOMEDIUM ? BusProblem("there is no session bus") : BusProblem("the session bus", code)
        }
        bus = opened
        // Waits for the bus's response to the greeting.
        _ = try uniqueName()
    }

    deinit { _ = library.functions.flush_close_unref(bus) }

    private var functions: kalij_bus { library.functions }

    private func uniqueName() throws(BusProblem) -> String {
        var name: UnsafePointer<CChar>?
        let code = functions.get_unique_name(bus, &name)
        guard code >= 0, let name else { throw BusProblem("the session bus", code) }
        return String(cString: name)
    }

    // MARK: Names

    /// Acquires a name; a process that has the name and permits its replacement loses the name.
    /// - Returns: false if another process keeps the name.
    public func acquire(_ name: String) throws(BusProblem) -> Bool {
        let code = functions.request_name(
            bus, name, UInt64(SD_BUS_NAME_REPLACE_EXISTING | SD_BUS_NAME_ALLOW_REPLACEMENT))
        if code == -EEXIST { return false }
        guard code >= 0 || code == -EALREADY else { throw BusProblem("the name \(name)", code) }
        return true
    }

    /// Releases a name: calls to the name start another process from now on. Calls that have arrived before are returned by ``next()``.
    public func release(_ name: String) { _ = functions.release_name(bus, name) }

    /// The names that programs have, and those of programs that the bus can start.
    public func names() throws(BusProblem) -> (owned: [String], activatable: [String]) {
        (try query("ListNames").texts(), try query("ListActivatableNames").texts())
    }

    /// The unique name of the process that has the name; nil if none has.
    public func owner(of name: String) -> String? {
        // The bus responds with an error if there is no owner.
        (try? query("GetNameOwner", name))?.text()
    }

    /// Makes the bus read its service files again.
    public func reload() throws(BusProblem) { _ = try query("ReloadConfig") }

    private func query(_ method: String, _ argument: String? = nil) throws(BusProblem) -> BusMessage {
        let call = try message(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", method)
        if let argument { try call.append(argument) }
        var error = sd_bus_error()
        defer { functions.error_free(&error) }
        var reply: OpaquePointer?
        let code = functions.call(bus, call.pointer, Self.timeout, &error, &reply)
        guard code >= 0, let reply else { throw BusProblem("the session bus, \(method)", code) }
        return BusMessage(reply, library)
    }

    /// In microseconds.
    private static let timeout: UInt64 = 10_000_000

    // MARK: Messages

    func message(
        _ destination: String, _ path: String, interface: String, _ member: String
    ) throws(BusProblem) -> BusMessage {
        var made: OpaquePointer?
        let code = functions.message_new_method_call(bus, &made, destination, path, interface, member)
        guard code >= 0, let made else { throw BusProblem("a call of \(destination)", code) }
        return BusMessage(made, library)
    }

    /// Sends a call.
    /// - Returns: the number that the response names.
    func send(_ message: BusMessage) throws(BusProblem) -> UInt64 {
        var cookie: UInt64 = 0
        let code = functions.send(bus, message.pointer, &cookie)
        guard code >= 0 else { throw BusProblem("the session bus", code) }
        return cookie
    }

    /// Responds to a call with an empty dictionary, or one with the message's id; does nothing if the caller expects no response.
    func reply(to call: BusMessage, id: String?) throws(BusProblem) {
        guard functions.message_get_expect_reply(call.pointer) > 0 else { return }
        var made: OpaquePointer?
        let code = functions.message_new_method_return(call.pointer, &made)
        guard code >= 0, let made else { throw BusProblem("a response", code) }
        let reply = BusMessage(made, library)
        if call.interface?.utf8.last == UInt8(ascii: "2") { try reply.append(id.map { [("id", $0)] } ?? []) }
        _ = try send(reply)
        _ = functions.flush(bus)
    }

    /// The next message that has arrived; nil if there is none.
    /// - Throws: ``BusProblem`` if the bus has ended.
    public func next() throws(BusProblem) -> BusMessage? {
        while true {
            var received: OpaquePointer?
            let code = functions.process(bus, &received)
            guard code >= 0 else { throw BusProblem("the session bus", code) }
            if let received { return BusMessage(received, library) }
            if code == 0 { return nil }
        }
    }

    /// Waits for a message, or for another descriptor to be readable.
    /// - Parameters:
    ///   - milliseconds: at most; nil for no limit.
    ///   - descriptor: of a process, for example; nil for none.
    public func wait(_ milliseconds: Int?, or descriptor: Int32? = nil) {
        var deadline: UInt64 = .max
        _ = functions.get_timeout(bus, &deadline)
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        // fits: since the start of the machine
        let present = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1_000
        let own = deadline == .max ? Int.max : Int(clamping: (max(deadline, present) - present) / 1_000 + 1)
        let limit = min(own, milliseconds ?? .max)
        var requests = [
            pollfd(
                fd: functions.get_fd(bus), events: Int16(truncatingIfNeeded: functions.get_events(bus)), revents: 0),
            pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        poll(&requests, 2, limit == .max ? -1 : Int32(clamping: limit))
    }
}

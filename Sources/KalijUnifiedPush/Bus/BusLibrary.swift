import CSystemd
import Glibc

/// libsystemd's sd-bus, loaded by the first command that needs the session bus: no other command has its memory.
struct BusLibrary {
    private static let name = "libsystemd.so.0"

    let functions: kalij_bus

    /// - Throws: ``BusProblem`` if the library is missing.
    static func load() throws(BusProblem) -> BusLibrary {
        // Never unloaded: the functions are valid for the rest of the process.
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw BusProblem("\(name) is not installed; apt install libsystemd0")
        }
        var functions = kalij_bus()
        if let missing = kalij_bus_find(&functions, library) {
            throw BusProblem("\(name) has no function \(String(cString: missing))")
        }
        return BusLibrary(functions: functions)
    }
}

/// The reason why the session bus cannot be used.
public struct BusProblem: Error, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    init(_ action: String, _ code: Int32) { self.init("\(action): \(String(cString: strerror(abs(code))))") }
}

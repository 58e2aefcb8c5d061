import CGIO
import Glibc

/// The programs of the app, which are in one folder.
public enum AppProgram {
    /// The folder of the running program.
    private static var folder: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        let program = String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return program.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }

    /// The path of another program of the app: beside this one as built, else where packages install it below the same prefix.
    public static func path(of name: String) -> String {
        let paths = ["", "/../bin", "/../libexec"].map { folder + $0 + "/" + name }
        return paths.first { access($0, X_OK) == 0 } ?? paths[0]
    }

    /// The folder of the catalogs: beside the program as built, else where packages install them.
    public static var catalogs: String {
        let beside = folder + "/locale"
        return access(beside, R_OK) == 0 ? beside : folder + "/../share/locale"
    }

    /// Replaces this process by another program of the app. Returns only if that is not possible.
    /// - Parameter id: the application's id, which the other program acquires.
    public static func execute(_ name: String, _ words: [String], as id: String) {
        releaseName(id)
        let path = path(of: name)
        var arguments: [UnsafeMutablePointer<CChar>?] = ([path] + words).map { strdup($0) } + [nil]
        execv(path, &arguments)
        write("\(name): \(String(cString: strerror(errno)))\n")
        for argument in arguments { free(argument) }
    }

    /// Waits until the bus has released the name: the next owner must not find the former one.
    private static func releaseName(_ id: String) {
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else { return }
        let reply = g_dbus_connection_call_sync(
            bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReleaseName",
            BusValue.tuple([.text(id)]), nil, G_DBUS_CALL_FLAGS_NONE, 1000, nil, nil)
        if let reply { g_variant_unref(reply) }
        g_object_unref(UnsafeMutableRawPointer(bus))
    }

    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    public static func write(_ text: String, to file: Int32 = STDERR_FILENO) {
        _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
    }
}

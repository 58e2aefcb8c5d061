import CAdwaita

private final class Ready {
    let run: (UnsafeMutableRawPointer, OpaquePointer) -> Void
    init(_ run: @escaping (UnsafeMutableRawPointer, OpaquePointer) -> Void) { self.run = run }
}

/// The callback and the data of an asynchronous operation of GIO, whose end calls `run` once with its object and its result.
func whenReady(_ run: @escaping (UnsafeMutableRawPointer, OpaquePointer) -> Void) -> (
    GAsyncReadyCallback, UnsafeMutableRawPointer
) {
    // Released by the callback, which GIO calls exactly once.
    let data = Unmanaged.passRetained(Ready(run)).toOpaque()
    return (
        { source, result, data in
            guard let data else { return }
            nonisolated(unsafe) let (box, source, result) = (data, source, result)
            MainActor.assumeIsolated {
                let ready = Unmanaged<Ready>.fromOpaque(box).takeRetainedValue()
                if let source, let result { ready.run(raw(source), result) }
            }
        }, data
    )
}

extension SignalArguments {
    func int(_ place: Int) -> Int32 { kalij_get_int(values + place) }
    /// The local files of a dropped value.
    func files(_ place: Int) -> [String] { localPaths(kalij_files(kalij_get_value(values + place))) }
}

/// The local paths of GFiles; releases the list.
nonisolated func localPaths(_ list: UnsafeMutablePointer<GSList>?) -> [String] {
    defer { g_slist_free(list) }
    var (paths, next) = ([String](), list)
    while let item = next {
        if let file = item.pointee.data, let path = g_file_get_path(kalij_file(file)) {
            paths.append(String(cString: path))
            g_free(path)
        }
        next = item.pointee.next
    }
    return paths
}

import CAdwaita

/// The arguments of a signal handler; the first is the object itself.
nonisolated struct SignalArguments {
    let values: UnsafePointer<GValue>
    let result: UnsafeMutablePointer<GValue>?

    func object(_ place: Int) -> OpaquePointer? { kalij_get_object(values + place).map { OpaquePointer($0) } }
    func uint(_ place: Int) -> UInt32 { kalij_get_uint(values + place) }
    func double(_ place: Int) -> Double { kalij_get_double(values + place) }
    func pointer(_ place: Int) -> UnsafeMutableRawPointer? { kalij_get_pointer(values + place) }
    func string(_ place: Int) -> String? { kalij_get_string(values + place).map { String(cString: $0) } }
    func flags(_ place: Int) -> Int32 { kalij_get_flags(values + place) }
    /// Sets the result: whether the signal was handled.
    func answer(_ value: Bool) { kalij_set_boolean(result, value ? 1 : 0) }
}

private final class Handler {
    let run: (SignalArguments) -> Void
    init(_ run: @escaping (SignalArguments) -> Void) { self.run = run }
}

nonisolated private let marshal: GClosureMarshal = { closure, result, _, values, _, _ in
    guard let data = closure?.pointee.data, let values else { return }
    // GTK calls this on the main thread; the values are valid during the call.
    nonisolated(unsafe) let arguments = SignalArguments(values: values, result: result)
    nonisolated(unsafe) let box = data
    MainActor.assumeIsolated { Unmanaged<Handler>.fromOpaque(box).takeUnretainedValue().run(arguments) }
}

nonisolated private let release: GClosureNotify = { data, _ in
    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
}

/// Connects a signal; the closure is released with the object.
func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ run: @escaping (SignalArguments) -> Void) {
    // Released when the closure is finalized.
    let data = Unmanaged.passRetained(Handler(run)).toOpaque()
    guard let closure = g_closure_new_simple(UInt32(MemoryLayout<GClosure>.size), data) else { return }
    g_closure_set_marshal(closure, marshal)
    g_closure_add_finalize_notifier(closure, data, release)
    kalij_connect(object, signal, closure)
}
func connect(_ widget: Widget, _ signal: String, _ run: @escaping (SignalArguments) -> Void) {
    connect(raw(widget), signal, run)
}
func connect(_ object: OpaquePointer, _ signal: String, _ run: @escaping (SignalArguments) -> Void) {
    connect(raw(object), signal, run)
}

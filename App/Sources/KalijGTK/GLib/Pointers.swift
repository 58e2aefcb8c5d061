import CAdwaita

typealias Widget = UnsafeMutablePointer<GtkWidget>

nonisolated func raw<T>(_ pointer: UnsafeMutablePointer<T>) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(pointer)
}
nonisolated func raw(_ pointer: OpaquePointer) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }

/// A pointer to a GObject as a pointer to another class of the same object.
nonisolated func cast<T>(_ pointer: UnsafeMutableRawPointer, to _: T.Type = T.self) -> UnsafeMutablePointer<T> {
    pointer.assumingMemoryBound(to: T.self)
}

/// A widget as an object of a class that is not imported into Swift.
nonisolated func opaque(_ widget: Widget) -> OpaquePointer { OpaquePointer(widget) }
/// An object of a class that is not imported into Swift, as a widget.
nonisolated func widget(_ object: OpaquePointer) -> Widget { UnsafeMutablePointer(object) }

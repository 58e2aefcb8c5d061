import CAdwaita
import KalijApp

/// A field for a password, which gives its letters to nobody while they are hidden: GTK 4.8 hides them on the screen, and gives screen readers
/// the buffer's text.
final class PasswordField {
    let entry = widget(OpaquePointer(gtk_password_entry_new()))
    private let buffer = SecretBuffer()

    init() {
        guard let view = gtk_widget_get_first_child(entry) else { return }
        gtk_text_set_buffer(cast(raw(view)), cast(raw(buffer.object)))
        connect(view, "notify::visibility") { [buffer] _ in
            buffer.isHidden = gtk_text_get_visibility(cast(raw(view))) == 0
        }
        connect(view, "insert-text") { [buffer] arguments in
            // Screen readers are sent the letters of this signal.
            guard buffer.isHidden, let text = arguments.string(1), let place = arguments.pointer(3) else { return }
            let position = place.assumingMemoryBound(to: Int32.self)
            position.pointee += buffer.insert(text, arguments.int(2), at: position.pointee)
            g_signal_stop_emission_by_name(raw(view), "insert-text")
        }
    }

    var text: String {
        get { buffer.text }
        set { buffer.text = newValue }
    }

    /// Shows the letters, or hides them.
    func show(_ isShown: Bool) {
        if let view = gtk_widget_get_first_child(entry) { gtk_text_set_visibility(cast(raw(view)), isShown ? 1 : 0) }
    }
}

/// A GtkEntryBuffer with the text in GTK's secure memory, whose text is asterisks for others while it is hidden.
private final class SecretBuffer {
    let object: OpaquePointer
    var isHidden = true
    fileprivate let secret: UnsafeMutablePointer<GtkEntryBuffer>

    init() {
        guard let made = g_object_new_with_properties(Types.buffer, 0, nil, nil),
            let secret = gtk_password_entry_buffer_new()
        else { fatalError("no memory for a field") }  // traps: never, GLib aborts when it runs out of memory
        (object, self.secret) = (OpaquePointer(made), secret)
        place.pointee.swift = Unmanaged.passUnretained(self).toOpaque()
    }

    isolated deinit {
        // A field may outlive this object.
        place.pointee.swift = nil
        g_object_unref(raw(object))
        g_object_unref(raw(secret))
    }

    private var place: UnsafeMutablePointer<KalijObject> { cast(raw(object)) }

    var text: String {
        get { String(cString: gtk_entry_buffer_get_text(secret)) }
        set { gtk_entry_buffer_set_text(cast(raw(object)), newValue, -1) }
    }

    /// - Returns: how many characters were inserted.
    func insert(_ text: String, _ bytes: Int32, at position: Int32) -> Int32 {
        let part = bytes < 0 ? text : String(decoding: text.utf8.prefix(Int(bytes)), as: UTF8.self)
        let count = Int32(clamping: part.unicodeScalars.count)
        return Int32(clamping: gtk_entry_buffer_insert_text(cast(raw(object)), UInt32(max(0, position)), part, count))
    }

    /// What others are given: zero-terminated, and valid until the text changes.
    var shown: UnsafePointer<CChar> {
        guard isHidden else { return gtk_entry_buffer_get_text(secret) }
        return UnsafePointer(Self.mask + (Self.most - min(Self.most, Int(length))))
    }

    var length: UInt32 { gtk_entry_buffer_get_length(secret) }

    /// The maximum length of a GtkEntryBuffer.
    private static let most = 65_535
    private static let mask: UnsafeMutablePointer<CChar> = {
        let mask = UnsafeMutablePointer<CChar>.allocate(capacity: most + 1)
        mask.initialize(repeating: CChar(UInt8(ascii: "*")), count: most)
        mask[most] = 0
        return mask
    }()
}

/// The object of Swift, on the main thread, on which GTK calls; nil after its end.
nonisolated private func secret(
    of object: UnsafeMutablePointer<GtkEntryBuffer>?, _ run: @MainActor (SecretBuffer) -> Void
) {
    guard let object else { return }
    let place: UnsafeMutablePointer<KalijObject> = cast(raw(object))
    guard let found = place.pointee.swift else { return }
    nonisolated(unsafe) let pointer = found
    MainActor.assumeIsolated { run(Unmanaged<SecretBuffer>.fromOpaque(pointer).takeUnretainedValue()) }
}

private enum Types {
    static let buffer: GType = "KalijSecretBuffer".withCString {
        g_type_register_static_simple(
            gtk_entry_buffer_get_type(), $0, UInt32(MemoryLayout<GtkEntryBufferClass>.size),
            { table, _ in
                guard let table else { return }
                let methods: UnsafeMutablePointer<GtkEntryBufferClass> = cast(table)
                methods.pointee.get_text = { object, bytes in
                    nonisolated(unsafe) var text: UnsafePointer<CChar>?
                    secret(of: object) { text = $0.shown }
                    let shown = text
                    if let bytes { bytes.pointee = shown.map { UInt(strlen($0)) } ?? 0 }
                    return shown
                }
                methods.pointee.get_length = { object in
                    nonisolated(unsafe) var length: UInt32 = 0
                    secret(of: object) { length = $0.length }
                    return length
                }
                methods.pointee.insert_text = { object, position, text, count in
                    nonisolated(unsafe) var inserted: UInt32 = 0
                    nonisolated(unsafe) let letters = text
                    secret(of: object) {
                        inserted = gtk_entry_buffer_insert_text($0.secret, position, letters, Int32(clamping: count))
                    }
                    if inserted > 0 { gtk_entry_buffer_emit_inserted_text(object, position, text, inserted) }
                    return inserted
                }
                methods.pointee.delete_text = { object, position, count in
                    if count > 0 { gtk_entry_buffer_emit_deleted_text(object, position, count) }
                    return count
                }
                methods.pointee.deleted_text = { object, position, count in
                    secret(of: object) { gtk_entry_buffer_delete_text($0.secret, position, Int32(clamping: count)) }
                    guard let object else { return }
                    for property in ["text", "length"] { g_object_notify(cast(raw(object)), property) }
                }
            }, UInt32(MemoryLayout<KalijObject>.size), nil, GTypeFlags(0))
    }
}

import CSystemd

/// A message of D-Bus. Any program may have sent it: what has another form than expected is nil.
public final class BusMessage {
    // lives: until deinit
    let pointer: OpaquePointer
    private let library: BusLibrary

    /// - Parameter pointer: a reference, which this object releases.
    init(_ pointer: OpaquePointer, _ library: BusLibrary) { (self.pointer, self.library) = (pointer, library) }

    deinit { _ = library.functions.message_unref(pointer) }

    private var functions: kalij_bus { library.functions }

    // MARK: The header

    var isCall: Bool { type == SD_BUS_MESSAGE_METHOD_CALL }
    var path: String? { functions.message_get_path(pointer).map { String(cString: $0) } }
    var interface: String? { functions.message_get_interface(pointer).map { String(cString: $0) } }
    var member: String? { functions.message_get_member(pointer).map { String(cString: $0) } }
    /// The unique name of the sender, as the bus writes it.
    public var sender: String? { functions.message_get_sender(pointer).map { String(cString: $0) } }
    /// The name of the error that the message is.
    var error: String? { functions.message_get_error(pointer)?.pointee.name.map { String(cString: $0) } }

    /// The number of the call that this is the response to; nil if it is none.
    var replyCookie: UInt64? {
        guard [SD_BUS_MESSAGE_METHOD_RETURN, SD_BUS_MESSAGE_METHOD_ERROR].contains(type) else { return nil }
        var cookie: UInt64 = 0
        return functions.message_get_reply_cookie(pointer, &cookie) >= 0 ? cookie : nil
    }

    private var type: Int {
        var type: UInt8 = 0
        return functions.message_get_type(pointer, &type) >= 0 ? Int(type) : 0
    }

    // MARK: Writing

    func append(_ text: String) throws(BusProblem) {
        let code = text.withCString { functions.message_append_basic(pointer, CChar(bitPattern: Self.text), $0) }
        guard code >= 0 else { throw BusProblem("a text for the bus", code) }
    }

    /// Appends a dictionary of texts, `a{sv}`.
    func append(_ fields: [(String, String)]) throws(BusProblem) {
        try open(Self.array, "{sv}")
        for (name, value) in fields {
            try open(Self.entry, "sv")
            try append(name)
            try open(Self.variant, "s")
            try append(value)
            try close()
            try close()
        }
        try close()
    }

    private func open(_ type: UInt8, _ contents: String) throws(BusProblem) {
        let code = functions.message_open_container(pointer, CChar(bitPattern: type), contents)
        guard code >= 0 else { throw BusProblem("a dictionary for the bus", code) }
    }

    private func close() throws(BusProblem) {
        let code = functions.message_close_container(pointer)
        guard code >= 0 else { throw BusProblem("a dictionary for the bus", code) }
    }

    // MARK: Reading

    private static let (text, array, entry, variant) = (
        UInt8(ascii: "s"), UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "v")
    )

    /// Reads a text.
    func text() -> String? {
        guard isNext(Self.text, nil) else { return nil }
        var value: UnsafePointer<CChar>?
        guard functions.message_read_basic(pointer, CChar(bitPattern: Self.text), &value) > 0, let value else {
            return nil
        }
        return String(cString: value)
    }

    /// Reads an array of texts, `as`.
    func texts() -> [String] {
        guard functions.message_enter_container(pointer, CChar(bitPattern: Self.array), "s") > 0 else { return [] }
        var texts: [String] = []
        while let text = text() { texts.append(text) }
        return texts
    }

    /// Reads an array of bytes, `ay`.
    func bytes() -> [UInt8]? {
        guard isNext(Self.array, "y") else { return nil }
        var start: UnsafeRawPointer?
        var count = 0
        guard functions.message_read_array(pointer, CChar(bitPattern: UInt8(ascii: "y")), &start, &count) > 0 else {
            return nil
        }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Reads a dictionary `a{sv}`: its texts and arrays of bytes.
    func fields() -> (texts: [String: String], bytes: [String: [UInt8]]) {
        // characters: a field that the specification names is found, whatever other fields there are
        var texts: [String: String] = [:]
        var arrays: [String: [UInt8]] = [:]
        guard functions.message_enter_container(pointer, CChar(bitPattern: Self.array), "{sv}") > 0 else {
            return (texts, arrays)
        }
        while functions.message_enter_container(pointer, CChar(bitPattern: Self.entry), "sv") > 0 {
            guard let name = text() else { break }
            if functions.message_enter_container(pointer, CChar(bitPattern: Self.variant), "s") > 0 {
                texts[name] = text()
                leave()
            } else if functions.message_enter_container(pointer, CChar(bitPattern: Self.variant), "ay") > 0 {
                arrays[name] = bytes()
                leave()
            } else if functions.message_skip(pointer, "v") < 0 {
                break
            }
            leave()
        }
        leave()
        return (texts, arrays)
    }

    private func leave() { _ = functions.message_exit_container(pointer) }

    private func isNext(_ type: UInt8, _ contents: String?) -> Bool {
        var found: CChar = 0
        var inner: UnsafePointer<CChar>?
        guard functions.message_peek_type(pointer, &found, &inner) > 0, UInt8(bitPattern: found) == type else {
            return false
        }
        return contents == nil || inner.map { String(cString: $0) } == contents
    }
}

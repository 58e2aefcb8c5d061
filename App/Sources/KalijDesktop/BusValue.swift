import CGIO

/// An argument of a D-Bus call.
indirect enum BusValue {
    case text(String)
    case unsigned(UInt32)
    case signed(Int32)
    case flag(Bool)
    case byte(UInt8)
    case texts([String])
    /// `a{sv}`
    case properties([(String, BusValue)])
    /// `aa{sv}`
    case list([[(String, BusValue)]])
    case variant(BusValue)

    /// A floating reference.
    var pointer: OpaquePointer? {
        switch self {
        case .text(let text): g_variant_new_string(text)
        case .unsigned(let number): g_variant_new_uint32(number)
        case .signed(let number): g_variant_new_int32(number)
        case .flag(let flag): g_variant_new_boolean(flag ? 1 : 0)
        case .byte(let byte): g_variant_new_byte(byte)
        case .texts(let texts): Self.array("s", texts.map { g_variant_new_string($0) })
        case .properties(let properties):
            Self.array(
                "{sv}",
                properties.map {
                    g_variant_new_dict_entry(g_variant_new_string($0.0), g_variant_new_variant($0.1.pointer))
                })
        case .list(let list): Self.array("a{sv}", list.map { BusValue.properties($0).pointer })
        case .variant(let value): g_variant_new_variant(value.pointer)
        }
    }

    /// The arguments of a call, as a floating tuple.
    static func tuple(_ values: [BusValue]) -> OpaquePointer? {
        let children = values.map(\.pointer)
        return g_variant_new_tuple(children, gsize(children.count))
    }

    private static func array(_ type: String, _ children: [OpaquePointer?]) -> OpaquePointer? {
        let element = g_variant_type_new(type)
        defer { g_variant_type_free(element) }
        return g_variant_new_array(element, children, gsize(children.count))
    }
}

/// The body of a reply or a signal, which any program may send: fields of another type than expected are nil.
final class BusReply {
    private let tuple: OpaquePointer

    /// - Parameter tuple: a full reference, which this object releases.
    init(_ tuple: OpaquePointer) { self.tuple = tuple }

    isolated deinit { g_variant_unref(tuple) }

    private func read<Value>(_ place: Int, _ type: String, _ body: (OpaquePointer) -> Value) -> Value? {
        guard place < Int(g_variant_n_children(tuple)), let child = g_variant_get_child_value(tuple, gsize(place))
        else {
            return nil
        }
        defer { g_variant_unref(child) }
        guard g_variant_get_type_string(child).map({ String(cString: $0) }) == type else { return nil }
        return body(child)
    }

    func text(_ place: Int) -> String? {
        read(place, "s") { g_variant_get_string($0, nil).map { String(cString: $0) } ?? "" }
    }
    /// A text of the dictionary `a{sv}` at `place`.
    func property(_ name: String, at place: Int) -> String? {
        read(place, "a{sv}") { properties in
            let type = g_variant_type_new("s")
            defer { g_variant_type_free(type) }
            guard let value = g_variant_lookup_value(properties, name, type) else { return String?.none }
            defer { g_variant_unref(value) }
            return g_variant_get_string(value, nil).map { String(cString: $0) }
        } ?? nil
    }
    func number(_ place: Int) -> UInt32? { read(place, "u") { g_variant_get_uint32($0) } }
    func flag(_ place: Int) -> Bool? { read(place, "b") { g_variant_get_boolean($0) != 0 } }
    func texts(_ place: Int) -> [String]? {
        read(place, "as") { array in
            (0..<g_variant_n_children(array)).compactMap { index in
                guard let child = g_variant_get_child_value(array, index) else { return nil }
                defer { g_variant_unref(child) }
                return g_variant_get_string(child, nil).map { String(cString: $0) }
            }
        }
    }
}

import CAdwaita

/// A GListModel without items: GTK receives an empty object for each row that it requests.
final class ListModel {
    private(set) var count = 0
    let object: OpaquePointer

    init() {
        // GLib aborts when it runs out of memory, so the result is never nil.
        guard let made = g_object_new_with_properties(Types.model, 0, nil, nil) else {
            fatalError("no memory for a list")
        }
        object = OpaquePointer(made)
        let place: UnsafeMutablePointer<KalijObject> = cast(raw(object))
        place.pointee.swift = Unmanaged.passUnretained(self).toOpaque()
    }

    isolated deinit {
        // List views may outlive this object.
        let place: UnsafeMutablePointer<KalijObject> = cast(raw(object))
        place.pointee.swift = nil
        g_object_unref(raw(object))
    }

    func changed(at place: Int, removed: Int, inserted: Int) {
        count += inserted - removed
        g_list_model_items_changed(object, UInt32(place), UInt32(removed), UInt32(inserted))
    }
}

nonisolated private func count(of object: UnsafeMutableRawPointer) -> UInt32 {
    let place: UnsafeMutablePointer<KalijObject> = cast(object)
    guard let model = place.pointee.swift else { return 0 }
    nonisolated(unsafe) let pointer = model
    return MainActor.assumeIsolated { UInt32(Unmanaged<ListModel>.fromOpaque(pointer).takeUnretainedValue().count) }
}

private enum Types {
    static let model: GType = {
        let made = "KalijModel".withCString {
            g_type_register_static_simple(
                kalij_type_object(), $0, UInt32(MemoryLayout<GObjectClass>.size), nil,
                UInt32(MemoryLayout<KalijObject>.size), nil, GTypeFlags(0))
        }
        var info = GInterfaceInfo(
            interface_init: { interface, _ in
                guard let interface else { return }
                let list: UnsafeMutablePointer<GListModelInterface> = cast(interface)
                list.pointee.get_item_type = { _ in kalij_type_object() }
                list.pointee.get_n_items = { object in object.map { count(of: raw($0)) } ?? 0 }
                list.pointee.get_item = { object, place in
                    guard let object, place < count(of: raw(object)) else { return nil }
                    return g_object_new_with_properties(kalij_type_object(), 0, nil, nil).map { raw($0) }
                }
            }, interface_finalize: nil, interface_data: nil)
        g_type_add_interface_static(made, kalij_type_list_model(), &info)
        return made
    }()
}

import KalijRatchet
import KalijXML

/// The devices of an address, as the address has published them.
struct DeviceList: Equatable {
    let devices: [UInt32]

    /// Of an address.
    static let most = 64
    /// Of the own address.
    static let mostOwn = 32

    init(_ devices: [UInt32]) { self.devices = devices }

    /// The list in the content of an item; nil for anything else. Ids that no device has are left out.
    init?(_ element: Element, _ dialect: Dialect) {
        guard element.isNamed(Self.name(dialect), dialect.namespace) else { return nil }
        var (devices, known): ([UInt32], Set<UInt32>) = ([], [])
        for child in element.children("device") {
            guard let id = child.number("id"), id > 0, known.insert(id).inserted else { continue }
            devices.append(id)
        }
        self.devices = devices
    }

    func element(_ dialect: Dialect) -> Element {
        Element(
            Self.name(dialect), xmlns: dialect.namespace,
            children: devices.map { Element("device", attributes: ["id": "\($0)"]) })
    }

    private static func name(_ dialect: Dialect) -> String { dialect == .axolotl ? "list" : "devices" }
}

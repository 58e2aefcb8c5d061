import KalijRatchet
import KalijXML

/// The devices of an address as published.
struct DeviceList: Equatable {
    let devices: [UInt32]
    /// The labels of devices, in 2; those of other devices are preserved.
    let labels: [UInt32: Label]

    /// A label of a device, with the device's signature.
    struct Label: Equatable {
        let text: String
        let signature: String

        /// The maximum length in bytes. The standard recommends 53 characters.
        static let maxLength = 400
    }

    /// The maximum for an address.
    static let maxDevices = 64
    /// The maximum for the own address.
    static let maxOwnDevices = 32

    init(_ devices: [UInt32], labels: [UInt32: Label] = [:]) { (self.devices, self.labels) = (devices, labels) }

    /// The list in the content of an item; nil for anything else. Invalid and repeated ids are skipped.
    init?(_ element: Element, _ dialect: OMEMOVersion) {
        guard element.isNamed(Self.name(dialect), dialect.namespace) else { return nil }
        var (devices, known): ([UInt32], Set<UInt32>) = ([], [])
        var labels: [UInt32: Label] = [:]
        for child in element.children("device") {
            guard let id = child.number("id"), id > 0, known.insert(id).inserted else { continue }
            devices.append(id)
            if dialect == .omemo2, labels.count < Self.maxOwnDevices { labels[id] = Label(child) }
        }
        self.init(devices, labels: labels)
    }

    func element(_ dialect: OMEMOVersion) -> Element {
        Element(
            Self.name(dialect), xmlns: dialect.namespace,
            children: devices.map { device in
                let label = labels[device].map { ["label": $0.text, "labelsig": $0.signature] } ?? [:]
                return Element("device", attributes: label.merging(["id": "\(device)"]) { $1 })
            })
    }

    private static func name(_ dialect: OMEMOVersion) -> String { dialect == .axolotl ? "list" : "devices" }
}

extension DeviceList.Label {
    /// Nil for a device without a label, or with one that is too long.
    fileprivate init?(_ device: Element) {
        guard let text = device["label"], let signature = device["labelsig"],
            text.utf8.count + signature.utf8.count <= Self.maxLength
        else { return nil }
        (self.text, self.signature) = (text, signature)
    }
}

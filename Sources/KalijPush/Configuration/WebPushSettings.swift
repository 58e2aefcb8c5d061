import KalijText

/// Push services that devices name (RFC 8030).
public struct WebPushSettings: Sendable, Equatable {
    /// The file of the key that identifies the sender to push services (RFC 8292).
    public var keyPath: String
    /// For the operators of push services: `mailto:` or `https:`.
    public var contact: String
    public var request: Milliseconds = 5_000
    public var idle: Milliseconds = 600_000
    /// To a service at the same time, at most.
    public var connections = 2
    /// Services remembered at the same time, at most: each has connections and a health of its own.
    public var services = 1_000
    /// How long a service keeps a push for an absent device.
    public var expiration: Milliseconds = 4 * 7 * 86_400_000
    /// The ports besides 443 that an endpoint may name.
    public var ports: Set<UInt16> = []
    /// The operator's own services, which may be at addresses that are not public.
    public var ownServices: [OwnService] = []

    /// A push service of the operator's.
    public struct OwnService: Sendable, Equatable {
        /// In lower case.
        public var host: String
        public var port: UInt16
        /// Where the service is, instead of the DNS's answer.
        public var address: String
        public var caFile: String?
    }
}

extension WebPushSettings {
    init(_ entry: inout SettingsReader) {
        guard var object = entry.requiredObject("webpush") else {
            (keyPath, contact) = ("", "")
            return
        }
        keyPath = object.file("keyFilePath") ?? object.missing("keyFilePath")
        contact = object.word("contact") ?? object.missing("contact")
        if !contact.isEmpty, !contact.begins(with: "mailto:"), !contact.begins(with: "https://") {
            object.record("contact", "is no mailto: or https:// address")
        }
        idle = Milliseconds(object.integer("poolIdleTimeout", 600, in: 1...86_400)) * 1000
        request = Milliseconds(object.integer("requestTimeout", 5, in: 1...10)) * 1000
        connections = object.integer("connections", connections, in: 1...64)
        services = object.integer("services", services, in: 16...100_000)
        expiration = object.time("expiration", expiration)
        ports = Set(object.integers("ports", in: 1...65_535).map { UInt16(clamping: $0) })
        ownServices = object.objects("ownServices").map { reader in
            var service = reader
            return OwnService(&service)
        }
        object.finish()
    }
}

extension WebPushSettings.OwnService {
    init(_ object: inout SettingsReader) {
        host = object.host("host").lowercased()
        port = object.port("port", 443)
        address = object.text("address") ?? object.missing("address")
        if !address.isEmpty, !HTTPSettings.isAddress(address) { object.record("address", "is no IPv4 or IPv6 address") }
        caFile = object.file("caFile")
        object.finish()
    }
}

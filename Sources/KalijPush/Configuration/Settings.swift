/// Times and durations: milliseconds; times are since 1970.
public typealias Milliseconds = Int64

/// The content of a `settings.json`: fpush's format, with additional keys. `Documentation/Operating.md` explains each key.
public struct Settings: Sendable, Equatable {
    public var component: ComponentSettings
    public var modules: [String: ModuleSettings]  // characters: by the names of configured modules.
    /// The module for publishes without a module name.
    public var defaultModule: String?
    /// The longest wait before the next attempt to connect to the XMPP server.
    public var reconnect: Milliseconds
    public var limits: LimitSettings
    public var state: StateSettings
    public var http: HTTPSettings?
    /// Nil for a node alone.
    public var nodes: NodesSettings?

    /// The module that a publish means; nil if there is none.
    func moduleName(_ name: String?) -> String? {
        // As fpush: "default" is the default module, unless a module has that name.
        guard let name, name != "default" || modules[name] != nil else { return defaultModule }
        // Every spelling of a name counts as the configured one.
        return modules.index(forKey: name).map { modules[$0].key } ?? name
    }
}

/// The connection to the XMPP server (XEP-0114).
public struct ComponentSettings: Sendable, Equatable {
    public var hostname: String
    public var key: String
    public var serverHost: String
    public var serverPort: UInt16
}

/// A push module.
public struct ModuleSettings: Sendable, Equatable {
    /// The service that sends the pushes.
    public enum Provider: Sendable, Equatable {
        case apns(APNsSettings)
        case fcm(FCMSettings)
        case webPush(WebPushSettings)
        /// Sends nothing and writes a line for each push: for testing the server.
        case log
    }

    public var provider: Provider
    public var rate: RateSettings
    public var blocking: BlockingSettings
    /// A publish without a message body is sent as a background push.
    public var backgroundForUnimportant: Bool
}

/// How often a token is pushed to.
public struct RateSettings: Sendable, Equatable {
    public var isEnabled = true
    /// Between two pushes.
    public var window: Milliseconds = 20_000
    /// How long a token rests when the provider reports "too many" without a time.
    public var hold: Milliseconds = 600_000

    public init() {}
}

/// How long tokens are blocked.
public struct BlockingSettings: Sendable, Equatable {
    /// For a token no longer registered, according to the provider.
    public var dead: Milliseconds = 86_400_000
    /// For another such answer during the block.
    public var deadAgain: Milliseconds = 432_000_000
    /// For a token that the provider does not accept.
    public var bad: Milliseconds = 21_600_000
    public var badAgain: Milliseconds = 43_200_000
    /// How long a block lasts at least after a publish for the token.
    public var hit: Milliseconds = 600_000

    public init() {}
}

/// Apple's service.
public struct APNsSettings: Sendable, Equatable {
    /// The credentials with which the server authenticates to Apple.
    public enum Credentials: Sendable, Equatable {
        case certificate(path: String, password: String)
        case key(path: String, keyID: String, teamID: String)
    }

    public var credentials: Credentials
    public var topic: String
    public var isSandbox = false
    /// Members of every payload beside `aps`.
    public var additionalData: [String: JSONValue] = [:]  // characters: of the settings.
    public var idle: Milliseconds = 600_000
    public var request: Milliseconds = 5_000
    /// At the same time, at most.
    public var connections = 4
    /// How long Apple keeps a push for an absent device.
    public var expiration: Milliseconds = 4 * 7 * 86_400_000
    public var collapseID: String?
    public var title = "New Message"
    public var body = "New Message?"
    public var endpoint: EndpointSettings?
}

/// Google's service.
public struct FCMSettings: Sendable, Equatable {
    public var secretPath: String
    public var request: Milliseconds = 5_000
    public var idle: Milliseconds = 600_000
    /// At the same time, at most.
    public var connections = 4
    /// How long Google keeps a push for an absent device.
    public var expiration: Milliseconds = 4 * 7 * 86_400_000
    public var endpoint: EndpointSettings?
}

/// Another server than the provider's own.
public struct EndpointSettings: Sendable, Equatable {
    public var host: String
    public var port: UInt16
    public var caFile: String?
}

/// Limits for incoming publishes.
public struct LimitSettings: Sendable, Equatable {
    public var tokensPerDomain = 50_000
    public var domains = 50_000
    public var inFlight = 10_000
    public var queued = 100_000
    public var stanzaBytes = 65_536
    public var tokenBytes = 1_024
    public var knownTokens = 1_000_000
    public var blockedTokens = 1_000_000
    public var blockedDomains = 100_000
    /// The time in which a domain's mistakes are counted.
    public var window: Milliseconds = 600_000
    public var deadTokens = 20
    public var malformed = 100
    /// Mistakes below this share, in percent, block nobody, however many.
    public var mistakesPercent = 20
    public var domainBlock: Milliseconds = 3_600_000
    /// Failures of new tokens in the window, after which a domain's new tokens are refused.
    public var newTokenFailures = 10
    /// How long a token counts as proven after a successful push.
    public var known: Milliseconds = 7 * 86_400_000
    /// Every publish is answered within this time.
    public var answer: Milliseconds = 8_000
    /// How many different tokens have to fail in a row before a module is in doubt.
    public var breakerTokens = 10
    /// Between two probes of a module in doubt or at fault.
    public var probe: Milliseconds = 30_000

    public init() {}
}

/// The state on disk.
public struct StateSettings: Sendable, Equatable {
    /// The database; nil keeps everything in memory.
    public var database: String?
    /// The file with the secret for hashing tokens and domains; nil draws a secret at each start.
    public var secretFile: String?
    /// The former secret, while it is being replaced.
    public var previousSecretFile: String?

    public init() {}
}

/// Where metrics, health and the operator's page are served.
public struct HTTPSettings: Sendable, Equatable {
    public var address: String
    public var port: UInt16
    /// Host names under which the pages may be requested, besides addresses and `localhost`; in lower case.
    public var hosts: Set<String>  // characters: names in a `Host` are ASCII.
}

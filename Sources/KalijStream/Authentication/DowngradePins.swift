/// The minimum security of a login, unless the server proves that its offer is genuine (XEP-0474).
///
/// Without a pin, an attacker with a valid certificate could remove the better offers from the server's lists.
public struct DowngradePins: Hashable, Sendable, Codable {
    /// The mechanism of an earlier login; no weaker mechanism is accepted. Nil before the first login.
    public var mechanism: SASLMechanism?
    /// The kind of channel binding of an earlier login; no weaker kind is accepted.
    public var binding: ChannelBindings.Kind?
    /// Whether an earlier login used XEP-0388.
    public var isSASL2: Bool

    /// Creates pins; without arguments nothing is pinned.
    public init(mechanism: SASLMechanism? = nil, binding: ChannelBindings.Kind? = nil, isSASL2: Bool = false) {
        (self.mechanism, self.binding, self.isSASL2) = (mechanism, binding, isSASL2)
    }

    /// Whether a login of this kind is not below the pins.
    func hold(_ choice: LoginMethod) -> Bool {
        guard choice.isSASL2 || !isSASL2 else { return false }
        return holdExchange(choice)
    }

    /// Whether mechanism and binding are not below the pins.
    func holdExchange(_ choice: LoginMethod) -> Bool {
        if let mechanism, choice.mechanism < mechanism { return false }
        guard let binding else { return true }
        return choice.binding.map { $0 >= binding } ?? false
    }

    /// The pins after a login of this kind. If the list is genuine, they are set to this login; otherwise they can only rise.
    func after(_ choice: LoginMethod, isListGenuine: Bool) -> DowngradePins {
        if isListGenuine {
            return DowngradePins(mechanism: choice.mechanism, binding: choice.binding, isSASL2: choice.isSASL2)
        }
        return DowngradePins(
            mechanism: max(mechanism ?? .plain, choice.mechanism),
            binding: [binding, choice.binding].compactMap(\.self).max(),
            isSASL2: isSASL2 || choice.isSASL2)
    }
}

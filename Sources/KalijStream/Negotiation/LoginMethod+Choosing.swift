import KalijText

extension LoginMethod {
    /// Selects the login from the server's offer.
    ///
    /// - Throws: If nothing is acceptable, or the offer contradicts itself (XEP-0440 section 5).
    init(
        _ offer: SASLOffer, _ configuration: Negotiation.Configuration, _ bindings: ChannelBindings
    ) throws(AuthenticationError) {
        let pins = configuration.pins
        let isSASL2 = configuration.userAgent != nil && offer.mechanisms2.contains(where: Self.isKnown)
        guard isSASL2 || !pins.isSASL2 else { throw .profileMissing }
        let names = offer.mechanisms(isSASL2: isSASL2)
        let announced = try Announced(names, offer.bindings, bindings, isSASL2: isSASL2)
        let found = try Self.strongest(names, announced.usable, configuration)
        let flag: Flag = announced.isPossible || bindings.isEmpty ? .unsupported : .unoffered
        self.init(
            mechanism: found.mechanism, binding: found.binding, flag: found.binding == nil ? flag : .bound,
            isSASL2: isSASL2)
        if !pins.holdExchange(self) {
            try checkDescent(offer, configuration, bindings)
            descent = descent(names, pins)
        } else if announced.needsHash {
            descent = .bindingMissing(nil)
        }
        if let descent, mechanism == .plain { throw descent }
    }

    /// The strongest mechanism with binding, else without; below the pin only if nothing else is offered.
    private static func strongest(
        _ names: [String], _ usable: ChannelBindings.Kind?, _ configuration: Negotiation.Configuration
    ) throws(AuthenticationError) -> (mechanism: SASLMechanism, binding: ChannelBindings.Kind?) {
        let (credentials, pins) = (configuration.credentials, configuration.pins)
        let bindable =
            usable == nil ? [] : names.filter { $0.ends(with: suffix) }.map { String($0.dropLast(suffix.count)) }
        if let bound = try? SASLMechanism.strongest(of: bindable, credentials: credentials, pinned: pins.mechanism) {
            return (bound, usable)
        }
        do {
            let unbound = try SASLMechanism.strongest(of: names, credentials: credentials, pinned: pins.mechanism)
            let weaker = try? SASLMechanism.strongest(of: bindable, credentials: credentials, pinned: nil)
            if pins.binding != nil, let weaker { return (weaker, usable) }
            return (unbound, nil)
        } catch {
            // Only SCRAM can prove that the list is genuine.
            guard error.isDescent else { throw error }
            for (list, kind) in [(bindable, usable), (names.filter { $0 != SASLMechanism.plain.rawValue }, nil)] {
                if let weaker = try? SASLMechanism.strongest(of: list, credentials: credentials, pinned: nil) {
                    return (weaker, kind)
                }
            }
            throw error
        }
    }

    private func descent(_ names: [String], _ pins: DowngradePins) -> AuthenticationError {
        guard let pinned = pins.mechanism, mechanism < pinned else { return .bindingMissing(pins.binding) }
        return .onlyWeakerMechanisms(offered: names, pinned: pinned)
    }

    /// Below the pins an exchange may begin only if the server's hash of its lists could justify the choice. A genuine list that
    /// contains the pinned kind of binding does not justify a connection without it: the TLS may terminate at an attacker.
    private func checkDescent(
        _ offer: SASLOffer, _ configuration: Negotiation.Configuration, _ bindings: ChannelBindings
    ) throws(AuthenticationError) {
        guard let pinned = configuration.pins.binding, binding.map({ $0 < pinned }) ?? true,
            offer.bindings?.contains(pinned.rawValue) ?? false
        else { return }
        if case .keys = configuration.credentials, bindings[pinned] != nil {
            throw .passwordNeeded(.mechanismNotOffered)
        }
        throw .bindingMissing(pinned)
    }

    private static func isKnown(_ name: String) -> Bool {
        SASLMechanism(rawValue: name.ends(with: suffix) ? String(name.dropLast(suffix.count)) : name) != nil
    }

    /// The server's announcements of channel binding (XEP-0440 section 5).
    private struct Announced {
        /// Whether the server announces any binding.
        let isPossible: Bool
        /// The strongest kind that both sides support.
        let usable: ChannelBindings.Kind?
        /// Whether both sides have no kind in common: the offer is accepted only with the hash (XEP-0474 section 6, rule 6).
        let needsHash: Bool

        init(
            _ names: [String], _ kinds: [String]?, _ bindings: ChannelBindings, isSASL2: Bool
        ) throws(AuthenticationError) {
            let bindsAny = names.contains { $0.ends(with: LoginMethod.suffix) }
            isPossible = bindsAny
            guard let kinds else {
                // ejabberd 23.01 offers mechanisms with binding but no kinds; such mechanisms cannot work in TLS 1.3.
                guard !bindsAny || !isSASL2 else { throw .contradictoryOffer }
                (usable, needsHash) = (nil, false)
                return
            }
            guard kinds.isEmpty != bindsAny else { throw .contradictoryOffer }
            usable = ChannelBindings.Kind.allCases.filter { kinds.contains($0.rawValue) && bindings[$0] != nil }.max()
            let isUniversal = kinds.contains(ChannelBindings.Kind.tlsServerEndPoint.rawValue)
            needsHash = bindsAny && usable == nil && !isUniversal && !bindings.isEmpty
        }
    }
}

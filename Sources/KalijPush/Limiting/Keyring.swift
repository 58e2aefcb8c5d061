/// The hashers of the present secret, and of other secrets while secrets are being replaced.
public struct Keyring {
    let present: KeyHasher
    let others: [KeyHasher]

    public init(_ present: KeyHasher, others: [KeyHasher] = []) {
        self.present = present
        self.others = others
    }

    /// A domain's keys, the present secret's first.
    func keys(domain: String) -> [HashedKey] { [present.key(domain: domain)] + others.map { $0.key(domain: domain) } }

    /// All keys of a push's token.
    func keys(of flight: InFlightPush) -> [HashedKey] {
        [flight.key] + others.map { $0.key(token: flight.subject, module: flight.module) }
    }
}

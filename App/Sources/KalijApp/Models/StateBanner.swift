/// The displayed state of an account.
public enum AccountStatus: Sendable, Equatable {
    case connecting, online
    /// The start of the state in milliseconds since 1970, and its reason, described for the user.
    case offline(since: Int64, why: String?)
    case refused
    case noStorage(String)

    /// Whether there is no connection.
    public var isOffline: Bool {
        switch self {
        case .connecting, .offline, .refused: true
        case .online, .noStorage: false
        }
    }
}

/// Which process keeps the accounts online.
public enum Driving: Sendable, Equatable {
    case starting, here, elsewhere, noAccount
    /// The tables of an older version are brought up to date.
    case migrating
    case failed(String)
}

/// The content of the line above the lists, a function of the states.
public struct StateBanner: Sendable, Equatable {
    public enum Action: Sendable { case tryNow, logIn }
    public let text: String
    public let action: Action?

    /// - Parameter time: formats a time.
    public static func of(
        _ driving: Driving, _ accounts: [String: AccountStatus], time: (Int64) -> String
    ) -> StateBanner? {
        switch driving {
        case .failed(let reason): return StateBanner(text: Words.cannotStart(reason), action: .tryNow)
        case .migrating: return StateBanner(text: Words.migrating, action: nil)
        case .starting, .noAccount: return accounts.values.contains(.refused) ? refused(accounts) : nil
        case .here, .elsewhere: break
        }
        let sorted = accounts.sorted { $0.key < $1.key }
        for case (_, .noStorage(let reason)) in sorted { return StateBanner(text: Words.storage(reason), action: nil) }
        if let banner = refused(accounts) { return banner }
        for case (let account, .offline(let since, let why)) in sorted {
            let text = why.map { Words.offline(since: time(since), why: $0) } ?? Words.offline(since: time(since))
            return StateBanner(text: accounts.count > 1 ? Words.account(account, text) : text, action: .tryNow)
        }
        for case (let account, .connecting) in sorted {
            return StateBanner(text: accounts.count > 1 ? Words.connecting(account) : Words.connecting, action: nil)
        }
        return driving == .elsewhere ? StateBanner(text: Words.elsewhere, action: nil) : nil
    }

    private static func refused(_ accounts: [String: AccountStatus]) -> StateBanner? {
        accounts.filter { $0.value == .refused }.keys.min().map {
            StateBanner(text: Words.refused($0), action: .logIn)
        }
    }
}

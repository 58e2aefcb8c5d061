/// A feature with state of an account that ends with the login, or with the account.
public protocol AccountObserver: Feature {
    /// The account is about to be logged out, in a session: what has to be sent to the server before is sent here.
    /// - Returns: the names of the handlers whose responses the logout waits for.
    static func prepareLogout(in step: Step) throws -> [String]

    /// The account is logged out, and stays stored with its messages: whatever the next login restores from the server is removed.
    static func didLogOut(in step: Step) throws

    /// The account is about to be removed with all rows that refer to it.
    static func willRemoveAccount(in step: Step) throws
}

extension AccountObserver {
    public static func prepareLogout(in step: Step) throws -> [String] { [] }
    public static func didLogOut(in step: Step) throws {}
    public static func willRemoveAccount(in step: Step) throws {}
}

import KalijHandlers

extension Invalidation {
    /// The session in which the request was sent is lost, and with it the answer.
    public static let sessionLost = Invalidation("session lost")
    /// The account was logged out.
    public static let loggedOut = Invalidation("logged out")
    /// The account was removed, with everything that is stored about it.
    public static let accountRemoved = Invalidation("account removed")
    /// Who asked no longer wants to know.
    public static let withdrawn = Invalidation("withdrawn")
}

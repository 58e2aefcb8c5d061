/// A handler whose row was deleted in the same step: the handler is called or invalidated now, or never.
package struct ClaimedHandler {
    package let origin: DeadLetter.Origin
    /// The row: the request's id, or the number of the timer or of the waiter.
    package let id: String
    package let bytes: [UInt8]
    /// How many processes have ended during a call of the handler.
    package let crashes: Int64

    /// After so many crashes the handler is not called any more.
    package static let maxCrashes: Int64 = 3
}

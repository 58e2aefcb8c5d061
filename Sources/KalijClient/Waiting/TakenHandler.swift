/// A handler whose row was taken away, in the same step: it is called or invalidated now, or never.
struct TakenHandler {
    let origin: DeadLetter.Origin
    /// The row's: that of the request, or the number of the timer or of who waits for a promise.
    let id: String
    let bytes: [UInt8]
    /// How many processes have ended while they called it.
    let crashes: Int64

    /// After so many crashes it is not called any more.
    static let mostCrashes: Int64 = 3
}

/// A handler whose row was taken away, in the same step: it is called or invalidated now, or never.
package struct TakenHandler {
    package let origin: DeadLetter.Origin
    /// The row's: that of the request, or the number of the timer or of who waits for a promise.
    package let id: String
    package let bytes: [UInt8]
    /// How many processes have ended while they called it.
    package let crashes: Int64

    /// After so many crashes it is not called any more.
    package static let mostCrashes: Int64 = 3
}

/// Times and limits that several features share.
package enum EngineLimits {
    /// The longest time for a response of the account's own server, if neither presence nor messages wait for the response. Long
    /// enough for a slow link; the next session sends the request again.
    package static let serverTimeout = Duration.seconds(30)

    /// The longest time for a response while presence and held messages wait. It is longer, because without the response the
    /// session continues without the archive, and messages of a lost session are reported as unsettled.
    package static let archiveTimeout = Duration.seconds(120)

    /// How many requests are sent if the account's own server does not answer within ``serverTimeout``. An answer may be lost
    /// with a connection; three are not.
    package static let serverAttempts = 3

    /// The largest number of kept rows of an account in lists for people: stanzas set aside, dead letters, answered questions.
    /// Strangers must not fill the disk.
    package static let keptRows: Int64 = 1000
}

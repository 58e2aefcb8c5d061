import KalijCore
import KalijText
import KalijTransfer

/// Limits which files are downloaded concurrently. Automatic downloads use separate slots from those that the user requested,
/// with at most one for each host and each sender; requested ones may use at most two for each host. A slow server therefore
/// delays only its own files.
struct DownloadShares {
    /// A file that is being downloaded.
    struct Place: Equatable {
        let sender: String
        /// In lower case; nil if the address has none.
        let host: String?
        var isAutomatic: Bool

        init(_ row: ReceivedFileRow, from sender: String?) {
            let host = (try? TransferURL(row.url))?.host
            self.init(sender: sender ?? "", host: host, isAutomatic: row.isAutomatic)
        }

        init(sender: String, host: String?, isAutomatic: Bool) {
            (self.sender, self.host, self.isAutomatic) = (sender, host, isAutomatic)
        }
    }

    /// The maximum number of concurrent downloads that the user requested, and of automatic ones.
    static let (maxRequested, maxAutomatic) = (4, 3)
    /// The maximum number of concurrent downloads from one host that the user requested.
    static let maxRequestedPerHost = 2
    /// How many due files are examined for one that may start.
    static let maxExamined: Int64 = 500

    /// An automatic download requires a minimum rate, in bytes per second: a slow server does not keep a slot. Another attempt
    /// resumes the part.
    static func limits(automatic: Bool) -> TransferLimits {
        automatic ? TransferLimits(lowSpeed: 2000, lowSpeedSeconds: 30) : TransferLimits()
    }

    private(set) var places: [Int64: Place] = [:]

    /// Whether a slot is free.
    func hasRoom(automatic: Bool) -> Bool {
        places.values.count { $0.isAutomatic == automatic } < (automatic ? Self.maxAutomatic : Self.maxRequested)
    }

    /// - Returns: whether the download of `message` may start.
    mutating func acquire(_ message: Int64, _ place: Place) -> Bool {
        guard places[message] == nil, hasRoom(automatic: place.isAutomatic) else { return false }
        let others = places.values.filter { $0.isAutomatic == place.isAutomatic }
        if place.isAutomatic {
            guard
                !others.contains(where: { $0.host?.exact == place.host?.exact || $0.sender.exact == place.sender.exact }
                )
            else { return false }
        } else {
            guard others.count(where: { $0.host?.exact == place.host?.exact }) < Self.maxRequestedPerHost else {
                return false
            }
        }
        places[message] = place
        return true
    }

    /// The user has requested a file that is being downloaded automatically.
    mutating func markRequested(_ message: Int64) { places[message]?.isAutomatic = false }

    mutating func end(_ message: Int64) { places[message] = nil }
    mutating func endAll() { places = [:] }
}

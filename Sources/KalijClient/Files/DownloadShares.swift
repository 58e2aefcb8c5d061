import KalijFeatures
import KalijText
import KalijTransfer

/// Which files are fetched at the same time. What fetches itself takes no place of what the user asks for, and neither a sender nor a
/// host takes all places: whoever sends slowly holds up his own files alone.
struct DownloadShares {
    /// A file that is fetched.
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

    /// How many files are fetched for the user, and how many unasked.
    static let (mostWanted, mostAutomatic) = (4, 3)
    /// How many of a host are fetched for the user.
    static let mostWantedOfHost = 2
    /// How many due files are looked at for one that may begin.
    static let looks: Int64 = 500

    /// Whatever fetches itself comes at a least rate, in bytes per second: a slow server does not keep a place. Another attempt goes on
    /// with the part.
    static func limits(automatic: Bool) -> TransferLimits {
        automatic ? TransferLimits(lowSpeed: 2000, lowSpeedSeconds: 30) : TransferLimits()
    }

    private(set) var places: [Int64: Place] = [:]

    /// Whether any file may begin.
    func hasRoom(automatic: Bool) -> Bool {
        places.values.count { $0.isAutomatic == automatic } < (automatic ? Self.mostAutomatic : Self.mostWanted)
    }

    /// - Returns: whether the file of `message` begins.
    mutating func take(_ message: Int64, _ place: Place) -> Bool {
        guard places[message] == nil, hasRoom(automatic: place.isAutomatic) else { return false }
        let others = places.values.filter { $0.isAutomatic == place.isAutomatic }
        if place.isAutomatic {
            guard
                !others.contains(where: { $0.host?.exact == place.host?.exact || $0.sender.exact == place.sender.exact }
                )
            else { return false }
        } else {
            guard others.count(where: { $0.host?.exact == place.host?.exact }) < Self.mostWantedOfHost else {
                return false
            }
        }
        places[message] = place
        return true
    }

    /// The user has asked for a file that fetches itself.
    mutating func isWanted(_ message: Int64) { places[message]?.isAutomatic = false }

    mutating func end(_ message: Int64) { places[message] = nil }
    mutating func endAll() { places = [:] }
}

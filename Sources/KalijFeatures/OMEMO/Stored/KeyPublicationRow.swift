import KalijRatchet
import KalijCore
import KalijStore
import KalijText
import KalijXML

/// The stored state of the publication of this device's keys in one version.
struct KeyPublicationRow {
    var state: KeyPublicationState
    /// The number of requests sent. Only the response to the latest one counts.
    var requestCount: Int64
    /// When the bundle was published last, in the steady time.
    var publishedAt: Int64?
    /// Whether a timer is scheduled that publishes the bundle.
    var isTimed: Bool
    /// When others have removed this device from the list in the last hour, in the steady time.
    var fights: [Int64]
    /// The other devices of the list.
    var others: [UInt32]
    /// Their labels, and that of this device as it is published, in 2.
    var labels: [UInt32: DeviceList.Label]
    /// Earlier ids of this device.
    var retired: [UInt32]
    var foreignAt: Int64?
    var problem: String?

    /// The problem at a server that cannot store keys.
    static let withoutNodes = Reason(.noKeysAtServer).description

    static func load(_ account: Int64, _ dialect: OMEMOVersion, from database: Database) throws -> KeyPublicationRow? {
        try database.statement(
            """
            SELECT stage, listed, due, attempts, asked, published_at, timed, fights, others, labels, retired, foreign_at,
                problem
            FROM omemo_own
            WHERE account = ? AND dialect = ?
            """
        ).first([.integer(account), .integer(Int64(dialect.rawValue))], KeyPublicationRow.init)
    }

    private init(_ row: Row) {
        state = KeyPublicationState(
            KeyPublicationState.Stage(rawValue: row.text("stage")) ?? .off, isListed: row.bool("listed"),
            isDue: row.bool("due"), attempts: Int(row.integer("attempts")))
        (requestCount, publishedAt) = (row.integer("asked"), row.optionalInteger("published_at"))
        isTimed = row.bool("timed")
        fights = row.text("fights").words(at: ",").compactMap { Int64($0) }
        others = row.text("others").words(at: ",").compactMap { UInt32($0) }
        labels = (try? Element.parse(row.text("labels"))).flatMap { DeviceList($0, .omemo2) }?.labels ?? [:]
        retired = row.text("retired").words(at: ",").compactMap { UInt32($0) }
        (foreignAt, problem) = (row.optionalInteger("foreign_at"), row.optionalText("problem"))
    }

    /// Sets the other devices to those of the server's list, without earlier ids of this device.
    mutating func set(_ list: DeviceList, besides device: UInt32?) {
        others = list.devices.filter { $0 != device && !retired.contains($0) }
        labels = list.labels
    }

    /// The list with `device`, or without this device, with the labels of both.
    func list(with device: UInt32? = nil) -> DeviceList {
        DeviceList(others + (device.map { [$0] } ?? []), labels: labels)
    }

    static func make(_ account: Int64, _ dialect: OMEMOVersion, in database: Database) throws {
        try database.run(
            """
            INSERT OR IGNORE INTO omemo_own(account, dialect, stage, listed, due, attempts, asked, next_id, timed, fights, others,
                labels, retired)
            VALUES (?, ?, ?, 0, 1, 0, 0, 1, 0, '', '', '', '')
            """,
            [.integer(account), .integer(Int64(dialect.rawValue)), .state(KeyPublicationState.Stage.off)])
    }

    func save(_ account: Int64, _ dialect: OMEMOVersion, in database: Database) throws {
        try database.run(
            """
            UPDATE omemo_own SET stage = ?, listed = ?, due = ?, attempts = ?, asked = ?, published_at = ?, timed = ?, fights = ?,
                others = ?, labels = ?, retired = ?, foreign_at = ?, problem = ?
            WHERE account = ? AND dialect = ?
            """,
            [
                .state(state.stage), .integer(state.isListed ? 1 : 0), .integer(state.isDue ? 1 : 0),
                .integer(Int64(state.attempts)), .integer(requestCount), .optional(publishedAt),
                .integer(isTimed ? 1 : 0),
                .text(fights.map(String.init).joined(separator: ",")),
                .text(others.map(String.init).joined(separator: ",")),
                .text(labels.isEmpty ? "" : DeviceList(Array(labels.keys), labels: labels).element(.omemo2).xml()),
                .text(retired.map(String.init).joined(separator: ",")), .optional(foreignAt), .optional(problem),
                .integer(account), .integer(Int64(dialect.rawValue)),
            ])
    }
}

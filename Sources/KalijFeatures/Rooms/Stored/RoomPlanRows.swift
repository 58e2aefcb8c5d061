import KalijAddress
import KalijCore
import KalijStore
import KalijText

/// A stored plan.
struct RoomPlanRow {
    let id: Int64
    var plan: RoomPlan
    /// The bare address of the room; nil until a service was found.
    var room: JID?
    let nick: String?
    let people: [String]
    /// The intent that ends with the plan; it identifies the plan for the user.
    var intent: String
    /// The number of people who are members by now.
    var added: Int
    /// Why the room has not taken the picture, in words.
    var pictureProblem: String?
    /// The number of queries sent. Only the response to the latest one counts.
    var requestCount: Int64
}

/// The stored plans of an account. Can be read outside of a step.
struct RoomPlanRows {
    let database: Database
    let account: Int64

    /// The maximum number of failed plans that await the user's decision.
    private static let maxFailures: Int64 = 20

    /// - Parameter picture: in base64; nil for none.
    func make(title: String, nick: String?, people: [JID], picture: String?, intent: String) throws -> RoomPlanRow? {
        let names = people.map(\.description).joined(separator: "\n")
        try database.run(
            "INSERT INTO room_plan(account, stage, title, nick, people, picture, intent) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(account), .text(RoomPlan.Stage.finding.rawValue), .text(title), .optional(nick),
                .text(names), .optional(picture), .text(intent),
            ])
        return try row(database.lastInsertedRow)
    }

    /// All plans, the oldest first.
    func all() throws -> [RoomPlanRow] {
        try database.statement(
            """
            SELECT id, stage, title, problem, room, nick, people, added, picture IS NOT NULL AS pictured, picture_problem, intent, asked
            FROM room_plan WHERE account = ? ORDER BY id
            """
        ).all([.integer(account)], RoomPlanRow.init)
    }

    func row(_ id: Int64) throws -> RoomPlanRow? {
        try database.statement(
            """
            SELECT id, stage, title, problem, room, nick, people, added, picture IS NOT NULL AS pictured, picture_problem, intent, asked
            FROM room_plan WHERE id = ? AND account = ?
            """
        ).first([.integer(id), .integer(account)], RoomPlanRow.init)
    }

    /// The picture of a plan, in base64; nil for none.
    func picture(_ row: RoomPlanRow) throws -> String? {
        try database.statement("SELECT picture FROM room_plan WHERE id = ?")
            .first([.integer(row.id)]) { $0.optionalText() } ?? nil
    }

    /// The plan of an intent; nil if there is none.
    func row(intent: String) throws -> RoomPlanRow? { try all().first { $0.intent == intent } }

    /// The plan that creates a room; nil if there is none.
    func row(of room: JID) throws -> RoomPlanRow? { try all().first { $0.room == room.bare } }

    func save(_ row: RoomPlanRow) throws {
        try database.run(
            "UPDATE room_plan SET stage = ?, problem = ?, room = ?, added = ?, picture_problem = ?, asked = ? WHERE id = ?",
            [
                .text(row.plan.stage.rawValue), .optional(row.plan.problem), .optional(row.room?.description),
                .integer(Int64(row.added)), .optional(row.pictureProblem), .integer(row.requestCount), .integer(row.id),
            ])
    }

    /// Another intent ends with the plan from now on.
    func rename(_ row: inout RoomPlanRow, to intent: String) throws {
        row.intent = intent
        try database.run("UPDATE room_plan SET intent = ? WHERE id = ?", [.text(intent), .integer(row.id)])
    }

    func remove(_ row: RoomPlanRow) throws {
        try database.run("DELETE FROM room_plan WHERE id = ?", [.integer(row.id)])
    }

    /// Removes the oldest failed plans: each remains until the user has decided, within a bound.
    func forgetOldFailures() throws {
        try database.run(
            """
            DELETE FROM room_plan WHERE id IN (SELECT id FROM room_plan WHERE account = ? AND stage = ? ORDER BY id DESC
                LIMIT -1 OFFSET ?)
            """,
            [.integer(account), .text(RoomPlan.Stage.failed.rawValue), .integer(Self.maxFailures)])
    }
}

extension RoomPlanRow {
    fileprivate init(_ row: Row) {
        let room = row.optionalText("room").map(JID.received)
        let people = row.text("people").words(at: "\n")
        self.init(
            id: row.integer("id"),
            plan: RoomPlan(
                RoomPlan.Stage(rawValue: row.text("stage")) ?? .looking, title: row.text("title"),
                hasPeople: !people.isEmpty, hasPicture: row.bool("pictured"), problem: row.optionalText("problem"),
                isNamed: room != nil),
            room: room, nick: row.optionalText("nick"), people: people, intent: row.text("intent"),
            added: Int(row.integer("added")), pictureProblem: row.optionalText("picture_problem"),
            requestCount: row.integer("asked"))
    }
}

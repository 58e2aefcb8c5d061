import KalijRatchet
import KalijCore
import KalijStore

/// The versions that the account uses: 0.3 always, 2 if the user has enabled it.
struct EnabledVersions {
    let database: Database
    let account: Int64

    init(step: Step) { (database, account) = (step.database, step.account.id) }
    init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// Whether 2 is used in addition.
    var usesOMEMO2: Bool {
        get throws {
            try database.statement("SELECT 1 FROM omemo_second WHERE account = ?").first([.integer(account)]) { _ in
                true
            }
                ?? false
        }
    }

    /// The versions, the preferred one first.
    var all: [OMEMOVersion] { get throws { try usesOMEMO2 ? [.omemo2, .axolotl] : [.axolotl] } }

    /// The versions in which others can respond.
    var published: [OMEMOVersion] {
        get throws {
            try all.filter { format in
                let stage = try KeyPublicationRow.load(account, format, from: database)?.state.stage ?? .off
                return stage != .off && stage != .refused
            }
        }
    }

    func set(usesOMEMO2: Bool) throws {
        if usesOMEMO2 {
            try database.run("INSERT OR IGNORE INTO omemo_second(account) VALUES (?)", [.integer(account)])
        } else {
            try database.run("DELETE FROM omemo_second WHERE account = ?", [.integer(account)])
        }
    }
}

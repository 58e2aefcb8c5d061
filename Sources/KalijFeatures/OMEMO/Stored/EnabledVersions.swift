import KalijRatchet
import KalijSteps
import KalijStore

/// Which formats the account uses: 0.3 always, 2 if the user wants it.
struct EnabledVersions {
    let database: Database
    let account: Int64

    init(step: Step) { (database, account) = (step.database, step.account.id) }
    init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// Whether 2 is used, too.
    var usesOMEMO2: Bool {
        get throws {
            try database.statement("SELECT 1 FROM omemo_second WHERE account = ?").first([.integer(account)]) { _ in
                true
            }
                ?? false
        }
    }

    /// The formats, the preferred one first.
    var all: [OMEMOVersion] { get throws { try usesOMEMO2 ? [.omemo2, .axolotl] : [.axolotl] } }

    /// The formats in which others can write back.
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

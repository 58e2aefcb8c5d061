import KalijCore
import KalijRatchet
import KalijStore

/// The labels of other devices, as lists in 2 have them: a name is one that its device's key has signed.
struct PeerLabels {
    let database: Database

    /// Replaces the labels of the devices of `list`.
    func set(_ labels: [UInt32: DeviceList.Label], of list: PeerList) throws {
        try database.run(
            "DELETE FROM omemo_label WHERE peer IN (SELECT id FROM omemo_peer WHERE list = ?)", [.integer(list.id)])
        for (device, label) in labels {
            try database.run(
                """
                INSERT OR REPLACE INTO omemo_label(peer, label, signature)
                SELECT id, ?, ? FROM omemo_peer WHERE list = ? AND device = ? AND listed = 1
                """,
                [.text(label.text), .text(label.signature), .integer(list.id), .integer(Int64(device))])
        }
    }
}

/// The name of this device, which the user has chosen.
struct OwnName {
    let database: Database
    let account: Int64

    init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }
    init(_ step: Step) { self.init(database: step.database, account: step.account.id) }

    /// The label of this device; nil without a name, and in 0.3, which has none.
    func label(_ dialect: OMEMOVersion) throws -> DeviceList.Label? {
        guard dialect == .omemo2, let name = try load(), let device = try OwnDevice.load(account, from: database)
        else { return nil }
        return try DeviceList.Label(name, by: device.identity)
    }

    /// Nil without one.
    func load() throws -> String? {
        try database.statement("SELECT name FROM omemo_name WHERE account = ?")
            .first([.integer(account)]) { $0.text() }
    }

    /// - Parameter name: nil for none.
    func set(_ name: String?) throws {
        guard let name else {
            return try database.run("DELETE FROM omemo_name WHERE account = ?", [.integer(account)])
        }
        try database.run(
            "INSERT OR REPLACE INTO omemo_name(account, name) VALUES (?, ?)", [.integer(account), .text(name)])
    }
}

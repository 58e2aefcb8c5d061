import KalijCore
import KalijStore

extension Schema {
    /// The tables of a directory's database, without those of an application.
    static let accounts = accounts([])

    /// The tables of a directory's database, with the tables of an application's `features`. A feature without tables is
    /// recorded, too.
    package static func accounts(_ features: [any Feature.Type]) -> Schema {
        Schema(
            applicationID: 0x4B61_6C69,
            migrations: CoreTables.migrations + Features.own.flatMap { $0.migrations }
                + features.flatMap { [Migration(presenceOf: $0.name)] + $0.migrations })
    }
}

/// Where letters go, and where a process that receives them is rung.
public struct Address: Hashable, Sendable, CustomStringConvertible {
    let name: String

    /// Whoever drives the accounts of the directory.
    public static let driver = Address(name: "driver")

    /// Whoever is there in `role`.
    public static func role(_ role: Role) -> Address { Address(name: role.rawValue) }

    public var description: String { name }

    /// The name of its socket in the directory.
    var socketName: String { name + ".sock" }
}

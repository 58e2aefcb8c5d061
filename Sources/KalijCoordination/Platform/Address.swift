/// An address for letters, and for the signal to their receiver.
public struct Address: Hashable, Sendable, CustomStringConvertible {
    let name: String

    /// The process that drives the accounts of the directory.
    public static let driver = Address(name: "driver")

    /// The process that receives in `role`.
    public static func role(_ role: Role) -> Address { Address(name: role.rawValue) }

    public var description: String { name }

    /// The name of the address's socket in the directory.
    var socketName: String { name + ".sock" }
}

/// Texts of the choice of somebody to write to.
extension Words {
    public static var nameOrAddress: String { tr("Name or address") }
    public static var contacts: String { tr("Contacts") }
    static var noContacts: String { tr("No contacts yet") }
    static func people(_ count: Int) -> String { tr("{n} contact", "{n} contacts", count) }
    static func writeTo(_ address: String) -> String { tr("Write to {address}", ["address": address]) }
    public static var newContact: String { tr("Add a contact by address …") }
    public static var addIt: String { tr("Add") }
}

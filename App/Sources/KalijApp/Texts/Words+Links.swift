/// Texts of the addresses in messages.
extension Words {
    static func links(_ count: Int) -> String { tr("{n} link", "{n} links", count) }
    public static func open(_ link: TextLink) -> String { tr("Open {address}", ["address": link.shownAddress]) }
    public static func copy(_ link: TextLink) -> String { tr("Copy {address}", ["address": link.shownAddress]) }
    public static var cannotOpenLink: String { tr("No program opens this address") }
    public static var openLinkQuestion: String { tr("Open this address?") }

    /// Where an address leads that seems to lead elsewhere.
    public static func doubt(_ doubt: TextLink.Doubt, of link: TextLink) -> String {
        let leads = tr("It leads to {host}.", ["host": link.host.shownName])
        let why =
            switch doubt {
            case .letters: tr("The name of the server has letters that can look like others.")
            case .user: tr("What is in front of the @ is not the server.")
            case .direction: tr("It has letters that are written from right to left, which can move its parts.")
            }
        return leads + " " + why
    }
}

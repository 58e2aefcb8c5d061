import KalijClient

/// Texts of the making of an account.
extension Words {
    public static var newAccount: String { tr("New account") }
    public static var haveInvitation: String { tr("I have an invitation") }
    public static var invitationLink: String { tr("Invitation") }
    public static var invitationHint: String {
        tr("Paste the link that you were sent. It begins with xmpp:")
    }
    public static var invitationOrCodeHint: String {
        tr("Paste the link that you were sent, or choose a picture of its code")
    }
    public static var newAccountHint: String {
        tr("An account lives at a server that you choose, such as one of a provider, a school or a club")
    }
    public static var readLink: String { tr("Read it from a code …") }
    public static var serverName: String { tr("The name of the server, such as example.org") }
    public static var next: String { tr("Next") }
    public static var makeAccount: String { tr("Make account") }
    public static var userName: String { tr("User name") }
    public static func userNameHint(_ domain: String) -> String {
        tr("Your address becomes this name, then @{domain}", ["domain": domain])
    }
    public static var newPassword: String { tr("New password") }
    public static var connectingServer: String { tr("Asking the server …") }
    public static var makingAccount: String { tr("Making the account …") }
    public static var openPage: String { tr("Open the web page") }
    public static func accountAt(_ domain: String) -> String { tr("Account at {domain}", ["domain": domain]) }
    public static func riddle(_ label: String) -> String { tr("Picture: {question}", ["question": label]) }
    public static var riddleUnreadable: String { tr("The picture of the server cannot be shown") }

    /// Who invites: the name is a claim of the link's.
    public static func inviter(_ invitation: InvitationLink) -> String {
        let address = (invitation.inviter?.description ?? invitation.domain).shownName
        return invitation.inviterName.map { $0.shownName + " (" + address + ")" } ?? address
    }

    /// What an invitation is for.
    static func invitation(_ invitation: InvitationLink) -> String {
        guard invitation.inviter != nil else {
            return tr("An invitation to make an account at {domain}", ["domain": invitation.domain])
        }
        let who = inviter(invitation)
        guard invitation.makesAccount else {
            return tr("{name} invites you to chat. Choose a server for your account", ["name": who])
        }
        return tr(
            "{name} invites you to chat, with an account at {domain}", ["name": who, "domain": invitation.domain])
    }

    /// A medium that a question is about.
    static func medium(_ type: String) -> String {
        switch type.prefix(6).lowercased() {
        case "audio/": tr("Listen to the question")
        case "video/": tr("Watch the question")
        default: tr("Open the picture")
        }
    }

    /// The label of a field of the older forms, which have none (XEP-0077 section 14.1).
    static func fieldName(_ name: String) -> String {
        switch name {
        case "email": tr("Email address")
        case "nick": tr("Nickname")
        case "name": tr("Full name")
        case "first": tr("Given name")
        case "last": tr("Family name")
        case "phone": tr("Telephone number")
        default: name.shownLine
        }
    }

    public static var readInvitation: String { tr("Read the code of an invitation") }

    // Problems
    public static var noInvitationCode: String { tr("There is no code with an invitation in it") }
    public static var badInvitation: String { tr("This is no invitation. An invitation begins with xmpp:") }
    public static var noServer: String { tr("Enter the name of a server") }
    public static var serverOfChoice: String { tr("Enter the name of the server at which you want your account") }
    public static var badServerName: String { tr("This is no name of a server. A name looks like example.org") }
    public static var noUserName: String { tr("Enter a user name") }
    public static func badUserName(_ domain: String) -> String {
        tr("This is no user name at {domain}. Letters, digits, dots and hyphens are possible", ["domain": domain])
    }
    public static func enter(_ label: String) -> String { tr("This is required: {field}", ["field": label]) }
    public static func nameTaken(_ name: String) -> String {
        tr("The name {name} is taken. Choose another one", ["name": name])
    }
    public static var wrongAnswer: String { tr("The answer was wrong. The server has a new question") }
    public static var formExpired: String { tr("The server has not waited any longer. It has a new question") }
    public static func registrationLater(_ reason: String) -> String {
        tr("The server makes no new account now: {reason}. Try again later", ["reason": reason])
    }
    public static func registrationRefused(_ reason: String) -> String {
        tr("The server does not make the account: {reason}", ["reason": reason])
    }
    public static func registrationBroken(_ domain: String, _ reason: String) -> String {
        tr(
            "{domain} has ended the connection, or does not answer as it should: {reason}. What you have entered is kept",
            ["domain": domain, "reason": reason])
    }
    public static func madeNotStored(_ reason: String) -> String {
        tr(
            "The account is made, and cannot be stored here: {reason}. Try again, so that it is stored",
            ["reason": reason])
    }
    public static func invitationsOnly(_ domain: String) -> String {
        tr("{domain} makes accounts only for people with an invitation", ["domain": domain])
    }
    public static func registersNobody(_ domain: String) -> String {
        tr("{domain} makes no accounts in this way. Look at its web page, or choose another server", ["domain": domain])
    }
    public static func registersOnPage(_ domain: String) -> String {
        tr("{domain} makes accounts on a page of the web. Log in with the account afterwards", ["domain": domain])
    }
    public static var invitationRefused: String {
        tr("The invitation is not valid any more, or was used. Ask for a new one")
    }
    public static func inviterQuestion(_ name: String) -> String {
        tr("Add {name} to your contacts?", ["name": name])
    }
    public static var inviterHint: String { tr("You then see each other online.") }
}

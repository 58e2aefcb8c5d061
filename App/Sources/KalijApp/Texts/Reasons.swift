import KalijClient
import KalijStore

extension Words {
    /// Describes why an operation failed. A reason without a code is displayed in the engine's English.
    public static func why(_ reason: Reason) -> String {
        let value = reason.values.first?.shownLine ?? ""
        return switch reason.code {
        case .stanzaError: answer(value) ?? reason.description.shownLine
        case .tooLong, .tooLongEncrypted: tr("it is too long for the server")
        case .roomLeft: tr("you have left the group")
        case .noReply: tr("the server does not answer")
        case .roomForbids, .subjectRefused: tr("the group does not permit it to you")
        case .roomCannot: tr("the group does not support it")
        case .notInRoom: tr("you are not in the group now")
        case .noRoom: tr("there is no such group")
        case .roomNotOpen: tr("there is no such group, or its owner has not opened it yet")
        case .roomDestroyed: tr("the group was deleted") + value
        case .roomForMembers: tr("the group admits members alone") + value
        case .roomBanned: tr("you are banned from the group") + value
        case .roomRemoved: tr("somebody has removed you from the group") + value
        case .roomMemberNoMore: tr("you are not a member of the group any more") + value
        case .roomForMembersNow: tr("the group admits members alone now") + value
        case .nicknameTaken: tr("somebody else has your name in the group")
        case .roomPassword: tr("the group wants a password")
        case .roomShowsAddress: tr("everybody in this open group would see your address")
        case .noRoomService: tr("your server has no groups")
        case .notAGroup, .groupNotOffered: tr("your server offers no private groups")
        case .notInvited: tr("nobody has invited you to this group")
        case .groupWithoutPicture: tr("the group was made, and does not take the picture")
        case .noKeys: tr("{address} has no keys for encrypted messages", ["address": value])
        case .keysNotTrusted: tr("no key of {address} is trusted", ["address": value])
        case .keysUnusable: tr("the keys of {address} cannot be used", ["address": value])
        case .keysNotHad: tr("the keys of the other side could not be had within a day")
        case .noOtherDevice: tr("no other device of yours has keys")
        case .noKeysAtServer: tr("your server keeps no keys for encrypted messages")
        case .roomNotPrivate: tr("the group is open to everybody, and messages in it cannot be encrypted")
        case .noDeviceName: tr("the name of a device is a line of at most {number} characters", ["number": value])
        case .reactionNotEncryptable: tr("a reaction cannot be encrypted for the other side")
        case .fileTooLarge, .fileNotTaken: tr("the file is too large for the server")
        case .uploadRefused: tr("the server does not take the file")
        case .noUploadService: tr("the server takes no files")
        case .fileUnreadable: tr("the file cannot be read")
        case .certificate, .untrusted: tr("the server cannot show that it is the right one")
        case .tls: tr("no encrypted connection is possible")
        case .unreachable: tr("the server does not answer")
        case .noAnswer: tr("there is no network")
        case .unknownServer: tr("the server is not known")
        case .noService: tr("the server offers no chat service")
        case .diskFull: diskFull
        case .setting, .notStored, .other: reason.description.shownLine
        case .connectionLost: lostConnection
        case .signInPage: tr("the network wants a sign-in in a browser first")
        case .loginTooSlow, .silence: tr("the server is too slow")
        case .streamError:
            value == "conflict" ? tr("another program uses this session") : tr("the server has ended the connection")
        case .loginRefused: tr("the password is wrong, or the account is gone")
        }
    }

    static var diskFull: String { tr("the disk is full") }

    /// Describes why something cannot be stored, in a file or a database.
    public static func why(_ error: any Error) -> String {
        if (error as? StoreError)?.code == .full { return diskFull }
        return switch (error as? FileError)?.code {
        case .diskFull?: diskFull
        case .notAllowed?: tr("the folder does not permit it")
        case .notFound?: tr("there is no such folder")
        default: "\(error)".shownLine
        }
    }

    /// Describes the condition of a stanza error for the user (RFC 6120 section 8.3.3); nil for an error of the program.
    private static func answer(_ condition: String) -> String? {
        switch condition {
        case "item-not-found", "recipient-unavailable", "service-unavailable", "gone":
            tr("nobody can be reached at this address")
        case "remote-server-not-found": tr("the other side's server is not known")
        case "remote-server-timeout": tr("the other side's server does not answer")
        case "forbidden", "not-allowed", "not-authorized", "registration-required", "subscription-required":
            tr("the other side does not allow it")
        case "not-acceptable", "policy-violation": tr("the server does not accept it")
        case "resource-constraint": tr("there is no more room for messages at the other side")
        case "internal-server-error": tr("the server has a fault")
        default: nil
        }
    }
}

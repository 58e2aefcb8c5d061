extension Reason {
    /// What has happened, with the places of the values.
    public enum Code: String, Sendable, CaseIterable {
        // MARK: A message

        /// The recipient, or a server, has answered with an error. 0: the condition of RFC 6120 section 8.3.3; 1: the error in words.
        case stanzaError = "stanza-error"
        /// The server takes no stanza of this size. 0: the bytes of the stanza; 1: the most bytes.
        case tooLong = "too-long"
        /// As ``tooLong``, encrypted for all devices. 0: the number of devices; 1: the bytes of the stanza; 2: the most bytes.
        case tooLongEncrypted = "too-long-encrypted"
        /// The user has left the room.
        case roomLeft = "room-left"

        // MARK: Its encryption

        /// Somebody has published no keys. 0: the address.
        case noKeys = "no-keys"
        /// No key of somebody's is trusted. 0: the address.
        case keysNotTrusted = "keys-not-trusted"
        /// No device of somebody's can be encrypted for. 0: the name of a device; 1: why, in words.
        case keysUnusable = "keys-unusable"
        /// The keys could not be had within a day. 0: why, in words.
        case keysNotHad = "keys-not-had"
        /// The user's other devices have no keys.
        case noOtherDevice = "no-other-device"
        /// The user's server keeps no keys.
        case noKeysAtServer = "no-keys-at-server"
        /// In this room messages cannot be encrypted.
        case roomNotPrivate = "room-not-private"
        /// A reaction cannot be encrypted for the recipient.
        case reactionNotEncryptable = "reaction-not-encryptable"
        /// A device cannot have this name. 0: how long it may be.
        case noDeviceName = "no-device-name"

        // MARK: A change, and a room

        /// The server has not answered.
        case noReply = "no-reply"
        /// The room does not permit it. 0: the room; 1: its error in words.
        case roomForbids = "room-forbids"
        /// The room does not support it. 0: the room; 1: its error in words.
        case roomCannot = "room-cannot"
        /// The room has not taken the subject. 0: the room.
        case subjectRefused = "subject-refused"
        /// The account is not in the room. 0: the room.
        case notInRoom = "not-in-room"
        /// There is no such room.
        case noRoom = "no-room"
        /// There is no such room, or its owner has not configured it yet.
        case roomNotOpen = "room-not-open"
        /// The room was destroyed. 0: a colon and the reason that the room has given, or empty.
        case roomDestroyed = "room-destroyed"
        /// The room admits members alone. 0: as in ``roomDestroyed``.
        case roomForMembers = "room-for-members"
        /// The account is banned from the room. 0: as in ``roomDestroyed``.
        case roomBanned = "room-banned"
        /// Somebody has removed the account from the room. 0: as in ``roomDestroyed``.
        case roomRemoved = "room-removed"
        /// The account is no member of the room any more. 0: as in ``roomDestroyed``.
        case roomMemberNoMore = "room-member-no-more"
        /// The room admits members alone since then. 0: as in ``roomDestroyed``.
        case roomForMembersNow = "room-for-members-now"
        /// Another occupant has the nickname.
        case nicknameTaken = "nickname-taken"
        /// The room requires a password, or another password.
        case roomPassword = "room-password"
        /// Everybody in the open room sees the account's address, and the user has not agreed.
        case roomShowsAddress = "room-shows-address"
        /// The user's server has no service for rooms.
        case noRoomService = "no-room-service"
        /// The new room is no group after its configuration.
        case notAGroup = "not-a-group"
        /// The service cannot make a room a group. 0: the settings that it lacks.
        case groupNotOffered = "group-not-offered"
        /// The group was made, and its room does not take the picture. 0: why, in words.
        case groupWithoutPicture = "group-without-picture"
        /// Nobody has invited the user to the room, or the invitation was answered. 0: the room.
        case notInvited = "not-invited"

        // MARK: Its file

        /// The server takes no file of this size. 0: the most bytes that it takes.
        case fileTooLarge = "file-too-large"
        /// The upload service rejects the size of the file without stating its limit (HTTP status 413).
        case fileNotTaken = "file-not-taken"
        /// The server refuses the file. 0: the server's error text.
        case uploadRefused = "upload-refused"
        /// The server had no service for uploads for a week.
        case noUploadService = "no-upload-service"
        /// The file cannot be read. 0: why, in words.
        case fileUnreadable = "file-unreadable"

        // MARK: A connection

        /// The server's certificate is not valid. 0: details.
        case certificate
        /// The server's certificate is from nobody who is trusted. 0: details.
        case untrusted
        /// TLS could not be agreed on. 0: details.
        case tls
        /// No address of the server accepts a connection. 0: details.
        case unreachable
        /// The DNS does not respond: most likely there is no network. 0: details.
        case noAnswer = "no-dns-answer"
        /// The DNS has no record of the server. 0: details.
        case unknownServer = "unknown-server"
        /// The domain offers no XMPP. 0: details.
        case noService = "no-service"
        /// A setting is unusable. 0: details.
        case setting
        /// The connection has ended. 0: details.
        case connectionLost = "connection-lost"
        /// The network requires a sign-in in a browser first.
        case signInPage = "sign-in-page"
        /// The server did not finish the login in time. 0: seconds.
        case loginTooSlow = "login-too-slow"
        /// The server did not acknowledge anything. 0: seconds.
        case silence
        /// The server has ended the stream. 0: the condition of RFC 6120 section 4.9.3; 1: the error in words.
        case streamError = "stream-error"
        /// The server refuses the login. 0: the error in words.
        case loginRefused = "login-refused"

        // MARK: Storing

        /// The database cannot be written, because the disk is full. 0: the error in words.
        case diskFull = "disk-full"
        /// The database cannot be written. 0: the error in words.
        case notStored = "not-stored"

        /// Something without a code. 0: the words.
        case other

        /// The words in English, with the places of the values in braces.
        package var english: String {
            switch self {
            case .stanzaError, .streamError: "{1}"
            case .tooLong: "the stanza has {0} bytes, the server takes at most {1}"
            case .tooLongEncrypted: "encrypted for {0} devices, the stanza has {1} bytes, the server takes at most {2}"
            case .roomLeft: "the user has left the room"
            case .noKeys: "{0} has published no keys (OMEMO)"
            case .keysNotTrusted: "no key of {0} is trusted: `kalij omemo fingerprints {0}`"
            case .keysUnusable: "{0} has no usable keys: {1}"
            case .keysNotHad: "the keys could not be had within a day: {0}"
            case .noOtherDevice: "no other device of yours has keys"
            case .noKeysAtServer: "your server keeps no keys (XEP-0163)"
            case .roomNotPrivate: "messages can be encrypted only in rooms for members that show all addresses"
            case .reactionNotEncryptable: "reactions can be encrypted in OMEMO 2 alone"
            case .noDeviceName: "the name of a device is a line of at most {0} characters"
            case .noReply: "the server does not answer"
            case .roomForbids: "{0} does not let you do that: {1}"
            case .roomCannot: "{0} cannot do that: {1}"
            case .subjectRefused: "{0} does not let you set the subject"
            case .notInRoom: "you are not in {0} now"
            case .noRoom: "there is no such room"
            case .roomNotOpen: "there is no such room, or the room is not open yet"
            case .roomDestroyed: "the room was destroyed{0}"
            case .roomForMembers: "the room is for members only{0}"
            case .roomBanned: "banned from the room{0}"
            case .roomRemoved: "removed from the room{0}"
            case .roomMemberNoMore: "no member of the room any more{0}"
            case .roomForMembersNow: "the room is for members only now{0}"
            case .nicknameTaken: "the nickname is taken"
            case .roomPassword: "the room wants a password, or another password"
            case .roomShowsAddress:
                "everybody in this open room sees your address: "
                    + "agree when you join (--show-address, or `show_address` in JSON)"
            case .noRoomService: "the server has no service for rooms"
            case .notAGroup: "the room did not become a group"
            case .groupNotOffered: "the service does not offer {0}"
            case .groupWithoutPicture: "the group was made without the picture: {0}"
            case .notInvited: "nobody has invited you to {0}"
            case .fileTooLarge: "the server takes files of at most {0} bytes"
            case .fileNotTaken: "the server takes no file of this size"
            case .noUploadService: "the server has had no service for uploads for a week"
            case .signInPage: "the answer is HTTP and no XMPP: the network may want a sign-in in a browser first"
            case .loginTooSlow: "no session after {0} s"
            case .silence: "the server did not acknowledge anything for {0} s"
            case .uploadRefused, .fileUnreadable, .certificate, .untrusted, .tls, .unreachable, .noAnswer,
                .unknownServer, .noService, .setting, .connectionLost, .loginRefused, .diskFull, .notStored, .other:
                "{0}"
            }
        }
    }
}

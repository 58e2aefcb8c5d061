import KalijClient

extension Words {
    /// What a message waits for.
    public static func waiting(for reason: WaitReason) -> String {
        let words =
            switch reason {
            case .driver: tr("the running program has not taken it yet")
            case .connection: noConnection
            case .archive: tr("earlier messages are checked first")
            case .keys(nil): tr("encryption keys are fetched")
            case .keys(.some): tr("encryption keys cannot be fetched now")
            case .decision: tr("the other side no longer wants encryption")
            case .room(let reason): reason.map(why) ?? tr("you are not in the group")
            case .members: tr("the members of the group are fetched")
            case .earlier: tr("the message before it is checked first")
            case .nothing: ""
            }
        return words.isEmpty ? waiting : waiting(for: words)
    }
}

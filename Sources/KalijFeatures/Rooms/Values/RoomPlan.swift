import KalijCore

/// The creation of a group (XEP-0045 section 10.1), as a value: takes events, and returns actions. Any process can continue the plan;
/// in a new session the plan begins by determining whether the room exists.
struct RoomPlan: Equatable {
    enum Stage: String {
        /// The server is queried for a service with rooms.
        case finding
        /// A new session determines whether the room exists already.
        case looking
        /// The account is entering the room.
        case entering
        /// The form of the configuration was requested.
        case asking
        /// The configuration was sent.
        case configuring
        /// The description of the configured room was requested.
        case checking
        /// The picture was sent.
        case picturing
        /// The people are made members, one after the other.
        case adding
        /// The room cannot be made a group, and is being destroyed.
        case destroying
        /// There is no group, for the reason in `problem`: the user decides whether to try again.
        case failed
        case done
    }

    enum Event: Equatable {
        case begin
        /// The server has a service with rooms, or none.
        case found(service: String?)
        /// The room that this account has created before exists, or not.
        case checkedExistence(exists: Bool)
        /// The account is in the room.
        case entered
        /// The room does not admit the account.
        case refused(String)
        /// The room is locked: it was created in a session that is lost. Its owner configures it from outside.
        case notOpen
        /// The fields of the form.
        case form([String])
        case configured
        /// The description of the configured room.
        case checked(isGroup: Bool)
        /// The room has taken the picture, or refuses it: it is a group without it, too.
        case pictured
        case added
        /// One of the people is a member, and others are still to be made members.
        case nextPerson
        /// The room, or the server, has responded with an error.
        case failed(String)
        case destroyed
        /// A new session is available.
        case sessionBegan
        /// The user tries again, with a new room.
        case retried
    }

    enum Action: Equatable {
        case find
        /// Assign a new address at the service.
        case name(service: String)
        case checkExistence
        case enter
        case requestForm
        /// Send these fields.
        case configure([String: String])
        case check
        case setPicture
        case add
        /// The group is complete.
        case finish
        case destroy
        /// The creation has failed, for this reason.
        case fail(String)
    }

    var stage: Stage
    let title: String
    let hasPeople: Bool
    let hasPicture: Bool
    /// The reason why the room is destroyed, or could not be created, in its stored form.
    var problem: String?
    /// Whether the room has an address.
    var isNamed: Bool

    init(
        _ stage: Stage = .finding, title: String, hasPeople: Bool, hasPicture: Bool = false, problem: String? = nil,
        isNamed: Bool = false
    ) {
        (self.stage, self.title, self.hasPeople, self.problem) = (stage, title, hasPeople, problem)
        (self.hasPicture, self.isNamed) = (hasPicture, isNamed)
    }

    private static let prefix = "muc#roomconfig_"
    /// Required settings: without them a room is no group (docs.modernxmpp.org/client/groupchat).
    private static let mandatory = ["persistentroom": "1", "membersonly": "1", "whois": "anyone", "publicroom": "0"]
    /// Set where the room offers them; the archive has a different name on each of the two servers. In a moderated room a removed or
    /// banned member who returns has the former role (measured: ejabberd 23.01, where rooms are moderated by default).
    private var wished: [String: String] {  // characters: names of ours.
        [
            "\(Self.prefix)roomname": title, "\(Self.prefix)enablearchiving": "1", "mam": "1",
            "\(Self.prefix)changesubject": "0", "\(Self.prefix)allowpm": "none", "\(Self.prefix)moderatedroom": "0",
        ]
    }

    mutating func handle(_ event: Event) -> [Action] {
        if stage == .done || stage == .failed && event != .retried { return [] }
        switch event {
        case .begin, .sessionBegan: return begin()
        case .found(let service?) where stage == .finding:
            (isNamed, stage) = (true, .entering)
            return [.name(service: service), .enter]
        case .found where stage == .finding: return end(Reason(.noRoomService).stored)
        case .checkedExistence(let exists) where stage == .looking:
            if !exists, problem != nil { return end(problem ?? "") }
            stage = .entering
            return [.enter]
        case .entered where stage == .entering:
            if problem != nil { return destroy() }
            stage = .asking
            return [.requestForm]
        case .notOpen where stage == .entering:
            if problem != nil { return destroy() }
            stage = .asking
            return [.requestForm]
        case .refused(let reason) where stage == .entering: return end(reason)
        case .form(let fields) where stage == .asking: return configure(fields)
        case .configured where stage == .configuring:
            stage = .checking
            return [.check]
        case .checked(let isGroup) where stage == .checking:
            guard isGroup else { return destroy(Reason(.notAGroup).stored) }
            return hasPicture ? setPicture() : addOrFinish()
        case .pictured where stage == .picturing: return addOrFinish()
        case .nextPerson where stage == .adding: return [.add]
        case .added where stage == .adding: return finish()
        case .failed(let reason): return failed(reason)
        case .destroyed where stage == .destroying: return end(problem ?? "")
        case .retried where stage == .failed:
            (stage, problem, isNamed) = (.finding, nil, false)
            return []
        default: return []
        }
    }

    private mutating func begin() -> [Action] {
        guard isNamed else {
            stage = .finding
            return [.find]
        }
        stage = .looking
        return [.checkExistence]
    }

    private mutating func configure(_ fields: [String]) -> [Action] {
        let missing = Self.mandatory.keys.filter { !fields.contains(Self.prefix + $0) }.sorted()
        guard missing.isEmpty else {
            return destroy(Reason(.groupNotOffered, missing.joined(separator: ", ")).stored)
        }
        let needed = Dictionary(Self.mandatory.map { (Self.prefix + $0.key, $0.value) }) { $1 }
        stage = .configuring
        return [.configure(needed.merging(wished.filter { fields.contains($0.key) }) { $1 })]
    }

    private mutating func setPicture() -> [Action] {
        stage = .picturing
        return [.setPicture]
    }

    private mutating func addOrFinish() -> [Action] {
        guard hasPeople else { return finish() }
        stage = .adding
        return [.add]
    }

    private mutating func finish() -> [Action] {
        stage = .done
        return [.finish]
    }

    private mutating func failed(_ reason: String) -> [Action] {
        switch stage {
        case .finding, .looking, .entering: end(reason)
        case .asking, .configuring, .checking, .picturing, .adding: destroy(reason)
        // If a room cannot be destroyed, it is at least left.
        case .destroying: end(problem ?? reason)
        case .failed, .done: []
        }
    }

    private mutating func destroy(_ reason: String? = nil) -> [Action] {
        problem = problem ?? reason
        stage = .destroying
        return [.destroy]
    }

    private mutating func end(_ reason: String) -> [Action] {
        (stage, problem) = (.failed, reason)
        return [.fail(reason)]
    }
}

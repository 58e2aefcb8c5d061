import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore
import KalijText

/// Determines the devices that a message is encrypted for, and those that are excluded.
struct Recipients {
    let step: Step
    let own: OwnDevice
    /// The preferred format first: a device with several formats receives the message in the first one.
    let formats: [OMEMOVersion]

    static let openRoom = Reason(.roomNotPrivate).description
    /// The number of messages that a device may leave unanswered.
    private static let maxUnanswered: UInt32 = 1000

    struct Target {
        let device: PeerDevice
        /// The trust in the key of the device.
        let trust: KeyTrust
        var row: RatchetRow
    }

    enum Found {
        case all([Target], leftOut: [String])
        /// Nil if the missing keys were requested; else the reason why they are unavailable.
        case waits(String?)
        case failed(Reason)
    }

    /// The state of the devices of an address.
    private struct Known {
        var targets: [Target] = []
        /// By the names of the devices.
        var leftOut: [(name: String, reason: String)] = []
        var isMissing = false
        var problem: String?
    }

    /// The devices of `others`, and the other devices of the account. Requests missing lists and bundles.
    /// - Parameter isRoom: whether the recipients are members of a room; not evaluated at present.
    func find(_ others: [JID], isRoom: Bool) throws -> Found {
        var (targets, leftOut, isMissing): ([Target], [String], Bool) = ([], [], false)
        var reasons: [Reason] = []
        var waiting: String?
        for jid in others where jid != step.account.jid {
            let known = try resolve(jid)
            isMissing = isMissing || known.isMissing
            waiting = waiting ?? known.problem
            targets += known.targets
            leftOut += known.targets.isEmpty ? [jid.description] : known.leftOut.map(\.name)
            if known.targets.isEmpty { reasons.append(reason(known, jid)) }
        }
        let isForSelf = others.allSatisfy { $0 == step.account.jid }
        let ownOnes = try resolve(step.account.jid)
        if isMissing || ownOnes.isMissing { return .waits(nil) }
        if targets.isEmpty, !isForSelf || ownOnes.targets.isEmpty {
            if let waiting { return .waits(waiting) }
            return .failed(reasons.first ?? Reason(.noOtherDevice))
        }
        return .all(targets + ownOnes.targets, leftOut: leftOut + ownOnes.leftOut.map(\.name))
    }

    private func reason(_ known: Known, _ jid: JID) -> Reason {
        if known.leftOut.isEmpty { return Reason(.noKeys, "\(jid)") }
        if known.leftOut.allSatisfy({ $0.reason == Self.undecided }) {
            return Reason(.keysNotTrusted, "\(jid)")
        }
        return Reason(.keysUnusable, known.leftOut[0].name, known.leftOut[0].reason)
    }

    private static let undecided = "not trusted"

    private func resolve(_ jid: JID) throws -> Known {
        var (known, problem): (Known, String?) = (Known(), nil)
        for format in formats {
            let lists = DeviceLists(step: step, dialect: format)
            let list = try lists.make(jid)
            if try jid != step.account.jid && !lists.isCurrent(list) {
                if !list.isRequested { try lists.request(list) }
                known.isMissing = true
                continue
            }
            if list.isStranger { try RatchetSessions(step: step).clearStranger(list) }
            for device in try PeerDevices(step: step).all(of: list) where device.isListed && device.device != own.id {
                guard !known.targets.contains(where: { $0.device.device == device.device }) else { continue }
                try resolveDevice(device, &known)
            }
            problem = problem ?? list.problem
        }
        let reached = Set(known.targets.map(\.device.name.exact))
        known.leftOut.removeAll { reached.contains($0.name.exact) }
        // An outdated list is used if the server cannot be reached.
        if known.targets.isEmpty, known.leftOut.isEmpty { known.problem = problem }
        return known
    }

    private func resolveDevice(_ device: PeerDevice, _ known: inout Known) throws {
        let trust = try device.identity.flatMap { try TrustStore(step: step).trust(in: $0, of: device.jid) }
        if let trust, !trust.isUsed {
            // The bundle determines the present key of the device.
            guard !device.isRequested else { return known.isMissing = true }
            known.leftOut.append((device.name, Self.undecided))
            return
        }
        if let trust, let row = try RatchetSessions(step: step).sending(device) {
            guard row.session.isAnswered || row.session.sent < Self.maxUnanswered else {
                known.leftOut.append((device.name, "it has answered none of the last messages"))
                return
            }
            return known.targets.append(Target(device: device, trust: trust, row: row))
        }
        if let time = device.badUntil, time > step.steady.now {
            known.leftOut.append((device.name, device.problem ?? "its keys cannot be used"))
            return
        }
        known.isMissing = true
        try Bundles(step: step).request(device)
    }
}

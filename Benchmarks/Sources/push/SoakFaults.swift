import KalijPushLab
import Synchronization

/// The faults of the stand-in for Apple: little faults now and then, and one big fault at a time.
final class SoakFaults: Sendable {
    enum Phase: String, CaseIterable, Sendable {
        case none, down, unavailable, silence, tooMany, forbidden, reset, hangUp, slow
    }

    private let phase = Mutex(Phase.none)
    private let requests = Atomic(0)
    private let taken = Atomic(0)

    /// Pushes taken.
    var delivered: Int { taken.load(ordering: .relaxed) }

    func begin(_ new: Phase) { phase.withLock { $0 = new } }

    func answer(_ request: LabRequest) -> LabReply {
        let number = requests.wrappingAdd(1, ordering: .relaxed).newValue
        if request.path.hasSuffix("dead") { return LabAPNs.reply(410, "Unregistered") }
        switch phase.withLock({ $0 }) {
        case .none, .down: break
        case .unavailable: return LabAPNs.reply(503, "ServiceUnavailable")
        case .silence: return .silence
        case .tooMany: return LabAPNs.reply(429, "TooManyRequests", retryAfter: 5)
        case .forbidden: return LabAPNs.reply(403, "InvalidProviderToken")
        case .reset: return .reset(code: 2)
        case .hangUp: return .hangUp
        case .slow: return .later(2, success)
        }
        if number % 50_000 == 0 { return .goAway(including: true, reason: "Shutdown", then: success) }
        if number % 80_000 == 0 { return .limit(streams: 50, then: success) }
        if number % 3_000 == 0 { return LabAPNs.reply(500, "InternalServerError") }
        if number % 7_000 == 0 { return .reset(code: 2) }
        return success
    }

    private var success: LabReply {
        taken.wrappingAdd(1, ordering: .relaxed)
        return .respond(status: 200, fields: [("apns-id", "1")])
    }
}

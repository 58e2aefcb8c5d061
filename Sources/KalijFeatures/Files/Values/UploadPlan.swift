import KalijCore

/// The state machine of an upload: a value that takes events and returns actions.
///
/// A success response of the server is no proof: servers respond with 201 to half a file, and with 200 to a truncated one (measured).
/// A PUT cannot complete before its last block was sent. So before the last block is sent, the upload is recorded as *sealed* on the
/// disk: after an unsealed PUT the server cannot have the file, and after a sealed PUT a HEAD determines whether it has, before the
/// file is sent again.
package struct UploadPlan: Equatable, Sendable {
    /// The state of an upload.
    package enum Stage: String, Sendable {
        /// Waits for a time, or for the upload service.
        case waiting
        /// A slot was requested (XEP-0363 section 5).
        case asking
        /// The PUT is in progress or about to begin; the last block was not sent.
        case putting
        /// The last block was sent, or may have been sent.
        case sealed
        /// The message is queued.
        case done
        /// Failed for a permanent reason.
        case failed
    }

    package var stage = Stage.waiting
    /// Why the file waits or has failed, for human readers.
    package var reason: String?
    /// The earliest time of the next attempt, in milliseconds of the steady time; 0: now.
    package var notBefore: Int64 = 0
    package var slot: UploadSlot?
    /// When the slot was requested.
    package var requestedAt: Int64 = 0
    /// The number of failures since the last success.
    package var failures: Int64 = 0
    /// How many checks since the seal have found no complete file.
    package var checks: Int64 = 0
    /// How often the server has refused the file's size.
    package var refusals: Int64 = 0
    /// How many slots were refused in the hour that began at ``slotsSince``.
    package var slots: Int64 = 0
    package var slotsSince: Int64 = 0

    package init() {}

    package enum Event: Equatable, Sendable {
        /// There is a session, an upload service, and capacity for another transfer.
        case begin
        /// The account's server has no upload service; the upload waits for one until this time.
        case noService(until: Int64)
        case slot(UploadSlot)
        case slotRefused(SlotRefusal)
        /// The request for a slot was lost with its session.
        case slotLost
        /// The last block is about to be sent.
        case seal
        case put(UploadResult)
        case check(UploadCheckResult)
        /// The remaining time of the process does not suffice for the file.
        case needsForeground
        /// The user pauses the upload.
        case pause
        case retry
    }

    package enum Action: Equatable, Sendable {
        /// Request a slot from the service.
        case requestSlot
        /// Begin a PUT.
        case put
        /// The server has the whole file: enqueue the message.
        case finish
        case fail(Reason)
    }

    /// Handles an event. An event that does not fit the stage is late, and is ignored.
    /// - Parameters:
    ///   - now: milliseconds of the steady time.
    ///   - random: from 0 up to but not including 1.
    package mutating func handle(_ event: Event, now: Int64, random: Double) -> Action? {
        switch (event, stage) {
        case (.begin, .waiting):
            (stage, reason, notBefore, slot, requestedAt) = (.asking, nil, 0, nil, now)
            return .requestSlot
        case (.noService(let end), .waiting):
            guard now < end else { return fail(Reason(.noUploadService)) }
            wait(until: end, "no-upload-service: the server has no service for uploads (XEP-0363)")
        case (.slot(let slot), .asking):
            (stage, self.slot, checks) = (.putting, slot, 0)
            return .put
        case (.slotRefused(let refusal), .asking): return refused(refusal, now, random)
        case (.slotLost, .asking): wait(until: 0, nil)
        case (.seal, .putting): stage = .sealed
        case (.put(let end), .putting): return unsealed(end, now, random)
        case (.put(let end), .sealed): return sealed(end, now)
        case (.check(let end), .sealed): return checked(end, now, random)
        case (.needsForeground, .waiting):
            wait(
                until: Self.foreground,
                "needs-foreground: the file does not fit into the time of a process in the background")
        case (.pause, .waiting), (.pause, .asking), (.pause, .putting):
            wait(until: .max, "paused: until it is resumed")
            failures = 0
        case (.retry, .failed), (.retry, .waiting):
            self = UploadPlan()
        default: break
        }
        return nil
    }

    // MARK: Slots

    private mutating func refused(_ refusal: SlotRefusal, _ now: Int64, _ random: Double) -> Action? {
        switch refusal {
        case .forGood(let reason): return fail(reason)
        case .until(let time, let reason): wait(until: max(time, now + 1), reason)
        case .forNow(let reason): retryLater(reason, now, random, shortest: 60_000)
        }
        return nil
    }

    /// Waits for another slot, because the server has refused the PUT of this one. Servers limit the number of slots.
    private mutating func anotherSlot(_ reason: String, _ now: Int64) -> Action? {
        if now - slotsSince >= Self.hour { (slots, slotsSince) = (0, now) }
        slots += 1
        wait(until: slots <= Self.maxSlots ? 0 : slotsSince + Self.hour, reason)
        return nil
    }

    // MARK: The end of a PUT

    /// The last block was not sent: the server cannot have the file, whatever its response.
    private mutating func unsealed(_ end: UploadResult, _ now: Int64, _ random: Double) -> Action? {
        switch end {
        case .stopped: wait(until: 0, nil)
        case .cut(let reason): retryLater("connection-lost: \(reason)", now, random)
        case .broken(let reason): return fail(Reason(.fileUnreadable, reason))
        case .status(let status, let retryAfter): return answered(status, retryAfter, now, random)
        }
        return nil
    }

    private mutating func answered(
        _ status: Int, _ retryAfter: Int64?, _ now: Int64, _ random: Double
    ) -> Action? {
        let reason = "the server answered HTTP \(status) to the upload"
        switch status {
        case 413:
            refusals += 1
            if refusals >= 2 { return fail(Reason(.fileNotTaken)) }
            return anotherSlot(reason, now)
        case 200..<300, 401, 403, 404, 409, 410, 500: return anotherSlot(reason, now)
        case 300..<400: return fail(Reason(.uploadRefused, "the server sends uploads elsewhere: HTTP \(status)"))
        case 429, 502...599:
            retryLater(reason, now, random, shortest: retryAfter ?? 0)
            return nil
        default: return fail(Reason(.uploadRefused, reason))
        }
    }

    /// The last block may have been sent: only a 201 proves that the server has the file. After anything else a check by HEAD follows.
    private mutating func sealed(_ end: UploadResult, _ now: Int64) -> Action? {
        if case .status(201, _) = end { return finish() }
        (checks, notBefore) = (0, 0)
        // Only after a slow PUT: servers also respond with 410 to a slot that is used twice.
        if case .status(410, _) = end, now - requestedAt >= Self.slotLife { reason = Self.tooSlow }
        if case .status(let status, _) = end, reason == nil {
            reason = "the server answered HTTP \(status) to the upload"
        }
        return nil
    }

    // MARK: Checks

    private mutating func checked(_ end: UploadCheckResult, _ now: Int64, _ random: Double) -> Action? {
        switch end {
        case .whole: return finish()
        case .unknown(let reason):
            failures += 1
            (self.reason, notBefore) = (self.reason ?? "connection-lost: \(reason)", now + delay(random))
            return nil
        case .missing:
            checks += 1
            if reason == Self.tooSlow {
                wait(until: now + Self.day, reason)
                return nil
            }
            guard checks > Self.pauses.count else {
                notBefore = now + Self.pauses[Int(checks) - 1]  // traps: never, `looks` is from 1 to the count
                return nil
            }
            return anotherSlot(reason ?? "the server does not have the file", now)
        }
    }

    // MARK: Ends

    private mutating func finish() -> Action? {
        (stage, reason, notBefore) = (.done, nil, 0)
        return .finish
    }

    private mutating func fail(_ reason: Reason) -> Action? {
        (stage, self.reason, notBefore, slot) = (.failed, reason.description, 0, nil)
        return .fail(reason)
    }

    private mutating func wait(until time: Int64, _ reason: String?) {
        (stage, notBefore, self.reason, slot) = (.waiting, time, reason, nil)
    }

    private mutating func retryLater(_ reason: String, _ now: Int64, _ random: Double, shortest: Int64 = 0) {
        failures += 1
        wait(until: now + max(delay(random), min(shortest, Self.day)), reason)
    }

    /// The delay before the next attempt: an exponential backoff from a second to an hour, less a random part of up to half of it.
    private func delay(_ random: Double) -> Int64 {
        let longest = min(Self.hour, 1000 << min(max(0, failures - 1), 12))
        return max(500, longest - Int64(Double(longest) * random / 2))  // fits: at most an hour
    }

    /// The ``notBefore`` of files that wait for a process without a time limit.
    package static let foreground: Int64 = 1
    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 86_400_000
    private static let maxSlots: Int64 = 3
    /// The age in milliseconds at which a slot is too old to complete a PUT (Prosody 0.12: 300 s).
    package static let slotLife: Int64 = 240_000
    /// The pauses before repeated checks: a server may require time to close the file.
    private static let pauses: [Int64] = [2_000, 8_000, 30_000]
    /// The beginning of the reason if the link was too slow for the lifetime of a slot.
    package static let tooSlow = "too-slow"
}

/// The response to a PUT, or its end without a response.
package enum UploadResult: Equatable, Sendable {
    /// An HTTP status, and the delay that the server requests, in milliseconds.
    case status(Int, retryAfter: Int64?)
    /// The connection was lost, or could not be established.
    case cut(String)
    /// The process of the PUT has ended, or has cancelled it.
    case stopped
    /// The file is no longer readable.
    case broken(String)
}

/// The result of a check whether the server has the whole file.
package enum UploadCheckResult: Equatable, Sendable {
    /// 200, with exactly the length of the file.
    case whole
    /// Another response.
    case missing
    /// No response.
    case unknown(String)
}

/// Why a service provides no slot (XEP-0363 section 5).
package enum SlotRefusal: Equatable, Sendable {
    case forGood(Reason)
    /// Until a time in milliseconds of the steady time.
    case until(Int64, String)
    case forNow(String)
}

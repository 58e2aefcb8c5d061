import KalijXML

extension PushServer {
    func received(_ inbound: Inbound) {
        core.wallClock(isAhead: clock.wallOffset)
        switch inbound {
        case .publish(let publish): enqueue(core.publish(publish, now: clock.now))
        case .malformed(let requester, let domain, _):
            enqueue(core.malformed(requester, domain: domain, now: clock.now))
        case .unusable(let requester, _): enqueue(core.unusable(requester, now: clock.now))
        case .discovery(let requester): link?.send(Answer.information.bytes(for: requester))
        case .ping(let requester): link?.send(Answer.done.bytes(for: requester))
        case .unsupported(let requester): link?.send(Answer.unsupported.bytes(for: requester))
        case .ignored: break
        }
    }

    func enqueue(_ actions: [CoreAction]) {
        pending += actions
        planTick()
        guard !isFlushPlanned, !pending.isEmpty else { return }
        isFlushPlanned = true
        loop.enqueue { [weak self] in
            self?.isFlushPlanned = false
            self?.flush()
        }
    }

    /// First the disk, then all other effects: a push answered as queued survives this process from then on.
    func flush() {
        let actions = pending
        pending = []
        let isKept = keep(actions)
        // The queued push of the action before.
        var row: UInt64?
        for action in actions {
            switch action {
            case .keep(let push): if !isKept { core.notKept(push.id) }
            case .answer(let requester, let answer):
                let isLost = !isKept && row != nil && answer == .done
                link?.send((isLost ? Answer.unavailable : answer).bytes(for: requester))
            case .send(let delivery):
                if !isKept, row == delivery.id, keeper?.isCounted(delivery.id) == false {
                    enqueue(core.postpone(delivery.id, now: clock.now))
                } else {
                    send(delivery)
                }
            case .alarm(let module, let text, let isOver):
                if isOver { lines.isOver(module) }
                report(isOver ? .notice : .alarm, "\(module): \(text)", about: module)
            case .notice(let module, let text): report(.notice, "\(module): \(text)", about: module)
            case .redis(let link, let action): connections?.perform(action, at: link)
            case .drop, .block, .hit, .know, .success, .position, .exclude: break
            }
            if case .keep(let push) = action { row = push.id } else { row = nil }
        }
        endIfDrained()
    }

    private func send(_ delivery: Delivery) {
        guard let provider = providers[delivery.module] else {
            return loop.enqueue { [weak self] in self?.ended(delivery.id, .transient("the module is gone")) }
        }
        let began = loop.now
        provider.send(delivery) { [weak self] verdict in
            guard let self else { return }
            latencies[delivery.module, default: Histogram()].add(loop.now - began)
            ended(delivery.id, verdict)
        }
    }

    private func ended(_ id: UInt64, _ verdict: Verdict) {
        core.wallClock(isAhead: clock.wallOffset)
        enqueue(core.deliver(verdict, of: id, now: clock.now))
        if !isFlushPlanned { endIfDrained() }
    }

    // MARK: The disk

    /// - Returns: false if something was to be kept and is not on the disk.
    private func keep(_ actions: [CoreAction]) -> Bool {
        guard let keeper, actions.contains(where: \.isForDisk) else { return true }
        let isKept = keeper.keep(actions, now: clock.now)
        reportStore()
        planWorkOff()
        return isKept
    }

    /// Changes refused by the disk are offered again: once a second, and without a pause once the disk accepts.
    private func planWorkOff() {
        guard let keeper, keeper.backlog > 0, !isWorkOffPlanned else { return }
        isWorkOffPlanned = true
        loop.schedule(after: keeper.failure == nil ? 0 : 1) { [weak self] in
            guard let self else { return }
            isWorkOffPlanned = false
            _ = keeper.workOff(now: clock.now)
            reportStore()
            planWorkOff()
        }
    }

    private func reportStore() {
        guard let keeper, (keeper.failure != nil) != hasReportedStoreFailure else { return }
        hasReportedStoreFailure = keeper.failure != nil
        if let failure = keeper.failure {
            report(.alarm, "the database cannot be written, changes wait in memory: \(failure)")
        } else {
            report(.notice, "the database can be written again")
        }
    }
}

extension CoreAction {
    /// Whether the action is for the database.
    var isForDisk: Bool {
        switch self {
        case .keep, .drop, .block, .hit, .know, .success, .position, .exclude: true
        case .answer, .send, .alarm, .notice, .redis: false
        }
    }
}

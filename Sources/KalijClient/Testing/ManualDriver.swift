import KalijAddress
import KalijFeatures
import KalijCoordination
import KalijCore
import KalijEngine
import KalijStore
import KalijStream
import KalijXML

/// An account whose steps a test runs manually: the stream, the network and the loop are absent, everything else is the engine's.
package final class ManualDriver {
    package let directory: AccountDirectory
    package let account: Account
    package let database: Database
    package let runner: StepRunner
    let fence: Fence
    let steps: SessionSteps
    private var writer = OutboundWriter()
    /// How many stanzas the server has received in the session.
    private var received: HandledCount

    /// Acquires the right to drive `directory`, as an engine does, and stores the account `jid` there if there is none.
    /// - Parameters:
    ///   - applications: the features of the application, whose tables are created.
    ///   - received: how many stanzas of an earlier process the server has received in the session.
    package init(
        _ directory: AccountDirectory, as jid: JID, resource: String, applications: [any Feature.Type],
        notifies: Bool = false, clock: Clock, received: HandledCount = .zero
    ) throws {
        let features = try Features(applications)
        self.directory = directory
        self.received = received
        let driven = try directory.drive(role: .main, now: clock.now(), schema: .accounts(applications))
        (database, fence) = (driven.database, driven.fence)
        let accounts = AccountTable(database)
        if try accounts.all().isEmpty {
            try accounts.store(
                jid: jid, server: ServerSettings(),
                login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: resource,
                clock: clock)
        }
        account = try accounts.account(nil, in: directory)
        runner = StepRunner(
            database: database, fence: fence, barrier: Barrier(database), clock: clock, features: features,
            notifies: notifies, steady: try SteadyTime(reading: database, clock))
        steps = SessionSteps(runner: runner, account: account)
    }

    /// Starts a new session.
    package func bind() throws -> [EngineEvent] {
        (writer, received) = (OutboundWriter(), .zero)
        let address = try JID(account.jid.description + "/" + account.resource)
        return try steps.bound(address).events + steps.established(resumeID: "test").events
    }

    /// Resumes the session of the previous process.
    package func resume() throws -> [EngineEvent] { try steps.resumed(received).events }

    /// The server's count of the session, for the next process.
    package var count: HandledCount { received }

    /// Handles an inbound stanza.
    package func receive(_ stanza: Element) throws -> [EngineEvent] {
        try steps.handle(stanza, count: try steps.load().handled.advanced()).events
    }

    /// Runs `body` as a step of the application.
    package func perform(_ body: (Step) throws -> Void) throws -> [EngineEvent] {
        try runner.run("application", for: account, body).events
    }

    /// Calls the handlers that are due.
    package func due() throws -> [EngineEvent] {
        var events: [EngineEvent] = []
        while let effects = try steps.expire(.all, until: runner.steadyNow) { events += effects.events }
        while let effects = try steps.due() { events += effects.events }
        return events
    }

    /// Sends the queued stanzas, which the server receives.
    package func leave() throws -> (stanzas: [Element], events: [EngineEvent]) {
        var (stanzas, events): ([Element], [EngineEvent]) = ([], [])
        while true {
            switch try QueueSteps(runner: runner, account: account).next(after: writer, isManaged: true) {
            case .nothing, .later: return (stanzas, events)
            case .refused(let effects), .queued(let effects): events += effects.events
            case .transmit(let entries, let effects):
                writer.wrote(entries)
                events += effects.events
                for entry in entries {
                    stanzas.append(try Element.parse(Self.inClient(entry.stanza)))
                    received = received.advanced()
                }
            }
        }
    }

    /// The server acknowledges everything that was sent.
    package func acknowledge() throws -> [EngineEvent] {
        guard writer.outstanding > 0 else { return [] }
        let events = try steps.acknowledged(received).events
        _ = writer.acknowledged(UInt32(clamping: writer.outstanding))
        return events
    }

    /// Adds the namespace, which the stream element declares otherwise.
    private static func inClient(_ stanza: [UInt8]) -> [UInt8] {
        guard let end = stanza.firstIndex(where: { [0x20, 0x2F, 0x3E].contains($0) }) else { return stanza }
        return stanza[..<end] + Array(" xmlns='jabber:client'".utf8) + stanza[end...]
    }
}

import KalijAddress
import KalijClient
import KalijCoordination
import KalijCore
import KalijEngine
import KalijStore
import KalijStream
import KalijXML

/// An account without a network: a test gives what the server sends and what the application does. The steps, the tables and the
/// queue are the engine's. Nothing is answered unless the test answers it.
package final class DrivenAccount {
    package let directory: AccountDirectory
    package let account: Account
    package let database: Database
    package let fence: Fence
    package let clock: TestTime
    package let runner: StepRunner
    package let steps: SessionSteps
    private let folder: TestFolder
    private var writer = OutboundWriter()
    /// How many stanzas the server has received in the session, for the next process.
    package private(set) var received: HandledCount

    /// Acquires the right to drive the directory `folder`, as an engine does, and stores the account `jid` if there is none.
    /// - Parameters:
    ///   - applications: the features of the application, whose tables are created.
    ///   - received: how many stanzas of an earlier process the server has received in the session.
    package init(
        in folder: TestFolder, as jid: JID, resource: String, applications: [any Feature.Type] = [],
        notifies: Bool = false, clock: TestTime, received: HandledCount = .zero
    ) throws {
        let features = try Features(applications)
        (self.folder, self.clock, self.received) = (folder, clock, received)
        directory = AccountDirectory(folder.path)
        let driven = try directory.drive(role: .main, now: clock.now, schema: .accounts(applications))
        (database, fence) = (driven.database, driven.fence)
        let accounts = AccountTable(database)
        if try accounts.all().isEmpty {
            try accounts.store(
                jid: jid, server: ServerSettings(),
                login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: resource,
                clock: clock.clock)
        }
        account = try accounts.account(nil, in: directory)
        runner = StepRunner(
            database: database, fence: fence, barrier: Barrier(database), clock: clock.clock, features: features,
            notifies: notifies, steady: try SteadyTime(reading: database, clock.clock))
        steps = SessionSteps(runner: runner, account: account)
    }

    // MARK: From the server

    /// Starts a new session.
    @discardableResult
    package func bind(resumeID: String? = "test") throws -> [EngineEvent] {
        (writer, received) = (OutboundWriter(), .zero)
        let address = try JID(account.jid.description + "/" + account.resource)
        return try steps.bound(address).events + steps.established(resumeID: resumeID).events
    }

    /// Resumes the session of the previous process.
    package func resume() throws -> [EngineEvent] { try steps.resumed(received).events }

    /// Handles an inbound stanza, and counts it.
    @discardableResult
    package func receive(_ stanza: Element) throws -> Step.Effects {
        try steps.handle(stanza, count: try steps.load().handled.advanced())
    }

    /// The server acknowledges everything that was sent.
    package func acknowledge() throws -> [EngineEvent] {
        guard writer.outstanding > 0 else { return [] }
        let events = try steps.acknowledged(received).events
        _ = writer.acknowledged(UInt32(clamping: writer.outstanding))
        return events
    }

    // MARK: To the server

    /// Sends the queued stanzas, which the server receives.
    package func send() throws -> (stanzas: [Element], events: [EngineEvent]) {
        var (stanzas, events): ([Element], [EngineEvent]) = ([], [])
        while true {
            switch try QueueSteps(runner: runner, account: account).next(after: writer, isManaged: true) {
            case .nothing, .later: return (stanzas, events)
            case .refused(let effects), .queued(let effects): events += effects.events
            case .transmit(let entries, let effects):
                writer.wrote(entries)
                events += effects.events
                for entry in entries {
                    stanzas.append(try Self.element(entry.stanza))
                    received = received.advanced()
                }
            }
        }
    }

    /// A stanza of the queue.
    package static func element(_ stanza: [UInt8]) throws -> Element {
        try Element.parse(inClient(String(decoding: stanza, as: UTF8.self)))
    }

    /// Adds the namespace, which the stream element declares otherwise.
    package static func inClient(_ stanza: String) -> String {
        guard let end = stanza.firstIndex(where: { " />".contains($0) }) else { return stanza }
        return stanza[..<end] + " xmlns='jabber:client'" + stanza[end...]
    }

    // MARK: From the application

    /// Runs `body` as a step of the application.
    package func run<Result>(_ body: (Step) throws -> Result) throws -> (result: Result, events: [EngineEvent]) {
        var result: Result?
        let events = try runner.run("application", for: account) { result = try body($0) }.events
        guard let result else { throw TestSupportError.noResult }
        return (result, events)
    }

    /// Calls the handlers that are due.
    package func due() throws -> [EngineEvent] {
        var events: [EngineEvent] = []
        while let effects = try steps.expire(.all, until: runner.steadyNow) { events += effects.events }
        while let effects = try steps.due() { events += effects.events }
        return events
    }
}

/// Why a test account cannot continue.
public enum TestSupportError: Error, Sendable {
    /// A step has ended without a result and without an error.
    case noResult
}

import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijText
import KalijUnifiedPush
import KalijWebPush

/// `kalij push unifiedpush`: registers at a distributor on the session bus, and enables push with its endpoint.
struct UnifiedPush {
    private let arguments: Arguments
    private let shared: SharedOptions
    private let file: RegistrationFile

    static let options: [Arguments.Option] = [
        .value("--distributor", "NAME", "register at this distributor, if several are on the session bus"),
        .value("--vapid", "KEY", "the push component's public key, for the push service"),
        .value("--command", "COMMAND", "for each push run this command with a shell, instead of `kalij wake`"),
        .flag("--off", "end the registration at the distributor, and disable push"),
        .flag("--activated", "receive what distributors deliver, and end; the session bus starts this"),
    ]

    init(_ arguments: Arguments, _ shared: SharedOptions) {
        (self.arguments, self.shared) = (arguments, shared)
        file = RegistrationFile(directory: shared.directory.path)
    }

    func run() throws -> ExitStatus {
        let service = arguments.operands.dropFirst().first
        let isAlone = service == nil
        switch (arguments.has("--activated"), arguments.has("--off")) {
        case (true, false) where isAlone: return try serve()
        case (false, true) where isAlone: return try end()
        case (false, false):
            guard let service else { return try printRegistration() }
            return try register(try JID(service))
        default: throw Failure(.usage, "`push unifiedpush` takes a service, --off, or neither")
        }
    }

    private func account() throws -> Account {
        let jid = try arguments.value("--account").map { try JID($0) }
        return try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
    }

    private func bus() throws -> UserBus {
        do throws(BusProblem) { return try UserBus() } catch { throw Failure(.unavailable, "\(error)") }
    }

    // MARK: Registering

    private func register(_ component: JID) throws -> ExitStatus {
        let account = try account()
        if let key = arguments.value("--vapid") {
            guard let point = Base64URL.decode(key), P256Key.isPoint(point) else {
                throw Failure(.badInput, "--vapid is no public key on P-256 in base64url without padding")
            }
        }
        // Refuses what the intent would refuse, before anything is registered.
        try EnablePush(component, node: "-", module: arguments.value("--module")).check()
        let bus = try bus()
        let distributor = try choose(on: bus, for: account)
        let registration = try store(distributor, component, account)
        let service = try service()
        try install(service, on: bus)
        do {
            let status = try PushConnector(shared, bus, file, name: service.name).register(registration, arguments)
            // An account is pushed by one distributor.
            let others = try file.load().filter { $0.account == registration.account && $0.token != registration.token }
            for other in others { try forget(other, on: bus) }
            return status
        } catch {
            // What has never had an endpoint is no registration.
            if try file.load().first(where: { $0.token == registration.token })?.endpoint == nil {
                try forget(registration, on: bus)
            }
            throw error
        }
    }

    /// The distributor that the user names, else that of the present registration, else the only one.
    private func choose(on bus: UserBus, for account: Account) throws -> Distributor {
        let all = try Distributor.all(on: bus)
        if let name = arguments.value("--distributor") {
            guard all.contains(Distributor(name)) else {
                throw Failure(.unavailable, "no distributor \(name) is on the session bus" + Self.list(all))
            }
            return Distributor(name)
        }
        let present = try file.load().filter { $0.account == account.jid.description }.map(\.distributor)
        if let kept = all.first(where: { present.contains($0.name) }) { return kept }
        guard let only = all.first else {
            throw Failure(
                .unavailable, "no UnifiedPush distributor is on the session bus; install one, such as KUnifiedPush")
        }
        guard all.count == 1 else { throw Failure(.usage, "choose with --distributor" + Self.list(all)) }
        return only
    }

    private static func list(_ all: [Distributor]) -> String {
        all.isEmpty ? "" : "; there are " + all.map(\.shortName).joined(separator: ", ")
    }

    /// The registration before the first response. An earlier one at the same distributor keeps its token and keys.
    private func store(
        _ distributor: Distributor, _ component: JID, _ account: Account
    ) throws -> UnifiedPushRegistration {
        let address = account.jid.description
        return try file.change { registrations in
            var registration =
                try registrations.first { $0.account == address && $0.distributor == distributor.name }
                ?? UnifiedPushRegistration(account: address, distributor: distributor, service: component.description)
            registration.service = component.description
            registration.module = arguments.value("--module")
            registration.vapid = arguments.value("--vapid")
            registration.command = arguments.value("--command")
            // The user registers anew: whatever became of push before counts no more.
            registration.isConfirmed = false
            registrations.removeAll { $0.token == registration.token }
            registrations.append(registration)
            return registration
        }
    }

    /// Ends a registration here and at its distributor, and the connector's files with the last one.
    private func forget(_ registration: UnifiedPushRegistration, on bus: UserBus?) throws {
        if let bus {
            try? Distributor(registration.distributor).unregister(
                registration.token, registration.version, on: bus)
        }
        let isLast = try file.change { registrations in
            registrations.removeAll { $0.token == registration.token }
            return registrations.isEmpty
        }
        if isLast { try service().remove() }
    }

    // MARK: The connector's service

    private static let name = "org.kalij.Push"

    private func service() throws -> ConnectorService {
        let path = try Files.absolute(existing: shared.directory.path)
        let isUsual = UserData("kalij").path.flatMap { try? Files.absolute(existing: $0) } == path
        guard let services = UserData("dbus-1/services").path, let configuration = UserSettings.folder else {
            throw Failure(.usage, "HOME is not set: there is no place for the service file of the session bus")
        }
        let program = try Files.absolute(existing: "/proc/self/exe")
        return ConnectorService(
            name: isUsual ? Self.name : ConnectorService.name(Self.name, of: path),
            command: [
                program, "--config", "/dev/null", "--data", path, PushCommand.name, "unifiedpush", "--activated",
            ], services: services, logins: configuration + "/autostart")
    }

    private func install(_ service: ConnectorService, on bus: UserBus) throws {
        do { try service.install() } catch { throw Failure(.badConfiguration, "\(error)") }
        // The bus watches no folder that has not existed at its start.
        guard (try? bus.reload()) != nil, try bus.names().activatable.contains(service.name) else {
            return Output.notice(
                "The session bus does not read \(service.path): pushes arrive only while `kalij push unifiedpush` runs."
            )
        }
    }

    /// Started by the session bus, or by a login.
    private func serve() throws -> ExitStatus {
        guard shared.directory.exists, !(try file.load().isEmpty) else {
            try? service().remove()
            return .nothing
        }
        return try PushConnector(shared, try bus(), file, name: try service().name).serve()
    }

    // MARK: Ending

    private func end() throws -> ExitStatus {
        let account = try account()
        let address = account.jid.description
        let registrations = try file.load().filter { $0.account == address }
        guard !registrations.isEmpty else {
            Output.notice("no distributor delivers pushes of \(address)")
            return .nothing
        }
        let node = try PushRegistration.load(of: account, from: try shared.directory.read())?.node
        var status = ExitStatus.done
        // Push to another node stays.
        if node.map({ node in registrations.contains { $0.isOwn(node: node) } }) ?? true {
            status = try IntentRunner(arguments, shared).run(
                DisablePush(), of: account.jid, waiting: !arguments.has("--queue-only"))
        }
        let bus = try? UserBus()
        if bus == nil { Output.notice("there is no session bus: the distributor keeps its registration") }
        for registration in registrations { try forget(registration, on: bus) }
        return status
    }

    // MARK: Reading

    private func printRegistration() throws -> ExitStatus {
        let account = try account()
        let registration = try file.load().last { $0.account == account.jid.description }
        let bus = try? UserBus()
        let distributors = try bus.map { try Distributor.all(on: $0).map(\.shortName) } ?? []
        let record = UnifiedPushRecord(registration, of: account, distributors)
        Output.line(shared.json ? try JSONLine.of(record) : record.line)
        return registration?.endpoint == nil ? .nothing : .done
    }
}

/// The line of `kalij push unifiedpush`.
private struct UnifiedPushRecord: Encodable {
    let event = "unifiedpush"
    let account: String
    let at = Stamp.of(Clock.system.now())
    /// That delivers pushes; nil if none does.
    let distributor: String?
    let service: String?
    let module: String?
    let command: String?
    /// On the session bus.
    let distributors: [String]

    init(_ registration: UnifiedPushRegistration?, of account: Account, _ distributors: [String]) {
        let used = registration?.endpoint == nil ? nil : registration
        self.account = account.jid.description
        distributor = used.map { Distributor($0.distributor).shortName }
        (service, module, command) = (used?.service, used?.module, used?.command)
        self.distributors = distributors
    }

    private enum CodingKeys: String, CodingKey {
        case event, account, at, distributor, service, module, command, distributors
    }

    var line: PrintedText {
        let present: PrintedText =
            distributor.map { "\($0) delivers pushes of \(service ?? "")" } ?? "no distributor delivers pushes"
        let all = distributors.joined(separator: ", ")
        return present + (distributors.isEmpty ? "; none is on the session bus" : "; on the session bus: \(all)")
    }
}

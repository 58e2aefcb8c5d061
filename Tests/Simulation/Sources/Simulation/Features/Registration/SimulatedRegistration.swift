import FoundationEssentials
import KalijStore
import KalijXML

@testable import KalijCore

extension Violation.Promise {
    /// The account can log in (XEP-0077).
    static let registration = Violation.Promise("registration")
}

/// The account's password, which the client may change (XEP-0077 section 3.3).
final class SimulatedRegistration: SimulatedFeature {
    unowned let server: SimulatedServer
    let announced = ["jabber:iq:register"]
    /// Nil if every password is taken.
    var password: String?

    init(_ server: SimulatedServer) { self.server = server }

    /// Whether the server accepts a login with the mechanism PLAIN.
    func accepts(_ response: String) -> Bool {
        guard let password, let fields = Data(base64Encoded: response)?.split(separator: 0) else { return true }
        return fields.last.map { String(decoding: $0, as: UTF8.self) } == password
    }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard let query = request.child("query", "jabber:iq:register"), let new = query.child("password")?.text else {
            return nil
        }
        // Some passwords are too simple for the server.
        if new.hasSuffix("3") { return .error(condition: "not-acceptable", type: "modify") }
        server.world.counts.passwords += 1
        password = new
        return .result("")
    }

    /// The account is online, and has the server's password.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        guard let password, let account = simulation.account else { return [] }
        guard simulation.main?.isOnline ?? false else {
            return [Violation(.registration, "the account cannot log in; the password is \(password)")]
        }
        let logins = try AccountTable(database).logins(of: account.id)
        var isThere = logins?.stored == .password(password) || logins?.new == .password(password)
        if case .keys(let keys)? = logins?.stored, SimulatedSCRAM.fits(keys, password) { isThere = true }
        return isThere ? [] : [Violation(.registration, "the password is \(password), and is not stored")]
    }
}

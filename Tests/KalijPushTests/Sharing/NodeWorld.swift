import KalijText
import KalijWebPush
import Testing

@testable import KalijPush

/// Nodes, servers, and all that can happen between them, in simulated time. The nodes run the real core with the real
/// merge and the real links; only sockets, disks and clocks are stand-ins.
final class NodeWorld {
    /// What survives a node's process.
    struct Disk {
        var blocks: [HashedKey: BlockChange] = [:]
        var hits: [HashedKey: BlockHit] = [:]
        var known: [HashedKey: Milliseconds] = [:]
        var positions: [String: ReadPosition] = [:]
        var excluded: Set<String> = []
    }

    struct Node {
        let name: String
        var core: PushCore
        var disk = Disk()
        /// How far the clock is wrong.
        var skew: Milliseconds = 0
        var isUp = true
        /// A connection's number; another one after each loss.
        var connections: [Int]
        var isConnected: [Bool]
        var retries: [Milliseconds]
        /// Tokens that this node's provider has called dead.
        var proven: Set<String> = []
        /// Appended to the node's streams.
        var bytes = 0
    }

    struct Message {
        var at: Milliseconds
        var order: Int
        var node: Int
        var server: Int
        var connection: Int
        var content: Content

        enum Content {
            case commands([RedisCommand])
            case reply(RESP)
        }
    }

    var random: Generator
    var now: Milliseconds = 1_760_000_000_000
    var nodes: [Node] = []
    var servers: [SimulatedRedis]
    /// Pairs of node and server that hear nothing of each other.
    var cut: Set<[Int]> = []
    var hung: Set<Int> = []
    var latency: ClosedRange<Milliseconds> = 1...40
    var dead: Set<String> = []
    var violations: [String] = []
    private var messages: [Message] = []
    /// Connections, by node, server and number, that have lost something.
    private var severed: Set<[Int]> = []
    private var order = 0
    private var requests: [String: (node: Int, token: String)] = [:]
    private let settings: Settings
    /// Whether tokens are push services' endpoints, named with the keys of two devices in turn.
    private let hasEndpoints: Bool
    private static let deviceKeys = (0..<2).compactMap { _ in try? P256Key() }
    let secret: ClusterSecret
    /// Of nodes that have others than ``secret`` alone; the first one writes.
    var secrets: [String: [ClusterSecret]] = [:]
    static let step: Milliseconds = 100

    init(nodes count: Int, servers: Int, seed: UInt64, tokens limit: Int = 100_000, endpoints: Bool = false) throws {
        hasEndpoints = endpoints
        random = Generator(seed: seed)
        self.servers = Array(repeating: SimulatedRedis(), count: servers)
        secret = try ClusterSecret([UInt8](repeating: 3, count: 32))
        var settings = try Drill().core.settings
        settings.modules["m"]?.rate.isEnabled = false
        if endpoints { settings.modules["m"]?.provider = .webPush(WebPushSettings(keyPath: "", contact: "")) }
        settings.limits.newTokenFailures = 10_000
        settings.limits.deadTokens = 10_000
        settings.limits.breakerTokens = 10_000
        settings.limits.blockedTokens = limit
        self.settings = settings
        for number in 0..<count { nodes.append(try makeNode("n\(number)", count, Disk())) }
    }

    private func makeNode(_ name: String, _ count: Int, _ disk: Disk, skew: Milliseconds = 0) throws -> Node {
        var settings = settings
        let others = (0..<count).map { "n\($0)" }.filter { $0 != name }
        let servers = servers.indices.map { RedisSettings(host: "r\($0)", port: 1, isSecured: false) }
        settings.nodes = NodesSettings(
            name: name, others: others, secretFile: "", otherSecretFiles: [], longestBlock: 7 * 86_400_000,
            redis: servers, prefix: "kp")
        guard let shared = settings.nodes else { throw Seal.Problem() }
        let secrets = secrets[name] ?? [secret]
        let sharing = try Sharing(
            shared, secrets: secrets, logins: Array(repeating: nil, count: servers.count), seed: random.next(),
            now: now)
        var hashers: [KeyHasher] = []
        for secret in secrets { hashers.append(try KeyHasher(secret: secret.hashing)) }
        var core = PushCore(
            settings: settings, hasher: hashers[0], otherHashers: Array(hashers.dropFirst()), sharing: sharing,
            seed: random.next())
        core.wallClock(isAhead: skew)
        _ = core.nodes(.restored(Array(disk.positions.values), excluded: Array(disk.excluded)), now: now)
        _ = core.restore(
            blocks: Array(disk.blocks.values), hits: Array(disk.hits.values),
            known: disk.known.map { (key: $0.key, at: $0.value) }, now: now)
        return Node(
            name: name, core: core, disk: disk, skew: skew, connections: Array(repeating: 0, count: servers.count),
            isConnected: Array(repeating: false, count: servers.count),
            retries: Array(repeating: now, count: servers.count))
    }

    // MARK: Time

    func run(for time: Milliseconds) {
        let end = now + time
        while now < end {
            now += Self.step
            deliverMessages()
            for index in nodes.indices where nodes[index].isUp { turn(index) }
        }
    }

    private func turn(_ index: Int) {
        for server in servers.indices where !nodes[index].isConnected[server] && nodes[index].retries[server] <= now {
            connect(index, server)
        }
        nodes[index].core.wallClock(isAhead: nodes[index].skew)
        if let next = nodes[index].core.next, next <= now { take(nodes[index].core.tick(now: now), index) }
        for _ in 0..<50 where nodes[index].isUp && nodes[index].core.sharing?.hasEntries == true {
            take(nodes[index].core.nodes(.turn, now: now), index)
        }
        guard (now / Self.step + Milliseconds(index) * 37) % 100 == 0 else { return }
        _ = nodes[index].core.cleanUp(now: now)
    }

    private func connect(_ index: Int, _ server: Int) {
        guard !cut.contains([index, server]), !hung.contains(server) else {
            nodes[index].retries[server] = now + .random(in: 1_000...15_000, using: &random)
            return
        }
        nodes[index].isConnected[server] = true
        take(nodes[index].core.nodes(.connected(server), now: now), index)
    }

    func drop(_ index: Int, _ server: Int) {
        guard nodes[index].isConnected[server] else { return }
        nodes[index].isConnected[server] = false
        nodes[index].connections[server] += 1
        nodes[index].retries[server] = now + .random(in: 1_000...15_000, using: &random)
        take(nodes[index].core.nodes(.disconnected(server), now: now), index)
    }

    // MARK: Messages

    private func send(_ index: Int, _ server: Int, _ connection: Int, _ content: Message.Content, after: Milliseconds) {
        order += 1
        messages.append(
            Message(
                at: after + .random(in: latency, using: &random), order: order, node: index, server: server,
                connection: connection, content: content))
    }

    private func deliverMessages() {
        let due = messages.filter { $0.at <= now }.sorted { ($0.order) < ($1.order) }
        guard !due.isEmpty else { return }
        messages.removeAll { $0.at <= now }
        for message in due {
            let connection = [message.node, message.server, message.connection]
            // What is cut off is lost without a word, and so is everything behind on the same connection: TCP has no holes.
            if cut.contains([message.node, message.server]) || hung.contains(message.server) {
                severed.insert(connection)
            }
            if !severed.contains(connection) { deliver(message) }
        }
    }

    private func deliver(_ message: Message) {
        switch message.content {
        case .commands(let commands):
            for command in commands {
                let reply = servers[message.server].execute(command.words, time: now)
                send(message.node, message.server, message.connection, .reply(reply), after: now)
            }
        case .reply(let reply):
            let node = nodes[message.node]
            guard node.isUp, node.isConnected[message.server], node.connections[message.server] == message.connection
            else { return }
            take(nodes[message.node].core.nodes(.reply(reply, message.server), now: now), message.node)
        }
    }

    // MARK: A node's actions

    /// First the disk, then the world; the process may die in between.
    private func take(_ actions: [CoreAction], _ index: Int) {
        for action in actions { keep(action, index) }
        if isDeadly, !actions.isEmpty, Int.random(in: 0..<2_000, using: &random) == 0 { return kill(index) }
        for action in actions where nodes[index].isUp {
            switch action {
            case .redis(let server, .send(let commands)):
                guard nodes[index].isConnected[server] else { continue }
                nodes[index].bytes += commands.filter { $0.words.first == Array("XADD".utf8) }
                    .reduce(0) { $0 + $1.words.reduce(0) { $0 + $1.count } }
                send(index, server, nodes[index].connections[server], .commands(commands), after: now)
            case .redis(let server, .drop):
                nodes[index].isConnected[server] = false
                nodes[index].connections[server] += 1
                nodes[index].retries[server] = now + .random(in: 1_000...15_000, using: &random)
            case .send(let delivery): ask(delivery, index)
            case .answer(let requester, let answer): answered(requester, answer)
            default: break
            }
        }
    }

    var isDeadly = false

    private func keep(_ action: CoreAction, _ index: Int) {
        switch action {
        case .block(let change):
            nodes[index].disk.blocks[change.key] = change
            nodes[index].disk.hits[change.key] = nil
        case .hit(let hit): nodes[index].disk.hits[hit.key] = hit
        case .know(let key, let at): nodes[index].disk.known[key] = at
        case .position(let position):
            nodes[index].disk.positions[position.server + " " + position.node] = position
        case .exclude(let name, let isForgotten):
            nodes[index].disk.positions = nodes[index].disk.positions.filter { $0.value.node != name }
            nodes[index].disk.blocks = nodes[index].disk.blocks.filter { $0.value.origin != name }
            if !isForgotten { nodes[index].disk.excluded.insert(name) }
        default: break
        }
    }

    private func ask(_ delivery: Delivery, _ index: Int) {
        let token = name(of: delivery.token)
        let isDead = dead.contains(token)
        if isDead { nodes[index].proven.insert(token) }
        take(nodes[index].core.deliver(isDead ? .dead : .delivered, of: delivery.id, now: now), index)
    }

    private func answered(_ requester: Requester, _ answer: Answer) {
        guard answer == .dead, let request = requests[requester.id] else { return }
        if !nodes[request.node].proven.contains(request.token) {
            violations.append("\(nodes[request.node].name) answered cancel for hearsay about \(request.token)")
        }
    }

    // MARK: What happens

    func publish(_ token: String, at index: Int) {
        guard nodes[index].isUp else { return }
        order += 1
        requests["\(order)"] = (index, token)
        let requester = Requester(id: "\(order)", from: "example.org", to: "p")
        nodes[index].core.wallClock(isAhead: nodes[index].skew)
        take(
            nodes[index].core.publish(
                Publish(requester: requester, domain: "example.org", token: node(of: token, publish: order)), now: now),
            index)
    }

    func kill(_ index: Int) { nodes[index].isUp = false }

    func start(_ index: Int, disk: Disk? = nil) throws {
        guard !nodes[index].isUp else { return }
        let old = nodes[index]
        nodes[index] = try makeNode(old.name, nodes.count, disk ?? old.disk, skew: old.skew)
        nodes[index].connections = old.connections.map { $0 + 1 }
        nodes[index].proven = old.proven
        nodes[index].bytes = old.bytes
    }

    // MARK: Judging

    /// A node's shared records, in one order.
    func records(_ index: Int) -> [String] {
        let blocks = nodes[index].core.blocks
        return (blocks.tokens.records(now: blocks.wall(now)) + blocks.domains.records(now: blocks.wall(now)))
            .map { "\($0.key.high) \($0.version) \($0.expires) \($0.reason) \($0.origin)" }.sorted()
    }

    var areEqual: Bool {
        let first = records(0)
        return nodes.indices.dropFirst().allSatisfy { records($0) == first }
    }

    // MARK: A node that does not keep to the rules

    /// Writes an entry into a node's stream, sealed as the node would, whatever is in it.
    func forge(
        as name: String, _ records: [BlockChange], id: UInt64? = nil, previous: UInt64 = 0, isFirst: Bool = false
    ) throws {
        guard let settings = nodes[0].core.settings.nodes else { return }
        let stream = settings.stream(name)
        let keys = try ClusterKeys([secret], streams: [stream], longest: settings.longestBlock)
        for start in stride(from: 0, to: max(1, records.count), by: SharedEntry.maxRecords) {
            let last = servers[0].streams[stream]?.last?.high ?? 0
            let number = id ?? max(last + 1, UInt64(now))
            let entry = SharedEntry(
                isFirst: isFirst, previous: previous == 0 ? last : previous,
                records: Array(records[start..<min(start + SharedEntry.maxRecords, records.count)]))
            guard let value = keys.seal(entry.bytes, stream: stream, id: number) else { return }
            _ = servers[0].execute(
                ["XADD", stream, EntryID.text(number), "e"].map { Array($0.utf8) } + [value], time: now)
        }
    }

    /// A block that a node may invent.
    func block(_ token: String, age: Milliseconds = 0, for time: Milliseconds = 86_400_000) -> BlockChange {
        BlockChange(
            key: key(token), version: BlockChange.version(at: now - age), expires: now - age + time, reason: .dead)
    }

    func key(_ token: String) -> HashedKey {
        let subject = hasEndpoints ? endpoint(of: token) : token
        return nodes[0].core.keyring.present.key(token: subject, module: "m")
    }

    // MARK: Endpoints

    private func endpoint(of token: String) -> String { "https://push.example.net/\(token)" }

    /// The node of a publish.
    private func node(of token: String, publish number: Int) -> String {
        guard hasEndpoints else { return token }
        let key = Self.deviceKeys[number % Self.deviceKeys.count]
        let secret = Base64URL.encode([UInt8](repeating: UInt8(number % 2), count: 16))
        return endpoint(of: token) + "#p256dh=\(Base64URL.encode(key.publicKey));auth=\(secret)"
    }

    private func name(of token: String) -> String {
        guard hasEndpoints else { return token }
        return String(token.split(separator: "#")[0].split(separator: "/").last ?? "")
    }
}

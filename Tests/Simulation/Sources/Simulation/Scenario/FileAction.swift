import KalijAddress

@testable import KalijCore
@testable import KalijClient
@testable import KalijFeatures

/// The user shares a file; the process that accepts the file dies after so many operations on the disk.
struct FileAction {
    let number: Int
    let size: Int64
    let operations: Int?

    /// In a quarter of the plans, near faults and at any other time.
    static func all(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] {
        guard seed % 4 == 2 else { return [] }
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var random = Seeded(seed &* 0xD6E8_FEB8_6659_FD93 &+ 11)
        let faults = actions.filter(\.kind.isFault).map(\.time)
        return (0..<random.pick(2...8)).map { number in
            let isNear = !faults.isEmpty && random.chance(70)
            let time =
                isNear
                ? max(0, faults[random.pick(0...faults.count - 1)] - random.pick(0...2_000_000))
                : random.pick(0...length)
            let sizes = random.pick(weighted: [(4, 1...16_384), (4, 16_385...200_000), (1, 200_001...2_000_000)])
            let file = FileAction(
                number: number, size: Int64(random.pick(sizes)),
                operations: random.chance(10) ? random.pick(1...30) : nil)
            return Plan.Action(time: time, kind: .file(file))
        }
    }
}

extension Simulation {
    func perform(_ file: FileAction) {
        guard let jid = try? JID(Self.contacts[file.number % 2]).bare else { return }
        let id = "file-\(file.number)"
        let description = FileDescription(
            name: id, type: "application/octet-stream", size: file.size, sha256: [UInt8](repeating: 7, count: 32))
        let intent = SendFile(to: jid, file: "\(id)-\(file.size)", description, text: nil, textID: nil, privacy: .plain)
        guard share(intent, id, file.operations) else { return }
        world.trace("   \(id) is accepted")
        record.files.insert(id)
        if server.hasShownPage { record.acceptedLate.insert(id) }
    }
}

/// The files of the upload service: what the PUTs have brought, and what HEAD says of it.
final class SimulatedHTTP {
    let world: World
    /// Whether a HEAD in the middle of a PUT is answered with the length so far, and a torso stays after a restart (ejabberd).
    let showsTorsos: Bool
    /// From now on nothing goes wrong any more.
    var isCalm = false
    private(set) var slots: [String: Slot] = [:]

    struct Slot {
        let file: String
        let size: Int64
        var bytes: Int64 = 0
        var isWhole: Bool { bytes == size }
        /// How often a HEAD was answered with something else than the whole file.
        var misses = 0
    }

    init(_ world: World, showsTorsos: Bool) { (self.world, self.showsTorsos) = (world, showsTorsos) }

    func add(_ path: String, file: String, size: Int64) { slots[path] = Slot(file: file, size: size) }

    func slots(of file: String) -> [Slot] { slots.values.filter { $0.file == file } }

    /// Bytes of a PUT have come.
    func arrived(_ path: String, through bytes: Int64) {
        guard let slot = slots[path] else { return }
        slots[path]?.bytes = max(slot.bytes, min(bytes, slot.size))
        if bytes >= slot.size { world.trace("   HTTP: \(slot.file) is whole") }
    }

    /// The connection of a PUT has ended in the middle.
    func cut(_ path: String) {
        guard let slot = slots[path], !slot.isWhole else { return }
        slots[path]?.bytes = showsTorsos && world.random.chance(50) ? slot.bytes : 0
    }

    /// The status of a HEAD, and the length.
    func head(_ path: String) -> (status: Int, length: Int64) {
        guard let slot = slots[path] else { return (404, 0) }
        // Now and then a server does not know yet what it has.
        if slot.isWhole, isCalm || !world.random.chance(10) { return (200, slot.size) }
        slots[path]?.misses += 1
        return showsTorsos && !slot.isWhole && slot.bytes > 0 ? (200, slot.bytes) : (404, 0)
    }
}

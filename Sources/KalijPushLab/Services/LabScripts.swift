/// The replies of a stand-in to requests for devices, as tests script them; and the number of requests.
struct LabScripts {
    private var replies: [String: [LabReply]] = [:]
    private var counts: [String: Int] = [:]
    /// The reply for a device without a script; nil for success.
    var standard: LabReply?

    /// Sets the replies to the next requests for a device.
    mutating func set(_ replies: [LabReply], for device: String) { self.replies[device] = replies }

    /// Requests for a device so far.
    func requests(for device: String) -> Int { counts[device] ?? 0 }

    /// Counts a request for a device.
    /// - Returns: the scripted reply; nil for success.
    mutating func reply(for device: String) -> LabReply? {
        counts[device, default: 0] += 1
        guard var script = replies[device], !script.isEmpty else { return standard }
        let reply = script.removeFirst()
        replies[device] = script
        return reply
    }
}

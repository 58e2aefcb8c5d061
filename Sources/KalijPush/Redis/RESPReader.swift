import CHiredis

/// Reads replies of Redis from a stream of bytes; hiredis takes the bytes apart.
///
/// Used by a single thread.
final class RESPReader {
    /// The bytes are no replies, or a reply is too large.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    /// The largest reply: requested replies are smaller.
    private static let limit = 2 << 20
    /// The largest number of values in a reply.
    private static let values = KALIJ_REDIS_VALUES

    // Owned: freed in deinit.
    private let reader: UnsafeMutablePointer<redisReader>
    // Owned: outlives the reader, and is freed in deinit.
    private let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    private var unread = 0

    /// - Throws: ``Problem`` if there is no memory.
    init() throws(Problem) {
        guard let reader = kalij_redis_reader(functions) else {
            functions.deallocate()
            throw Problem(description: "no memory")
        }
        self.reader = reader
    }

    deinit {
        redisReaderFree(reader)
        functions.deallocate()
    }

    /// Feeds bytes, and passes on each complete reply.
    /// - Throws: ``Problem``; the reader is unusable afterwards.
    func feed(_ bytes: UnsafeRawBufferPointer, _ body: (RESP) -> Void) throws(Problem) {
        guard let start = bytes.baseAddress else { return }
        unread += bytes.count
        guard unread <= Self.limit else { throw Problem(description: "a reply has more than \(Self.limit) bytes") }
        redisReaderFeed(reader, start.assumingMemoryBound(to: CChar.self), bytes.count)
        while true {
            var object: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &object) == REDIS_OK else { throw Problem(description: problem) }
            guard let object else { return }
            defer { freeReplyObject(object) }
            // What is left may be the beginning of the next reply.
            unread = reader.pointee.len - reader.pointee.pos
            var room = Int(Self.values)
            let reply = Self.reply(object.assumingMemoryBound(to: redisReply.self), &room)
            guard room > 0 else { throw Problem(description: "a reply has more than \(Self.values) values") }
            body(reply)
        }
    }

    private var problem: String {
        withUnsafeBytes(of: reader.pointee.errstr) { bytes in
            "no reply of Redis: \(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))"
        }
    }

    private static func reply(_ object: UnsafePointer<redisReply>, _ room: inout Int) -> RESP {
        room -= 1
        let reply = object.pointee
        switch reply.type {
        case REDIS_REPLY_STRING: return .text(bytes(reply))
        case REDIS_REPLY_STATUS: return .status(String(decoding: bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: return .error(String(decoding: bytes(reply), as: UTF8.self))
        case REDIS_REPLY_INTEGER: return .integer(reply.integer)
        case REDIS_REPLY_ARRAY:
            var elements: [RESP] = []
            for index in 0..<Int(reply.elements) {
                guard room > 0, let element = reply.element[index] else { break }
                elements.append(Self.reply(element, &room))
            }
            return .array(elements)
        default: return .null
        }
    }

    private static func bytes(_ reply: redisReply) -> [UInt8] {
        guard let start = reply.str else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(reply.len)))
    }
}

extension RedisCommand {
    /// The bytes for Redis; hiredis puts them together. Nil if there is no memory.
    var bytes: [UInt8]? {
        var flat: [UInt8] = []
        for word in words { flat += word }
        var target: UnsafeMutablePointer<CChar>?
        let lengths = words.map(\.count)
        let count = flat.withUnsafeBufferPointer { flat -> Int32 in
            // The pointers are used within this call alone.
            var start = flat.baseAddress
            var pointers: [UnsafePointer<CChar>?] = []
            for length in lengths {
                pointers.append(start.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) })
                start = start?.advanced(by: length)
            }
            return redisFormatCommandArgv(&target, Int32(clamping: pointers.count), &pointers, lengths)
        }
        guard count > 0, let target else { return nil }
        defer { redisFreeCommand(target) }
        return Array(UnsafeRawBufferPointer(start: target, count: Int(count)))
    }
}

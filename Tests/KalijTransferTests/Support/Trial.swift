import Foundation
import KalijTransport
import TestSupport

@testable import KalijTransfer

/// A transfer with its events, in a loop of its own that ends.
final class Trial {
    let loop: EventLoop
    let transport: CurlTransport
    private(set) var transfer: (any Transfer)?
    private(set) var heads: [ResponseHead] = []
    private(set) var bytes: [UInt8] = []
    private(set) var progress: [Int64] = []
    private(set) var seals = 0
    private(set) var ends: [TransferEnd] = []
    /// Whether the received bytes are the server's file: the difference of two long arrays, which `#expect` makes, has no end.
    func isPattern(_ size: Int, from: Int = 0) -> Bool { bytes == pattern(size, from: from) }

    /// Called with each event, after storing; by default lets the last block go.
    var onEvent: (Trial, TransferEvent) -> Void = { trial, event in
        if case .seal = event { trial.transfer?.releaseLastBlock() }
    }

    init(addresses: [String] = []) throws {
        loop = try EventLoop()
        transport = CurlTransport(loop: loop, addresses: addresses)
    }

    func start(_ request: TransferRequest, body: (any UploadBody)? = nil) {
        transfer = transport.start(request, body: body) { [weak self] event in
            guard let self else { return }
            keep(event)
            onEvent(self, event)
        }
    }

    /// Runs a transfer to its end; nil if the end does not come.
    func run(_ request: TransferRequest, body: (any UploadBody)? = nil) -> TransferEnd? {
        start(request, body: body)
        wait { !self.ends.isEmpty }
        return ends.first
    }

    /// Turns the loop until a condition holds; false if it hangs.
    @discardableResult
    func wait(until condition: @escaping () -> Bool) -> Bool {
        turn(for: hangLimit, or: condition)
        return condition()
    }

    /// Turns the loop for a while, to see that nothing happens, or until a condition holds.
    func turn(for seconds: Double, or condition: @escaping () -> Bool = { false }) {
        let end = loop.now + seconds
        func check() {
            if condition() || loop.now >= end { return loop.stop() }
            loop.schedule(after: 0.005) { check() }
        }
        check()
        loop.run()
    }

    private func keep(_ event: TransferEvent) {
        switch event {
        case .progress(let count): progress.append(count)
        case .seal: seals += 1
        case .head(let head): heads.append(head)
        case .bytes(let more): bytes += more
        case .ended(let end): ends.append(end)
        }
    }
}

extension TransferEnd {
    var failure: TransferFailure? {
        guard case .failed(let failure) = self else { return nil }
        return failure
    }

    var status: Int? {
        guard case .finished(let status, _, _) = self else { return nil }
        return status
    }
}

/// Each 4 bytes are a number, as in the server's files.
func pattern(_ count: Int, from offset: Int = 0) -> [UInt8] {
    let numbers = (UInt32(offset / 4)..<UInt32((offset + count + 3) / 4)).map(\.bigEndian)
    return numbers.withUnsafeBytes { Array($0.dropFirst(offset % 4).prefix(count)) }
}

/// A body in memory. May fail, or end too early.
final class Bytes: UploadBody {
    struct Unreadable: Error {}

    let length: Int64
    private let bytes: [UInt8]
    private let failsAt: Int
    private let portion: Int
    private(set) var position = 0

    init(_ bytes: [UInt8], length: Int? = nil, failsAt: Int = .max, portion: Int = .max) {
        self.bytes = bytes
        self.length = Int64(length ?? bytes.count)
        self.failsAt = failsAt
        self.portion = portion
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if position >= failsAt { throw Unreadable() }
        let count = min(buffer.count, bytes.count - position, portion)
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
        }
        position += count
        return count
    }
}

import Testing

@testable import KalijRatchet

/// Both sides of the vectors' conversations: with the same random numbers, the same bytes leave and the same messages
/// are read.
@Suite struct TranscriptTests {
    @Test("conversations byte by byte", arguments: 0..<10)
    func transcripts(_ index: Int) throws {
        let transcript = Vectors.all.transcripts[index]
        var parties = ["a": try Party(initiating: transcript), "b": try Party(responding: transcript)]
        var sent: [Vectors.Transcript.Step] = []
        for step in transcript.steps {
            let place = "\(transcript.dialect) \(transcript.name), step \(step.do) \(step.i) of \(step.by)"
            guard var party = parties[step.by] else { throw RatchetError.malformed(place) }
            parties[step.by] = nil
            if step.do == "send" {
                let (bytes, isExchange) = try party.send(step)
                #expect(bytes == (step.kex ?? step.message)?.bytes, "\(place)")
                #expect(isExchange == (step.kex != nil), "\(place)")
                sent.append(step)
            } else {
                try party.receive(step, sent[step.i], place)
            }
            // A session that comes from a row goes on in the same way.
            if let session = party.session { party.session = try Session(stored: session.stored) }
            parties[step.by] = party
        }
    }
}

private struct Party {
    let dialect: OMEMOVersion
    let identity: Identity
    var session: Session?
    private var signedPrekey: Secret?
    private var prekey: Secret?
    private var kept: [Session.SkippedKey.Name: Secret] = [:]
    /// The libraries draw the next ratchet key on receiving, we on sending.
    private var drawn: [[UInt8]] = []

    init(initiating transcript: Vectors.Transcript) throws {
        dialect = OMEMOVersion(transcript.dialect)
        identity = try Identity(seed: Secret(transcript.a.seed.bytes))
        let b = transcript.b
        let bundle = try Bundle(
            dialect, identity: b.ik.bytes, signedPrekey: (b.spkId, b.spk.bytes), signature: b.spkSignature.bytes,
            prekey: (b.pkId, b.pk.bytes))
        let first = transcript.steps.first { $0.by == "a" }?.drew?.first?.bytes ?? []
        session = try Session.begin(identity, bundle, dialect, .given([transcript.a.ekPriv.bytes, first]))
    }

    init(responding transcript: Vectors.Transcript) throws {
        dialect = OMEMOVersion(transcript.dialect)
        identity = try Identity(seed: Secret(transcript.b.seed.bytes))
        (signedPrekey, prekey) = (Secret(transcript.b.spkPriv.bytes), Secret(transcript.b.pkPriv.bytes))
    }

    mutating func send(_ step: Vectors.Transcript.Step) throws -> (bytes: [UInt8], isExchange: Bool) {
        guard var session else { throw RatchetError.keyGone }
        // The initiator's first key was drawn with the session.
        drawn += session.sent == 0 && session.isInitiator && !session.isAnswered ? [] : step.drew?.map(\.bytes) ?? []
        defer { self.session = session }
        let given = Randomness.given(drawn)
        if session.sending == nil { drawn.removeFirst() }
        return try session.seal(Secret(step.plaintext?.bytes ?? []), given)
    }

    mutating func receive(_ step: Vectors.Transcript.Step, _ sent: Vectors.Transcript.Step, _ place: String) throws {
        var bytes = (sent.kex ?? sent.message)?.bytes ?? []
        if let flip = step.flip {
            // The mask is for the message; in an exchange the message is found by its bytes.
            let message = sent.message?.bytes ?? []
            let offset = sent.kex == nil ? 0 : bytes.indices.first { bytes[$0...].starts(with: message) } ?? 0
            bytes[offset + flip[0]] ^= UInt8(flip[1])
        }
        do {
            let opened = try open(bytes, isExchange: sent.kex != nil)
            #expect(step.result == "ok", "\(place) was read")
            #expect(opened.content.exported == sent.plaintext?.bytes, "\(place)")
            session = opened.session
            if let used = opened.used { kept[used] = nil }
            for key in opened.skipped { kept[key.name] = key.messageKey }
            drawn += step.drew?.map(\.bytes) ?? []
        } catch let error as RatchetError {
            #expect(step.result != "ok", "\(place): \(error)")
        }
    }

    private func open(_ bytes: [UInt8], isExchange: Bool) throws -> Session.Opened {
        guard isExchange else {
            guard let session else { throw RatchetError.keyGone }
            return try session.open(RatchetMessage(bytes, dialect)) { kept[$0] }
        }
        let exchange = try KeyExchange(bytes, dialect)
        let known = session.flatMap { $0.isOf(exchange) ? $0 : nil }
        let session =
            try known
            ?? Session.accept(
                exchange, identity, signedPrekey: KeyPair(secret: signedPrekey ?? Secret([])),
                prekey: prekey ?? Secret([]), dialect)
        return try session.open(exchange.message) { kept[$0] }
    }
}

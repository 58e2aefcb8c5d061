import KalijStream

/// How a server lets clients in: drawn for each seed, where real servers of the same kind differ by their configuration.
struct LoginProfile: Sendable {
    /// The answer to a letter, a step that leaves before the server asks for the step.
    enum Reaction: Sendable, CaseIterable {
        /// The stream ends with an error.
        case ended
        /// `<failure/>`, where the letter is a login or `<starttls/>`; else the stream ends.
        case refused
        /// Nothing, for ever; what comes with `<response/>` is thrown away.
        case ignored
    }

    /// The offer changes for a while.
    struct Edit: Sendable {
        enum Kind: Sendable, CaseIterable {
            case withoutFAST, withoutInlineResume, withoutBind, withMore
            /// A man in the middle, with a valid certificate, takes something away.
            case plainAlone, withoutSASL2, withoutBinding
        }

        let kind: Kind
        /// In microseconds.
        let time: ClosedRange<Int64>
    }

    /// Whether TLS begins within the stream.
    var startsTLS = false
    /// Whether PLAIN alone is offered.
    var isPlain = false
    /// Whether there is SASL2 with Bind 2, where the server can.
    var isOneFlight = true
    /// Whether there are tokens, where there is SASL2.
    var hasTokens = true
    /// The letters that are not taken.
    var letters: [EarlyStep: Reaction] = [:]
    var edits: [Edit] = []
    /// How long a token lives, in seconds.
    var tokenLife: Int64 = 21 * 24 * 3600
    /// Whether a restart makes the server forget all tokens.
    var forgetsTokens = false
    /// Whether a new token ends the token before at once, not only when the new one has worked.
    var rotatesAtOnce = false
    /// How many logins in a hundred with a good token are refused.
    var refusedTokens = 0
}

extension LoginProfile {
    /// Drawn from a generator of its own, so that the rest of a plan stays the same.
    init(seed: UInt64) {
        var random = Seeded(seed &* 0xD6E8_FEB8_6659_FD93 &+ 11)
        startsTLS = random.chance(30)
        isPlain = random.chance(8)
        isOneFlight = random.chance(80)
        hasTokens = random.chance(80)
        if random.chance(45) {
            for _ in 0..<random.pick(1...3) {
                let letter = EarlyStep.allCases[random.pick(0...EarlyStep.allCases.count - 1)]
                letters[letter] = Reaction.allCases[random.pick(0...Reaction.allCases.count - 1)]
            }
        }
        if random.chance(35) {
            for _ in 0..<random.pick(1...3) {
                let begin = random.pick(0...40_000_000 as ClosedRange<Int64>)
                let kind = Edit.Kind.allCases[random.pick(0...Edit.Kind.allCases.count - 1)]
                edits.append(Edit(kind: kind, time: begin...begin + random.pick(1_000_000...12_000_000)))
            }
        }
        if random.chance(25) { tokenLife = random.pick(5...60) }
        forgetsTokens = random.chance(40)
        rotatesAtOnce = random.chance(20)
        if random.chance(20) { refusedTokens = random.pick(5...60) }
    }
}

import COpenSSL

/// The map between the two forms of a public key of Curve25519 (RFC 7748 section 4.1): u = (1 + y)/(1 − y), and
/// y = (u − 1)/(u + 1), modulo p = 2²⁵⁵ − 19. Only public keys are mapped, so the time need not be constant.
enum CurveConversion {
    /// The u of an Ed25519 public key; the sign, the top bit, does not matter.
    /// - Throws: `RatchetError.badKey` if y is not below p, or has no u.
    static func montgomery(_ edwards: [UInt8]) throws -> [UInt8] {
        guard edwards.count == 32 else { throw RatchetError.badKey }
        var y = edwards
        y[31] &= 0x7f
        return try quotient(y) { field in
            (try field.sum(field.one, field.value), try field.difference(field.one, field.value))
        }
    }

    /// The y of an X25519 public key, with the sign 0.
    /// - Throws: `RatchetError.badKey` if u is not below p, or has no y.
    static func edwards(_ montgomery: [UInt8]) throws -> [UInt8] {
        try quotient(montgomery) { field in
            (try field.difference(field.value, field.one), try field.sum(field.value, field.one))
        }
    }

    /// Whether the bytes, little-endian, are below p.
    static func isCanonical(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 32, bytes[31] <= 0x7f else { return false }
        let isHigh = bytes[31] == 0x7f && bytes[1..<31].allSatisfy { $0 == 0xff }
        return !isHigh || bytes[0] < 0xed
    }

    private static func quotient(
        _ bytes: [UInt8], _ fraction: (Field) throws -> (over: OpaquePointer, under: OpaquePointer)
    ) throws -> [UInt8] {
        guard isCanonical(bytes) else { throw RatchetError.badKey }
        let field = try Field(bytes)
        let (over, under) = try fraction(field)
        guard BN_is_zero(under) == 0 else { throw RatchetError.badKey }
        return try field.bytes(field.quotient(over, under))
    }

    /// Numbers modulo p, for one calculation.
    private final class Field {
        private let context: OpaquePointer
        private let p: OpaquePointer
        let one: OpaquePointer
        let value: OpaquePointer

        init(_ bytes: [UInt8]) throws {
            let context = try check(BN_CTX_new(), "BN_CTX_new")
            BN_CTX_start(context)
            do {
                (p, one, value) = try Self.constants(bytes, context)
            } catch {
                BN_CTX_end(context)
                BN_CTX_free(context)
                throw error
            }
            self.context = context
        }

        private static func constants(
            _ bytes: [UInt8], _ context: OpaquePointer
        ) throws -> (p: OpaquePointer, one: OpaquePointer, value: OpaquePointer) {
            let numbers = try (0..<3).map { _ in try check(BN_CTX_get(context), "BN_CTX_get") }
            let (p, one, value) = (numbers[0], numbers[1], numbers[2])
            // 2²⁵⁵ − 19
            try check(BN_set_bit(p, 255), "BN_set_bit")
            try check(BN_sub_word(p, 19), "BN_sub_word")
            try check(BN_set_word(one, 1), "BN_set_word")
            _ = try check(BN_lebin2bn(bytes, 32, value), "BN_lebin2bn")
            return (p, one, value)
        }

        deinit {
            BN_CTX_end(context)
            BN_CTX_free(context)
        }

        private func number() throws -> OpaquePointer { try check(BN_CTX_get(context), "BN_CTX_get") }

        func sum(_ left: OpaquePointer, _ right: OpaquePointer) throws -> OpaquePointer {
            let sum = try number()
            try check(BN_mod_add(sum, left, right, p, context), "BN_mod_add")
            return sum
        }

        func difference(_ left: OpaquePointer, _ right: OpaquePointer) throws -> OpaquePointer {
            let difference = try number()
            try check(BN_mod_sub(difference, left, right, p, context), "BN_mod_sub")
            return difference
        }

        func quotient(_ over: OpaquePointer, _ under: OpaquePointer) throws -> OpaquePointer {
            let inverse = try number()
            _ = try check(BN_mod_inverse(inverse, under, p, context), "BN_mod_inverse")
            try check(BN_mod_mul(inverse, over, inverse, p, context), "BN_mod_mul")
            return inverse
        }

        func bytes(_ number: OpaquePointer) throws -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 32)
            guard BN_bn2lebinpad(number, &bytes, 32) == 32 else { throw RatchetError.library("BN_bn2lebinpad") }
            return bytes
        }
    }
}

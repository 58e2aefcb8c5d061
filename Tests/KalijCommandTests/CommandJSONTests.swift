import Foundation
import TestSupport
import Testing

@testable import kalij

/// "`id` any JSON value and returned with errors".
@Suite struct CommandJSONTests {
    private func given(_ text: String) throws -> String {
        try JSONLine.of(JSONDecoder().decode(CommandJSON.self, from: Data(text.utf8))).description
    }

    @Test(
        "a value comes back as it was given",
        arguments: [
            "null", "true", "false", "0", "7", "-7", "9223372036854775807", "-9223372036854775808",
            "18446744073709551615", "12345678901234567890123", "0.1", "-2.5", "0.12345678901234567890123", "\"\"",
            "\"a/b \\\" é\"", "[]", "{}", #"[1,"a",null,{"b":[true,{}]}]"#, "\"1\"", "\"null\"",
        ])
    func same(_ text: String) throws { #expect(try given(text) == text) }

    @Test("a number has another form at most, never another value") func numbers() throws {
        for text in ["1.0", "1e2", "1E-3", "1e300", "-1.5e-300"] {
            #expect(Double(try given(text)) == Double(text), "\(text)")
        }
        #expect(throws: DecodingError.self) { try given("1e999") }
    }

    @Test("a deep value is refused, and ends no process") func deep() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try given(nested(32)) == nested(32))
        for depth in [40, 500, 100_000] { #expect(throws: DecodingError.self) { try given(nested(depth)) } }
        let many = "[" + Array(repeating: nested(30), count: 300).joined(separator: ",") + "]"
        #expect(try given(many) == many)
    }

    @Test("a value of many values is refused before it takes more time than reading takes") func many() throws {
        let deep = String(repeating: "[", count: 30) + String(repeating: "]", count: 30)
        let wide = "[" + Array(repeating: deep, count: 16_000).joined(separator: ",") + "]"
        let data = Data(wide.utf8)
        let reading = ThreadCost.least(of: 2) { #expect((try? JSONSerialization.jsonObject(with: data)) != nil) }
        let refusing = ThreadCost.least(of: 2) {
            #expect(throws: DecodingError.self) { try CommandJSON.decoder().decode(CommandJSON.self, from: data) }
        }
        print("refused in \(refusing) s; JSONSerialization reads the same in \(reading) s")
        #expect(refusing < 4 * reading)
        let most = "[" + Array(repeating: "1", count: 999).joined(separator: ",") + "]"
        #expect(try CommandJSON.decoder().decode(CommandJSON.self, from: Data(most.utf8)) != .null)
    }
}

/// The fuzz targets. The corpus and the past findings of a target are in folders of its name.
public enum FuzzTarget: String, CaseIterable, Sendable {
    case parser
    case queryCompiler = "query-compiler"
    case queryEvaluation = "query-evaluation"
    case forms
    case writing
    case ratchet
    case texts
    case arriving

    /// Runs an input.
    ///
    /// - Throws: ``Finding`` if a rule does not hold.
    public func run(_ input: UnsafeRawBufferPointer) throws {
        switch self {
        case .parser: try fuzzParser(input)
        case .queryCompiler: try fuzzQueryCompiler(input)
        case .queryEvaluation: try fuzzQueryEvaluation(input)
        case .forms: try fuzzForms(input)
        case .writing: try fuzzWriting(input)
        case .ratchet: try fuzzRatchet(input)
        case .texts: try fuzzTexts(input)
        case .arriving: try fuzzArriving(input)
        }
    }
}

/// A finding: a rule for every input does not hold for this input.
public struct Finding: Error, CustomStringConvertible {
    public var description: String
}

/// - Throws: ``Finding`` with `problem` if the condition does not hold.
func require(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
    if !condition { throw Finding(description: problem()) }
}

import Testing

/// What a value answers, which changes it: the macro takes no such call.
func same<Answer: Equatable>(
    _ answer: Answer, _ wanted: Answer, _ comment: Comment? = nil, at place: SourceLocation = #_sourceLocation
) { #expect(answer == wanted, comment, sourceLocation: place) }

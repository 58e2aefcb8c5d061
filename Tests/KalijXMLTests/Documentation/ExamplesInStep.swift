import Foundation
import Testing

/// "Every example compiled by a test."
@Suite struct ExamplesInStepTests {
    @Test("the tests of the documentation's examples equal the output of Scripts/documentation-examples")
    func inStep() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Repository.root + "/Scripts/documentation-examples", "--check"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}

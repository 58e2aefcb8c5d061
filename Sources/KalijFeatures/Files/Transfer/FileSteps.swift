import KalijCore

/// The steps for files of an account.
struct FileSteps {
    let runner: StepRunner
    let account: Account

    var uploads: UploadRows { UploadRows(database: runner.database, account: account.id) }
    var attachments: ReceivedFileRows { ReceivedFileRows(database: runner.database) }

    func upload(_ body: (Uploads) throws -> Void) throws -> Step.Effects {
        try runner.run("upload", for: account) { try body(Uploads(step: $0)) }
    }

    func download(_ body: (ReceivedFiles) throws -> Void) throws -> Step.Effects {
        try runner.run("download", for: account) { try body(ReceivedFiles(step: $0)) }
    }

    /// The last block is about to be sent: this is on the disk when the function returns.
    /// - Returns: nil if the upload was cancelled in the meantime.
    func seal(_ id: Int64) throws -> Step.Effects? {
        guard try uploads.row(id)?.plan.stage == .putting else { return nil }
        let effects = try upload { try $0.handle(.seal, id) }
        try runner.raiseBarrier()
        return effects
    }
}

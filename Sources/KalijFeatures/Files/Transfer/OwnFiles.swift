import KalijCore
import KalijFiles
import KalijStore

/// Gives uploaded files their names below `in/ACCOUNT`, where they remain until their messages are erased: an own picture is displayed
/// from the file that was sent.
struct OwnFiles {
    let steps: FileSteps
    let folders: FileFolders

    private static let batchSize: Int64 = 100

    /// Links the files by hard links, and commits their names. A file that cannot be linked now, because the disk is full, keeps its first
    /// name until the next check.
    /// - Returns: the effects of the step; nil if there was none.
    func link() throws -> Step.Effects? {
        let account = steps.account.id
        let files = try steps.attachments.unnamed(of: account, limit: Self.batchSize)
        guard !files.isEmpty, (try? folders.makeReceived(account)) != nil else { return nil }
        var links: [(file: ReceivedFileRows.OwnFile, name: String?)] = []
        for file in files {
            let name = try steps.attachments.row(of: file.message)?.suggestedName ?? ""
            do {
                // A killed process leaves a link without a row, which the next careful driver removes.
                let path = try UniqueFilename.link(
                    "\(folders.root)/\(file.name)", named: name, in: folders.received(account))
                links.append((file, String(path.dropFirst(folders.root.count + 1))))
            } catch  where error.code != .diskFull { links.append((file, nil)) } catch {}
        }
        guard !links.isEmpty else { return nil }
        return try steps.download { received in
            for (file, name) in links { try received.linked(file, as: name) }
        }
    }
}

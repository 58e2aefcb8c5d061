/// What a screen reader is notified of while a conversation is open, because the focus is elsewhere.
extension Page {
    /// The changes of the user's own messages since `page` was displayed, and the devices that are new since, each in words and once.
    public func changes(since page: Page) -> [String] {
        let former = Dictionary(page.messages.map { ($0.id, $0) }) { $1 }
        var changes: [String] = []
        for message in messages where message.isOwn {
            guard let words = former[message.id].flatMap(message.change(since:)), !changes.contains(words) else {
                continue
            }
            changes.append(words)
        }
        let end = page.messages.last?.at ?? .min
        for line in lines where line.at >= end && !page.lines.contains(where: line.isSame) {
            if !changes.contains(line.words) { changes.append(line.words) }
        }
        return changes
    }
}

extension MessageRow {
    /// Nil for a change that is not announced: that a message was delivered, or read, after it was sent.
    func change(since former: MessageRow) -> String? {
        if isEdited, text != former.text { return Words.edited }
        if let state, state != former.state {
            if state.isProblem { return Self.sentences(Words.own(text.shownStart), [state.words]) }
            if state.hasServer, !(former.state?.hasServer ?? true) { return Words.sent }
        }
        guard let file, let before = former.file, file.announced != before.announced else { return nil }
        return file.announced
    }
}

extension DeliveryState {
    /// Whether the server has the message.
    var hasServer: Bool {
        switch self {
        case .sent, .delivered, .read: true
        case .waiting, .sending, .notSent, .unknown: false
        }
    }
}

extension FileRow {
    /// The state without its progress; nil for a state that the message's state describes.
    var announced: String? {
        switch state {
        case .waiting, .paused: stateWords
        case .moving(_, .up): Words.uploading
        case .moving(_, .down), .offered, .here, .failed, .gone: nil
        }
    }
}

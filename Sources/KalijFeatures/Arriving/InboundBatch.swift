import KalijStream
import KalijXML

/// What one step handles of what has arrived: a stanza, or results of one page (``ArchiveResults/page(of:)``) that came one after the
/// other.
package struct InboundBatch {
    package let stanzas: [Element]
    /// What the handled count becomes with it; nil without stream management.
    package let count: HandledCount?

    package init(stanzas: [Element], count: HandledCount?) { (self.stanzas, self.count) = (stanzas, count) }
}

import KalijStream
import KalijXML

/// The stanzas that one step handles: a single stanza, or consecutive results of one page (``ArchiveResult/page(of:)``).
package struct InboundBatch {
    package let stanzas: [Element]
    /// The handled count after this batch; nil without stream management.
    package let count: HandledCount?

    package init(stanzas: [Element], count: HandledCount?) { (self.stanzas, self.count) = (stanzas, count) }
}

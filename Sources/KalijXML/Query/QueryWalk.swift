/// The elements reached by a path without `..`, one after the other, in document order.
struct QueryWalk: BitwiseCopyable {
    /// After the last element. No element has this index.
    static let end = UInt32.max

    let matcher: QueryMatcher
    private let first: UnsafePointer<PathStep>
    private let last: UnsafePointer<PathStep>
    /// Where the walk continues: at `child`, a child of `parent`, with `step`.
    private var step: UnsafePointer<PathStep>
    private var parent: UInt32
    private var child: UInt32
    private var requiredNamespace: UInt32
    /// The queried element, if the path reaches it.
    private var reached: UInt32

    @inline(__always)
    init(_ plan: UnsafePointer<QueryPlan>, from asked: UInt32, _ matcher: QueryMatcher) {
        self.matcher = matcher
        first = UnsafePointer(plan.pointee.steps) + (plan.pointee.isRooted ? 1 : 0)
        last = UnsafePointer(plan.pointee.steps) + (plan.pointee.stepCount &- 1)
        (step, parent, child, requiredNamespace, reached) = (first, asked, 0, 0, QueryWalk.end)
        if plan.pointee.isItself {
            reached = asked
        } else if plan.pointee.isRooted {
            guard matcher.fitsAnywhere(plan.pointee.steps, asked) else { return }
            if first > last {
                reached = asked
            } else {
                enter(asked)
            }
        } else {
            enter(asked)
        }
    }

    @inline(__always)
    private mutating func enter(_ element: UInt32) {
        parent = element
        child = matcher.nodes[Int(element)].first
        requiredNamespace = matcher.requiredNamespace(step, element)
    }

    /// The next element, ``end`` if there is none.
    @inline(__always)
    mutating func next() -> UInt32 {
        let nodes = matcher.nodes
        while true {
            while child != 0 {
                let here = child
                if matcher.fits(step, here, wanted: requiredNamespace) {
                    if step == last {
                        child = nodes[Int(here)].next
                        return here
                    }
                    step += 1
                    enter(here)
                } else {
                    child = nodes[Int(here)].next
                }
            }
            if step == first {
                let result = reached
                reached = QueryWalk.end
                return result
            }
            // All children were visited: on with the siblings of their parent.
            step -= 1
            child = nodes[Int(parent)].next
            parent = nodes[Int(parent)].parent
            requiredNamespace = matcher.requiredNamespace(step, parent)
        }
    }
}

/// A path with `..`: all elements of a step before the next step, because several ways may lead to an element.
///
/// All elements of a level are equally deep, so the parents of an ordered level are ordered, and an element reached
/// twice stands side by side with itself.
struct QueryLevels {
    /// The document above the root: holds the root alone, and is no element.
    private static let document = UInt32.max

    private let matcher: QueryMatcher
    private let context: UInt32
    private let root: UInt32
    private var tree: TreeView { matcher.tree }

    init(_ matcher: QueryMatcher, from asked: UInt32) {
        self.matcher = matcher
        self.context = asked
        var top = asked
        while !matcher.tree.isRoot(top) { top = matcher.tree.nodes[Int(top)].parent }
        root = top
    }

    func run(_ plan: UnsafePointer<QueryPlan>) -> [UInt32] {
        var level = [context]
        for place in 0..<plan.pointee.stepCount {
            let step = plan.pointee.steps + place
            var next: [UInt32] = []
            for index in level {
                switch step.pointee.kind {
                case .parent: reach(parent(of: index), &next)
                case .itself: testItself(step, index, &next)
                case .children where place == 0 && plan.pointee.isRooted: testItself(step, index, &next)
                case .children: reachChildren(step, index, &next)
                }
            }
            level = next
        }
        return level.filter { $0 != QueryLevels.document }
    }

    private func reach(_ index: UInt32?, _ level: inout [UInt32]) {
        if let index, level.last != index { level.append(index) }
    }

    private func parent(of index: UInt32) -> UInt32? {
        if index == QueryLevels.document { return nil }
        return tree.isRoot(index) ? QueryLevels.document : tree.nodes[Int(index)].parent
    }

    private func testItself(_ step: UnsafePointer<PathStep>, _ index: UInt32, _ level: inout [UInt32]) {
        guard index != QueryLevels.document, matcher.fitsAnywhere(step, index) else { return }
        reach(index, &level)
    }

    private func reachChildren(_ step: UnsafePointer<PathStep>, _ index: UInt32, _ level: inout [UInt32]) {
        if index == QueryLevels.document {
            // The root of the tree: every element reached so far is inside.
            if matcher.fitsAnywhere(step, root) { reach(root, &level) }
            return
        }
        let wanted = matcher.requiredNamespace(step, index)
        var child = tree.nodes[Int(index)].first
        while child != 0 {
            if matcher.fits(step, child, wanted: wanted) { reach(child, &level) }
            child = tree.nodes[Int(child)].next
        }
    }
}

import CAdwaita

extension ListView {
    /// Scrolls a row to the middle of the list, in the next frames, and focuses it. GTK 4.8 places a row at the side from which it scrolls,
    /// and estimates the heights of rows without widgets.
    func center(_ place: Int) {
        isCentering = true
        onScroll(false)
        select(place)
        var (frames, still, isFocused) = (Self.mostFrames, 0, false)
        everyFrame(of: view) { [weak self] in
            guard let self, rows.indices.contains(place) else { return false }
            frames -= 1
            if let distance = distanceFromMiddle(of: place) {
                still = scroll(by: distance) ? 0 : still + 1
                // Both are painted in one frame.
                if !isFocused { isFocused = focusBound(place) }
            } else {
                scrollToItem(place)
            }
            guard still < 2, frames > 0 else {
                isCentering = false
                if !isFocused { focusRow(or: place) }
                after(0) { [weak self] in self?.onSettled() }
                return false
            }
            return true
        }
    }

    private static var mostFrames: Int { 30 }

    /// The distance in pixels; nil before the layout of the row.
    private func distanceFromMiddle(of place: Int) -> Double? {
        guard let row = boundRow(at: place)?.root,
            let item = gtk_widget_get_parent(row), gtk_widget_get_mapped(item) != 0, gtk_widget_get_height(item) > 0
        else { return nil }
        var (x, y) = (0.0, 0.0)
        let middle = Double(gtk_widget_get_height(item)) / 2
        guard gtk_widget_translate_coordinates(item, view, 0, middle, &x, &y) != 0 else { return nil }
        return y - Double(gtk_widget_get_height(view)) / 2
    }

    /// - Returns: false if the list is there already, or at its end.
    private func scroll(by distance: Double) -> Bool {
        guard abs(distance) >= 2, let adjustment = gtk_scrollable_get_vadjustment(opaque(view)) else { return false }
        let before = gtk_adjustment_get_value(adjustment)
        gtk_adjustment_set_value(adjustment, before + distance)
        return gtk_adjustment_get_value(adjustment) != before
    }
}

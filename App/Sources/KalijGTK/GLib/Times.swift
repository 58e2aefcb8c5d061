import CAdwaita
import KalijApp

/// Times in the format of the user's locale.
enum Times {
    /// "19:15"
    static func clock(_ at: Int64) -> String { format(at, "%H:%M") }

    /// "Today", "Yesterday", "Monday, 3 June", "3 June 2024"
    static func day(_ at: Int64) -> String {
        switch age(at) {
        case 0: Words.today
        case 1: Words.yesterday
        case 2..<7: format(at, "%A")
        default: format(at, "%-d %B %Y")
        }
    }

    /// The format for a list: the time of today, else the day.
    static func short(_ at: Int64) -> String {
        switch age(at) {
        case 0: clock(at)
        case 1: Words.yesterday
        case 2..<7: format(at, "%a")
        default: format(at, "%x")
        }
    }

    /// A time to come: the time of the next 24 hours, else with the day.
    static func until(_ at: Int64) -> String {
        at - wallNow() < 86_400_000 ? clock(at) : format(at, "%x") + ", " + clock(at)
    }

    /// How many days ago, by the calendar.
    private static func age(_ at: Int64) -> Int {
        guard at > 0 else { return .max }
        let now = wallNow()
        for days in 0..<7 where Days.number(now - Int64(days) * 86_400_000) == Days.number(at) { return days }
        return .max
    }

    private static func format(_ at: Int64, _ format: String) -> String {
        guard at > 0, let time = g_date_time_new_from_unix_local(gint64(at / 1000)) else { return "" }
        defer { g_date_time_unref(time) }
        guard let text = g_date_time_format(time, format) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}

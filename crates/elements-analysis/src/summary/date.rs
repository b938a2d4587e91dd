//! Dates for people.

pub(super) const NS_PER_S: i64 = 1_000_000_000;

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"];
const SECONDS_PER_DAY: i64 = 86_400;
/// Days from 1 March of the year 0, from which leap years are easiest counted, to 1 January 1970.
const DAYS_TO_1970: i64 = 719_468;
const DAYS_PER_400_YEARS: i64 = 146_097;

/// A time as ctime(3) shows it, in UTC: `Tue Jul 24 17:53:30 2001`.
pub(super) fn show(time_ns: i64) -> String {
    let seconds = time_ns.div_euclid(NS_PER_S);
    let (day, second) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let (era, of_era) = (
        (day + DAYS_TO_1970).div_euclid(DAYS_PER_400_YEARS),
        (day + DAYS_TO_1970).rem_euclid(DAYS_PER_400_YEARS),
    );
    // Days that leap years have put in before this one: every 4 years, but not every 100, but every 400.
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // From March on, months have 31 and 30 days in turn, five to 153 days.
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year + i64::from(month >= 10);
    let (weekday, month) = (DAYS[day.rem_euclid(7) as usize], MONTHS[month as usize]);
    let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
    format!("{weekday} {month} {of_month:2} {hours:02}:{minutes:02}:{seconds:02} {year}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_around_leap_days() {
        for (seconds, date) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (-1, "Wed Dec 31 23:59:59 1969"),
            (951_782_399, "Mon Feb 28 23:59:59 2000"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (996_022_410, "Wed Jul 25 00:53:30 2001"),
            (4_107_542_400, "Mon Mar  1 00:00:00 2100"),
        ] {
            assert_eq!(show(seconds * NS_PER_S), date);
        }
    }
}

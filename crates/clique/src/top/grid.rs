//! Tables in places of equal width: which columns there is room for, and how wide they are.

use super::panels::{Cell, Column, Holds, Panel};
use ratatui::text::Span;

/// Blanks between columns.
const GAP: usize = 2;
/// The least width of a column of names, and of a bar, while others can give way.
const NAME_MIN: usize = 12;
const BAR_MIN: usize = 8;
/// The greatest width of a bar.
const BAR_MAX: usize = 32;

/// A table whose columns have widths.
pub(super) struct Grid<'p> {
    pub(super) panel: &'p Panel,
    /// The columns that there is room for: their places in the panel, and widths.
    pub(super) columns: Vec<(usize, usize)>,
}

/// Places that a text takes.
fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// The width that a column would have.
fn natural(panel: &Panel, at: usize) -> usize {
    let cells = panel.rows.iter().map(|row| match &row[at] {
        Cell::Text(text, _) => width(text),
        Cell::Bar(..) => BAR_MIN,
    });
    cells.chain([width(panel.columns[at].title)]).max().unwrap_or(0)
}

/// The width that a column needs at least.
fn least(column: &Column, natural: usize) -> usize {
    if column.holds == Holds::Names { natural.min(NAME_MIN) } else { natural }
}

impl<'p> Grid<'p> {
    /// Lays a table out in so many places.
    pub(super) fn new(panel: &'p Panel, room: usize) -> Grid<'p> {
        let mut columns: Vec<(usize, usize)> =
            (0..panel.columns.len()).map(|at| (at, natural(panel, at))).collect();
        let needs = |columns: &[(usize, usize)]| {
            let widths = columns.iter().map(|&(at, natural)| least(&panel.columns[at], natural));
            widths.sum::<usize>() + GAP * columns.len().saturating_sub(1)
        };
        while needs(&columns) > room
            && let Some(worst) =
                columns.iter().map(|&(at, _)| panel.columns[at].spare).max().filter(|s| *s > 0)
        {
            columns.retain(|&(at, _)| panel.columns[at].spare != worst);
        }
        share_out(panel, &mut columns, room);
        Grid { panel, columns }
    }

    /// A cell's text in its column.
    pub(super) fn text(&self, cell: &Cell, (at, width): (usize, usize)) -> String {
        match cell {
            Cell::Bar(share, _) => bar(*share, width),
            Cell::Text(text, _) => fitted(text, width, self.panel.columns[at].holds),
        }
    }

    /// A column's title in its column.
    pub(super) fn title(&self, (at, width): (usize, usize)) -> String {
        let Column { title, holds, .. } = self.panel.columns[at];
        fitted(title, width, holds)
    }

    /// Whether columns have titles at all.
    pub(super) fn is_titled(&self) -> bool {
        self.panel.columns.iter().any(|column| !column.title.is_empty())
    }

    /// The blanks between columns.
    pub(super) fn gap() -> &'static str {
        const { assert!(GAP == 2) };
        "  "
    }

    /// The whole table as text.
    pub(super) fn lines(&self) -> String {
        let line = |cell: &dyn Fn((usize, usize)) -> String| {
            let cells: Vec<String> = self.columns.iter().map(|&column| cell(column)).collect();
            format!("{}\n", cells.join(Self::gap()).trim_end())
        };
        let title = line(&|column| self.title(column));
        let rows = self.panel.rows.iter().map(|row| line(&|column| self.text(&row[column.0], column)));
        Some(title).filter(|_| self.is_titled()).into_iter().chain(rows).collect()
    }
}

/// Gives names what they need as far as there is room, the shorter ones first, and the rest to bars.
fn share_out(panel: &Panel, columns: &mut [(usize, usize)], room: usize) {
    let holds = |at: usize| panel.columns[at].holds;
    let gaps = GAP * columns.len().saturating_sub(1);
    let fixed: usize = columns.iter().filter(|c| holds(c.0) != Holds::Names).map(|c| c.1).sum();
    let mut left = room.saturating_sub(gaps + fixed);
    let mut names: Vec<usize> = (0..columns.len()).filter(|&i| holds(columns[i].0) == Holds::Names).collect();
    names.sort_by_key(|&i| columns[i].1);
    let mut number = names.len();
    for i in names {
        columns[i].1 = columns[i].1.min(left / number.max(1));
        left -= columns[i].1;
        number -= 1;
    }
    for column in columns.iter_mut().filter(|c| holds(c.0) == Holds::Bars) {
        let more = left.min(BAR_MAX - BAR_MIN);
        column.1 += more;
        left -= more;
    }
}

/// A bar of a width, of which a share is filled.
fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    // Something is not nothing.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let (full, part) = (eighths / 8, PARTS[eighths % 8]);
    let empty = width - full - usize::from(!part.is_empty());
    format!("{}{part}{}", "█".repeat(full), "·".repeat(empty))
}

/// A text of a width: blanks are added, or else it is cut. Of names, whose ends tell more than their beginnings (`in/check_eth1`,
/// `CheckIPHeader@17`), the end stays; of texts in words the beginning.
fn fitted(text: &str, room: usize, holds: Holds) -> String {
    let mut text = text.to_owned();
    if width(&text) > room {
        let keeps_end = holds == Holds::Names && !text.contains(' ');
        while width(&text) + 1 > room && !text.is_empty() {
            if keeps_end {
                text.remove(0);
            } else {
                text.pop();
            }
        }
        text = if keeps_end { format!("…{text}") } else { format!("{text}…") };
    }
    let blanks = " ".repeat(room.saturating_sub(width(&text)));
    if holds == Holds::Numbers { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_bars_fit_their_width() {
        assert_eq!(fitted("abc", 5, Holds::Words), "abc  ");
        assert_eq!(fitted("abc", 5, Holds::Numbers), "  abc");
        assert_eq!(fitted("check_eth1", 6, Holds::Names), "…_eth1");
        assert_eq!(fitted("bad checksum", 6, Holds::Names), "bad c…");
        assert_eq!(fitted("router/in/check", 8, Holds::Names), "…n/check");
        assert_eq!(width(&fitted("日本語日本語", 5, Holds::Names)), 5);
        assert_eq!(bar(0.5, 8), "████····");
        assert_eq!(bar(0.0001, 4), "▏···");
        assert_eq!([bar(0.0, 2), bar(7.0, 2)], ["··", "██"]);
    }

    /// Columns go where there is no room, the least important first, and names are cut; a line is never wider than it may be.
    #[test]
    fn columns_give_way() {
        let column = |title, holds, spare| Column { title, holds, spare };
        let text = |text: &str| Cell::Text(text.to_owned(), super::super::panels::Tone::Plain);
        let panel = Panel {
            title: "t",
            columns: vec![
                column("name", Holds::Names, 0),
                column("number", Holds::Numbers, 2),
                column("other", Holds::Numbers, 1),
            ],
            rows: vec![vec![text("a-name-that-is-quite-long"), text("1234567890"), text("1")]],
        };
        let shown = |room| Grid::new(&panel, room).columns.iter().map(|c| c.0).collect::<Vec<_>>();
        assert_eq!(
            [shown(80), shown(30), shown(19), shown(12)],
            [vec![0, 1, 2], vec![0, 2], vec![0, 2], vec![0]]
        );
        for room in 12..60 {
            let lines = Grid::new(&panel, room).lines();
            assert!(lines.lines().all(|line| width(line) <= room), "{room}:\n{lines}");
        }
    }
}

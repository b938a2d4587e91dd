//! The screen: a headline, the workers, the panels, and the keys.

use super::figures::{bytes, duration, short};
use super::grid::Grid;
use super::order::{SortKey, arrange};
use super::panels::{self, Panel, TITLES, Tone};
use super::view::View;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Paragraph};
use std::time::Duration;

/// From this size on all panels are shown beside and below each other.
const WIDE: (u16, u16) = (120, 30);

/// Rows that every panel has room for where all are shown: border, titles of columns, and one of figures.
const PANEL_MIN: u16 = 4;

/// What the user has chosen, and what is to be said.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    /// The router's place, as the command line names it.
    pub(super) place: String,
    pub(super) order: SortKey,
    pub(super) filter: String,
    /// Whether the filter is being typed.
    pub(super) typing: bool,
    /// The panel that is shown, or that keys move where all are.
    pub(super) panel: usize,
    /// Rows of it that are passed over.
    pub(super) scroll: usize,
    pub(super) paused: bool,
    pub(super) interval: Duration,
    /// Something that happened: the router is gone, or is another one.
    pub(super) notice: Option<String>,
    /// Whether there are colours.
    pub(super) color: bool,
}

/// Draws everything. Scrolls no further than there are rows.
pub(super) fn draw(frame: &mut Frame<'_>, view: &View, choices: &mut Choices) {
    let area = frame.area();
    let workers = panels::workers(view);
    // Some rows are left for the rest, however many workers there are.
    let rows = (workers.rows.len() as u16 + 3).min((area.height / 3).max(4));
    let [head, above, tabs, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(rows),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(headline(view, choices, head.width.into())), head);
    panel(frame, above, &workers, 0, false, choices);
    frame.render_widget(Paragraph::new(tab_line(view, choices)), tabs);
    let shown = panels::all(&arrange(view.clone(), choices.order, &choices.filter));
    let last = shown[choices.panel].rows.len().saturating_sub(1);
    choices.scroll = choices.scroll.min(last);
    if area.width >= WIDE.0 && area.height >= WIDE.1 {
        all(frame, body, &shown, choices);
    } else {
        panel(frame, body, &shown[choices.panel], choices.scroll, true, choices);
    }
    frame.render_widget(Paragraph::new(keys(choices)), foot);
}

fn style(tone: Tone, color: bool) -> Style {
    let plain = Style::new();
    match tone {
        Tone::Plain => plain,
        Tone::Faint => plain.add_modifier(Modifier::DIM),
        _ if !color => plain.add_modifier(Modifier::BOLD),
        Tone::Good => plain.fg(Color::Green),
        Tone::Warning => plain.fg(Color::Yellow),
        Tone::Bad => plain.fg(Color::Red),
    }
}

/// The line at the top: what router this is, and how it fares.
fn headline(view: &View, choices: &Choices, room: usize) -> Line<'static> {
    let router = &view.router;
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut spans = vec![Span::styled(format!("clique {}", router.version), bold)];
    let mut add = |text: String| {
        let used: usize = spans.iter().map(Span::width).sum();
        // What does not fit is left out, not cut.
        if used + 2 + Span::raw(&text).width() <= room {
            spans.push(Span::raw(format!("  {text}")));
        }
    };
    add(choices.place.clone());
    if choices.paused {
        add("PAUSED".to_owned());
    }
    for (figure, form) in [
        (router.uptime_s, (|s| format!("up {}", duration(s))) as fn(f64) -> String),
        (router.processors, |cpus| format!("cpu {:.0}%", cpus * 100.0)),
        (router.memory_bytes, |memory| format!("memory {}", bytes(memory))),
        (router.elements, |number| format!("{} elements", short(number))),
        (router.hot_swaps.filter(|n| *n > 0.0), |swaps| format!("{} swaps", short(swaps))),
        (router.hot_swaps_refused.filter(|n| *n > 0.0), |swaps| format!("{} refused", short(swaps))),
    ] {
        if let Some(figure) = figure {
            add(form(figure));
        }
    }
    Line::from(spans)
}

/// So many panels are named even if they are empty.
const ALWAYS: usize = 6;

/// The panels' names, with the numbers of their rows, or what has happened.
fn tab_line(view: &View, choices: &Choices) -> Line<'static> {
    if let Some(notice) = &choices.notice {
        let warning = style(Tone::Bad, choices.color).add_modifier(Modifier::BOLD);
        return Line::styled(format!(" {notice}"), warning);
    }
    let counts = [
        Some(view.elements.len()),
        Some(view.queues.len()),
        Some(view.drops.len()),
        Some(view.interfaces.len()),
        Some(view.tables.len()),
        None,
        Some(view.flows.len()),
        Some(view.associations.len()),
    ];
    let tab = |(at, (title, count)): (usize, (&str, Option<usize>))| {
        let count = count.map_or_else(String::new, |count| format!(" {count}"));
        let chosen = if at == choices.panel { Modifier::REVERSED } else { Modifier::DIM };
        let text = format!(" {} {title}{count} ", at + 1);
        [Span::styled(text, Style::new().add_modifier(chosen)), Span::raw(" ")]
    };
    // Few routers tell their flows, or have associations.
    let shown = |(at, (_, count)): &(usize, (&str, Option<usize>))| *at < ALWAYS || *count != Some(0);
    Line::from(TITLES.into_iter().zip(counts).enumerate().filter(shown).flat_map(tab).collect::<Vec<_>>())
}

/// The line at the bottom: what keys do.
fn keys(choices: &Choices) -> Line<'static> {
    let key = |key: &'static str, does: String| {
        [Span::styled(key, Style::new().add_modifier(Modifier::BOLD)), Span::raw(format!(" {does}  "))]
    };
    if choices.typing {
        let text = format!(" show what has: {}█  (Enter: done, Esc: all)", choices.filter);
        return Line::raw(text);
    }
    let filter =
        if choices.filter.is_empty() { "filter".to_owned() } else { format!("filter: {}", choices.filter) };
    let pause = if choices.paused { "resume" } else { "pause" };
    let pairs = [
        key(" q", "quit".to_owned()),
        key("p", pause.to_owned()),
        key("s", format!("sort: {}", choices.order.name())),
        key("/", filter),
        key("Tab", "panel".to_owned()),
        key("↑↓", "scroll".to_owned()),
        key("+-", format!("every {}", every(choices.interval))),
    ];
    Line::from(pairs.into_iter().flatten().collect::<Vec<_>>())
}

fn every(interval: Duration) -> String {
    format!("{}s", interval.as_secs_f64())
}

/// All panels: the elements at the left, the others below each other at the right.
fn all(frame: &mut Frame<'_>, area: Rect, shown: &[Panel; TITLES.len()], choices: &Choices) {
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(area);
    let scroll = |at: usize| if at == choices.panel { choices.scroll } else { 0 };
    panel(frame, left, &shown[0], scroll(0), choices.panel == 0, choices);
    // Those that have nothing to show take no room, unless they are chosen.
    let others: Vec<usize> =
        (1..shown.len()).filter(|&at| !shown[at].rows.is_empty() || at == choices.panel).collect();
    let rows =
        heights(&others.iter().map(|&at| shown[at].rows.len() as u16 + 3).collect::<Vec<_>>(), right.height);
    let areas = Layout::vertical(rows.iter().map(|&rows| Constraint::Length(rows))).split(right);
    for (&at, &area) in others.iter().zip(areas.iter()) {
        panel(frame, area, &shown[at], scroll(at), at == choices.panel, choices);
    }
}

/// Gives each what it wants as far as there is room, those that want less first; what is left goes to the last.
fn heights(wanted: &[u16], room: u16) -> Vec<u16> {
    let mut rows = vec![0; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&at| wanted[at]);
    let (mut left, mut number) = (room, wanted.len() as u16);
    for at in order {
        rows[at] = wanted[at].max(PANEL_MIN).min(left / number.max(1));
        left -= rows[at];
        number -= 1;
    }
    if let Some(last) = rows.last_mut() {
        *last += left;
    }
    rows
}

/// One panel.
fn panel(frame: &mut Frame<'_>, area: Rect, panel: &Panel, scroll: usize, chosen: bool, choices: &Choices) {
    let border = if chosen { Style::new() } else { Style::new().add_modifier(Modifier::DIM) };
    let block = Block::bordered().border_type(BorderType::Rounded).border_style(border).title(panel.title);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let grid = Grid::new(panel, inner.width.into());
    let visible = usize::from(inner.height).saturating_sub(usize::from(grid.is_titled()));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let title = Line::styled(join(&grid.columns, |column| grid.title(column)), bold);
    let mut lines: Vec<Line<'_>> = Some(title).filter(|_| grid.is_titled()).into_iter().collect();
    if panel.rows.is_empty() {
        lines.push(Line::styled("nothing to show", style(Tone::Faint, choices.color)));
    }
    for row in panel.rows.iter().skip(scroll).take(visible) {
        let mut spans = Vec::with_capacity(2 * grid.columns.len());
        for &column in &grid.columns {
            let cell = &row[column.0];
            spans.push(Span::styled(grid.text(cell, column), style(cell.tone(), choices.color)));
            spans.push(Span::raw(Grid::gap()));
        }
        lines.push(Line::from(spans));
    }
    frame.render_widget(Paragraph::new(lines), inner);
    let below = panel.rows.len().saturating_sub(scroll + visible);
    if scroll > 0 || below > 0 {
        let text = format!(" {} more ", scroll + below);
        let at = Rect {
            x: area.right().saturating_sub(text.len() as u16 + 2),
            y: area.bottom().saturating_sub(1),
            width: (text.len() as u16).min(area.width),
            height: 1.min(area.height),
        };
        frame.render_widget(Paragraph::new(Line::styled(text, border)), at);
    }
}

fn join(columns: &[(usize, usize)], text: impl Fn((usize, usize)) -> String) -> String {
    columns.iter().map(|&column| text(column)).collect::<Vec<_>>().join(Grid::gap())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_share_the_height() {
        assert_eq!(heights(&[10, 3, 30], 30), [10, 4, 16]);
        assert_eq!(heights(&[6, 6], 30), [6, 24]);
        assert_eq!(heights(&[9, 9, 9], 12), [4, 4, 4]);
        assert!(heights(&[], 5).is_empty());
    }
}

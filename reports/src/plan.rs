//! A plan on one screen of a terminal: what to do first, then the tables.

use assize_calibration::planning::result::{Figure, Plan};
use assize_calibration::planning::{ITEMS, REPEATS};

use crate::terminal::{Screen, TerminalOptions};
use crate::{format, plan_words, text};

/// Most figures whose intervals are shown beside one another.
const MOST_FIGURES: usize = 4;

/// Returns the plan as text for a terminal, ending in a line feed.
#[must_use]
pub fn plan_terminal(plan: &Plan, options: &TerminalOptions) -> String {
    let mut screen = Screen::new(options);
    screen.wrapped(&plan_words::basis(plan), 0, 0);
    screen.blank();
    if plan_words::n_limits(plan) == 0 {
        screen.wrapped(
            "The gate has no limit that can be planned; the tables below show what intervals to expect.",
            0,
            0,
        );
    } else {
        for (idx, chosen) in plan.chosen.iter().enumerate() {
            screen.wrapped(&plan_words::scenario(plan, chosen), 0, 2);
            if idx == 0 {
                for more in [plan_words::simulated(chosen), plan_words::assurance(plan, chosen)].into_iter().flatten() {
                    screen.wrapped(&more, 2, 2);
                }
            }
        }
        alone(&mut screen, plan);
        joint(&mut screen, plan);
    }
    widths(&mut screen, plan);
    repeats(&mut screen, plan);
    comparisons(&mut screen, plan);
    notes(&mut screen, plan);
    screen.finish()
}

fn chosen_k(plan: &Plan) -> (u32, u32) {
    let picked = plan.chosen.first().and_then(|chosen| chosen.row.as_ref()).map(|row| row.design);
    picked.map_or((plan.pilot.repeats, plan.pilot.orders), |design| (design.repeats, design.orders))
}

fn alone(screen: &mut Screen, plan: &Plan) {
    let power = format::level(plan.power);
    screen.heading(&format!("Items that each limit takes alone, {power} power, if the truth is"));
    let is_assumed = plan.pilot.is_assumed;
    let rows: Vec<Vec<String>> = plan
        .alone
        .iter()
        .map(|alone| {
            let mut row = vec![
                plan_words::limit(alone),
                plan_words::value(&alone.measure, alone.truth, alone.ends),
                plan_words::items(alone.n_items[0]),
            ];
            if !is_assumed {
                row.extend([plan_words::items(alone.n_items[1]), plan_words::items(alone.n_items[2])]);
            }
            row
        })
        .collect();
    if is_assumed {
        screen.rows(&["Limit", "Assumed", "as assumed"], &rows, 2);
    } else {
        screen.rows(&["Limit", "Pilot", "estimate", "low end", "high end"], &rows, 2);
    }
    for missing in plan_words::left_out(plan) {
        screen.wrapped(&format!("Not planned: {missing}."), 2, 4);
    }
}

fn joint(screen: &mut Screen, plan: &Plan) {
    for orders in 1..=plan.pilot.orders.max(1) {
        let shown = if plan.pilot.orders > 1 {
            format!(", {}", format::counted(u64::from(orders), "order"))
        } else {
            String::new()
        };
        let power = |n_items: u64, repeats: u32| {
            let design = |row: &&assize_calibration::planning::result::DesignRow| {
                row.design.n_items == n_items && row.design.repeats == repeats && row.design.orders == orders
            };
            plan.designs.iter().find(design).and_then(|row| row.joint_power)
        };
        let rows: Vec<Vec<String>> = ITEMS
            .into_iter()
            .filter(|&n| REPEATS.into_iter().any(|k| power(n, k).is_some()))
            .map(|n| {
                let powers = REPEATS.into_iter().map(|k| power(n, k).map_or("–".to_owned(), plan_words::chance));
                std::iter::once(format::count(n)).chain(powers).collect()
            })
            .collect();
        if rows.is_empty() {
            screen.heading(&format!("How often the gate decides{shown}"));
            screen.wrapped("Some limit cannot be measured so.", 2, 2);
            continue;
        }
        screen.heading(&format!("How often the gate decides, by answers an item{shown}"));
        screen.rows(&["Items", "1", "2", "3", "5", "8"], &rows, 0);
    }
    screen.wrapped("All limits together; –: some limit cannot be measured so.", 2, 2);
}

fn widths(screen: &mut Screen, plan: &Plan) {
    let (repeats, orders) = chosen_k(plan);
    let mut seen: Vec<&str> = Vec::new();
    let figures: Vec<(usize, &Figure)> = plan
        .pilot
        .figures
        .iter()
        .enumerate()
        .filter(|(_, figure)| {
            let is_new = !seen.contains(&figure.measure.as_str());
            seen.push(&figure.measure);
            is_new
        })
        .take(MOST_FIGURES)
        .collect();
    if figures.is_empty() {
        return;
    }
    let of_design = plan.designs.iter().filter(|row| row.design.repeats == repeats && row.design.orders == orders);
    let rows: Vec<Vec<String>> = of_design
        .map(|row| {
            let cells = figures.iter().map(|(idx, figure)| plan_words::interval(figure, row.figures[*idx].interval));
            std::iter::once(format::count(row.design.n_items)).chain(cells).collect()
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let level = format::level(plan.level);
    let orders = if orders > 1 { " in each order" } else { "" };
    screen.heading(&format!("{level} intervals to expect, {}{orders}", format::counted(u64::from(repeats), "answer")));
    let head: Vec<&str> =
        std::iter::once("Items").chain(figures.iter().map(|(_, figure)| format::title(&figure.measure))).collect();
    screen.rows(&head, &rows, 0);
    by_answers(screen, plan);
}

/// The intervals of every figure by answers an item, at the design's number of items or the next above.
fn by_answers(screen: &mut Screen, plan: &Plan) {
    let (_, orders) = chosen_k(plan);
    let wanted =
        plan.chosen.first().and_then(|chosen| chosen.row.as_ref()).map_or(plan.pilot.n_items, |row| row.design.n_items);
    let Some(n_items) = ITEMS.into_iter().find(|n| *n >= wanted).or(ITEMS.last().copied()) else { return };
    let mut seen: Vec<&str> = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (idx, figure) in plan.pilot.figures.iter().enumerate() {
        if seen.contains(&figure.measure.as_str()) {
            continue;
        }
        seen.push(&figure.measure);
        let cell = |repeats: u32| {
            let is_it = |row: &&assize_calibration::planning::result::DesignRow| {
                row.design.n_items == n_items && row.design.repeats == repeats && row.design.orders == orders
            };
            let interval = plan.designs.iter().find(is_it).and_then(|row| row.figures[idx].interval);
            interval.map_or_else(|| "–".to_owned(), |_| plan_words::interval(figure, interval))
        };
        rows.push(std::iter::once(format::title(&figure.measure).to_owned()).chain(REPEATS.map(cell)).collect());
    }
    let in_orders = if orders > 1 { " in each order" } else { "" };
    screen.heading(&format!("The same for {} items, by answers an item{in_orders}", format::count(n_items)));
    screen.rows(&["Measure", "1", "2", "3", "5", "8"], &rows, 1);
}

fn repeats(screen: &mut Screen, plan: &Plan) {
    let says = plan_words::repeats(plan);
    if says.is_empty() {
        return;
    }
    screen.heading("More answers or more items?");
    for line in says {
        screen.wrapped(&line, 2, 4);
    }
}

fn comparisons(screen: &mut Screen, plan: &Plan) {
    if plan.comparisons.is_empty() {
        return;
    }
    screen.heading(&format!(
        "Smallest difference of accuracy seen with {} power, one answer each",
        format::level(plan.power)
    ));
    const SHOWN: [u64; 4] = [100, 400, 1_600, 6_400];
    for pair in &plan.comparisons {
        let seen: Vec<String> = SHOWN
            .into_iter()
            .filter_map(|n| {
                let size = pair.detectable.iter().find(|(items, _)| *items == n).and_then(|(_, size)| *size)?;
                Some(format!("{} with {}", plan_words::points(size), format::count(n)))
            })
            .collect();
        // In full: names and what they stand for do not fit a column.
        let line = format!(
            "Against {} (on {} of items only one is right): {}.",
            text::visible(&pair.other),
            format::per_cent(pair.discordance),
            if seen.is_empty() { "none, however many items".to_owned() } else { format!("{} items", seen.join(", ")) }
        );
        screen.wrapped(&line, 2, 4);
    }
    for pair in &plan.comparisons {
        let (Some(difference), Some(n)) = (pair.difference, pair.items_to_show_by_means.or(pair.items_to_show)) else {
            continue;
        };
        let line = format!(
            "{} apart from {} in the pilot: about {} would show that, if it is so.",
            plan_words::points(difference.abs()),
            text::visible(&pair.other),
            format::counted(n, "item")
        );
        screen.wrapped(&line, 2, 4);
    }
}

fn notes(screen: &mut Screen, plan: &Plan) {
    if !plan.notes.is_empty() {
        screen.heading("To know");
        for note in &plan.notes {
            screen.wrapped(note, 2, 4);
        }
    }
}

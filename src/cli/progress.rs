//! Progress on standard error, for what takes longer than half a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printer::Printer;

/// What ends sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

/// How far a step has come. Whoever does the work counts, whoever shows it only looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Gauge {
    /// Rows done.
    pub rows: Arc<AtomicU64>,
    /// Bytes done of `total_bytes`; stays 0 where nobody counts them.
    pub bytes: Arc<AtomicU64>,
    /// Bytes to do, where known.
    pub total_bytes: Option<u64>,
}

/// A line that says what is going on and, where the size is known, how long it will take. It disappears when dropped.
#[derive(Debug)]
pub(super) struct Progress {
    /// Dropped to tell the thread that there is nothing to show any more.
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts showing a step, if the printer shows progress at all.
    #[must_use]
    pub(super) fn start(printer: &Printer, message: String, gauge: Gauge) -> Self {
        if !printer.shows_progress() {
            return Self { ended: None, thread: None };
        }
        let (ended, end) = channel();
        let thread = std::thread::spawn(move || show(&message, &gauge, &end));
        Self { ended: Some(ended), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.ended.take());
        if let Some(thread) = self.thread.take() {
            // Should the thread have panicked, only the progress is lost.
            thread.join().ok();
        }
    }
}

fn show(message: &str, gauge: &Gauge, end: &Receiver<()>) {
    let bar = ProgressBar::hidden();
    let spinner = ProgressStyle::with_template("{spinner} {msg} · {elapsed}").expect("the template is well-formed");
    bar.set_style(spinner);
    bar.set_message(message.to_owned());
    let mut wait = PATIENCE;
    let mut shows_bytes = false;
    while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = TICK;
        let (n_rows, n_bytes) = (gauge.rows.load(Ordering::Relaxed), gauge.bytes.load(Ordering::Relaxed));
        bar.set_position(n_bytes);
        if n_rows > 0 {
            bar.set_message(format!("{message} · {} rows", HumanCount(n_rows)));
        }
        if let (false, Some(total), true) = (shows_bytes, gauge.total_bytes, n_bytes > 0) {
            let style = "{spinner} {msg} {wide_bar} {bytes} of {total_bytes} · {eta} left";
            bar.set_length(total);
            bar.set_style(ProgressStyle::with_template(style).expect("the template is well-formed"));
            shows_bytes = true;
        }
        // Shown only once all of it is known.
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.tick();
    }
    bar.finish_and_clear();
}

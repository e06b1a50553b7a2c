//! `phyllo copy`

use std::fmt::Write as _;
use std::time::Duration;

use futures::future::try_join;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

use crate::cli::arguments::Copy;
use crate::cli::connect::cluster::Clusters;
use crate::cli::connect::opening::{StorePurpose, open_to_copy};
use crate::cli::outcome::{Done, failed};
use crate::cli::terminal::output::{Output, say};
use crate::database::copy::{Copied, Digest, check_target, copy};
use crate::key::hex;
use crate::limits::CHANGE_RETENTION_OF_NEW_STORES;

pub(crate) async fn run(arguments: Copy) -> Done {
    let mut clusters = Clusters::default();
    let retention = CHANGE_RETENTION_OF_NEW_STORES;
    let source = open_to_copy(
        &mut clusters,
        &arguments.from,
        StorePurpose::Read,
        retention,
    )
    .await?;
    // A new target has the setting of the source.
    let settings = source.change_settings().await?;
    let retention = settings.map_or(retention, |settings| settings.retention);
    let target = open_to_copy(
        &mut clusters,
        &arguments.to,
        StorePurpose::Create,
        retention,
    )
    .await?;
    let bar = Bar::new();
    bar.0.set_message("comparing the target, ");
    check_target(&source, &target).await?;
    let copied = copy(&source, &target, |copied| bar.show(copied)).await?;
    bar.0.set_message("verifying, ");
    bar.0.set_position(0);
    let progress = |bytes: usize| bar.0.inc(bytes as u64);
    let digests = try_join(Digest::of(&source, progress), Digest::of(&target, progress));
    let (from, to) = digests.await?;
    bar.0.finish_and_clear();
    let mut output = Output::stdout();
    output.write(text("from", &arguments.from, &from).as_bytes())?;
    output.write(text("to", &arguments.to, &to).as_bytes())?;
    output.finish()?;
    let Copied {
        documents, skipped, ..
    } = copied;
    say(format_args!(
        "{documents} documents copied, {skipped} already present; leaves and catalog {}",
        if from == to { "are equal" } else { "differ" }
    ));
    if from == to {
        return Ok(());
    }
    Err(failed(
        "the target differs from the source: if the source was changed during the copy, repeat \
         the copy to an empty store; otherwise run `phyllo check` on both stores",
    )
    .into())
}

fn text(which: &str, store: &dyn std::fmt::Display, digest: &Digest) -> String {
    let mut text = format!(
        "{which}\t{store}\ndocuments\t{}\nleaves\t{}\nleaves-sha256\t{}\ncatalog-sha256\t{}\n",
        digest.documents,
        digest.leaves,
        hex(&digest.leaves_sha256),
        hex(&digest.catalog_sha256)
    );
    for collection in &digest.collections {
        let (name, count) = (&collection.name, collection.count);
        writeln!(text, "collection\t{name}\t{count}").expect("a string can be written");
    }
    text
}

struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::no_length();
        let style = ProgressStyle::with_template("{spinner} {msg}{bytes}, {elapsed}");
        bar.set_style(style.expect("a valid template"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    fn show(&self, copied: &Copied) {
        self.0.set_position(copied.bytes);
        self.0.set_message(format!(
            "{} documents, {} leaves copied, {} documents already present, {}/s, ",
            HumanCount(copied.documents),
            HumanCount(copied.leaves),
            HumanCount(copied.skipped),
            HumanBytes(per_second(copied.bytes, self.0.elapsed())),
        ));
    }
}

fn per_second(bytes: u64, time: Duration) -> u64 {
    let millis = time.as_millis().max(1);
    u64::try_from(u128::from(bytes) * 1000 / millis).unwrap_or(u64::MAX)
}

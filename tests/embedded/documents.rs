//! Documents on a disk that crashes, fails or is full. Afterwards each acknowledged transaction is
//! complete, none is partial, and a check finds nothing.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use phyllo::budget::Budget;
use phyllo::database::{
    Check, Database, DocumentKey, Existing, MissingParents, Scan, collections, delete, patch, put,
};
use phyllo::document::id::DocumentId;
use phyllo::document::patch::parse;
use phyllo::document::path::Path;
use phyllo::error::Result;
use phyllo::key::Leaves;
use phyllo::store::{Decision, Embedded, Transaction};
use rand::Rng;
use rand::rngs::StdRng;
use redb::StorageBackend;
use tokio::time::Instant;

use crate::disk::{Disk, chance};
use crate::machine::{Image, Machine};
use crate::recorder::{Failing, Recorder};
use crate::{assert_not_acknowledged, assert_unavailable};

const SEEDS: u64 = 10;
const CRASHES: usize = 60;

/// All documents, by collection and id.
type State = BTreeMap<(String, i64), String>;

/// One change of a transaction.
#[derive(Clone, Debug)]
enum Change {
    /// Creates or replaces a document.
    Put(&'static str, i64, String),
    /// Removes a document if it exists.
    Delete(&'static str, i64),
    /// Appends a number to the document [`ARRAY`].
    Append(usize),
    /// Removes the first element of the array, which renumbers the others.
    RemoveFirst,
}

/// The collection of a document that is an array.
const ARRAY: &str = "array";

/// A history of transactions in commit order, and the state after each.
struct History {
    transactions: Vec<Vec<Change>>,
    /// The state before the first transaction, after the first, and so on.
    states: Vec<State>,
}

impl History {
    fn new(chance: &mut StdRng, transactions: usize) -> Self {
        let mut history = Self {
            transactions: Vec::new(),
            states: vec![State::new()],
        };
        let mut array: Vec<String> = Vec::new();
        for number in 0..transactions {
            let changes = transaction(number, array.len(), chance);
            let mut state = history.states.last().expect("one at least").clone();
            for change in &changes {
                match change {
                    Change::Put(collection, id, json) => {
                        state.insert(((*collection).to_owned(), *id), json.clone());
                    }
                    Change::Delete(collection, id) => {
                        state.remove(&((*collection).to_owned(), *id));
                    }
                    Change::Append(number) => array.push(number.to_string()),
                    Change::RemoveFirst => drop(array.remove(0)),
                }
            }
            state.insert((ARRAY.to_owned(), 0), format!("[{}]", array.join(",")));
            history.transactions.push(changes);
            history.states.push(state);
        }
        history
    }
}

/// A random transaction: creates, replaces and removes small and large documents, changes the
/// array, and writes a document of its own.
fn transaction(number: usize, elements: usize, chance: &mut StdRng) -> Vec<Change> {
    let own = i64::try_from(number).expect("few");
    let mut changes = vec![Change::Put("own", own, format!("[{number}]"))];
    if number == 0 {
        changes.push(Change::Put(ARRAY, 0, "[]".to_owned()));
    } else if elements > 0 && chance.random_bool(0.3) {
        changes.push(Change::RemoveFirst);
    } else {
        changes.push(Change::Append(number));
    }
    for _ in 0..chance.random_range(1..4) {
        let json = match chance.random_range(0..5) {
            0 => format!("{{\"a\":[{number},[],{{}}],\"b\":null}}"),
            1 => format!("[{}]", vec![number.to_string(); 200].join(",")),
            2 => format!("\"{}\"", "é".repeat(chance.random_range(0..3_000))),
            3 => {
                changes.push(Change::Delete("D", chance.random_range(0..6)));
                continue;
            }
            // A string that is split.
            _ if chance.random_bool(0.2) => format!("{{\"s\":\"{}\"}}", "x".repeat(120_000)),
            _ => format!("{number}"),
        };
        changes.push(Change::Put("D", chance.random_range(0..6), json));
    }
    changes
}

async fn open(backend: impl StorageBackend) -> Result<Database> {
    let store = Embedded::on_backend(backend)?;
    Database::open(Arc::new(store), deadline()).await
}

/// A recorded disk: of a store without a log, or with one.
#[derive(Clone)]
enum Recorded {
    Plain(Recorder),
    Logged(Machine),
}

/// The contents of such a disk.
#[derive(Clone)]
enum Contents {
    Plain(Vec<u8>),
    Logged(Image),
}

impl Recorded {
    fn new(logged: bool) -> Self {
        if logged {
            Self::Logged(Machine::new())
        } else {
            Self::Plain(Recorder::holding(Vec::new()))
        }
    }

    fn holding(contents: Contents) -> Self {
        match contents {
            Contents::Plain(image) => Self::Plain(Recorder::holding(image)),
            Contents::Logged(image) => Self::Logged(Machine::holding(image)),
        }
    }

    fn failing(logged: bool, fails: Failing) -> Self {
        if logged {
            Self::Logged(Machine::failing(fails))
        } else {
            Self::Plain(Recorder::failing(fails))
        }
    }

    async fn open(&self) -> Result<Database> {
        match self {
            Self::Plain(disk) => open(disk.clone()).await,
            Self::Logged(machine) => Database::open(Arc::new(machine.open()?), deadline()).await,
        }
    }

    fn calls(&self) -> usize {
        match self {
            Self::Plain(disk) => disk.calls(),
            Self::Logged(machine) => machine.calls(),
        }
    }

    fn image(&self) -> Contents {
        match self {
            Self::Plain(disk) => Contents::Plain(disk.image()),
            Self::Logged(machine) => Contents::Logged(machine.image()),
        }
    }

    fn after_crash(&self, call: usize, chance: &mut StdRng) -> Contents {
        match self {
            Self::Plain(disk) => Contents::Plain(disk.after_crash(call, chance)),
            Self::Logged(machine) => Contents::Logged(machine.after_crash(call, chance)),
        }
    }
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

async fn write(database: &Database, changes: &[Change]) -> Result<()> {
    let changes = Arc::new(changes.to_vec());
    let body = move |transaction: Arc<dyn Transaction>| {
        let changes = changes.clone();
        async move {
            for one in &*changes {
                change(&*transaction, one).await?;
            }
            Ok(Decision::Commit(()))
        }
        .boxed()
    };
    database.transact(deadline(), body).await.map(|_| ())
}

async fn change(transaction: &dyn Transaction, change: &Change) -> Result<()> {
    let document =
        |collection, id| DocumentKey::new(collection, DocumentId::Integer(id)).map(Arc::new);
    let root = Path::default();
    match change {
        Change::Put(collection, id, json) => {
            let leaves = Leaves::from_json(json)?;
            let document = document(*collection, *id)?;
            put(
                transaction,
                &Budget::of_background(),
                &document,
                &leaves,
                Existing::Replace,
            )
            .await?;
        }
        Change::Delete(collection, id) => {
            delete(
                transaction,
                &Budget::of_background(),
                &document(*collection, *id)?,
                &root,
            )
            .await?;
        }
        Change::Append(number) => {
            let append = format!(r#"[{{"op":"add","path":"/-","value":{number}}}]"#);
            let operations = parse(&append.into())?;
            patch(
                transaction,
                &Budget::of_background(),
                &document(ARRAY, 0)?,
                &root,
                &operations,
                MissingParents::Fail,
            )
            .await?;
        }
        Change::RemoveFirst => {
            delete(
                transaction,
                &Budget::of_background(),
                &document(ARRAY, 0)?,
                &Path::pointer("/0")?,
            )
            .await?;
        }
    }
    Ok(())
}

/// All documents. Asserts that a check finds nothing.
async fn state(database: &Database, case: &str) -> State {
    let snapshot = database.snapshot().await.expect("it serves");
    let mut check = Check::new(&snapshot, None);
    let found = check.next_finding().await.expect("readable");
    assert!(found.is_none(), "{case}: {found:?}");
    let mut state = State::new();
    for collection in collections(&*snapshot).await.expect("readable") {
        let mut scan = Scan::new(snapshot.clone(), &collection.name);
        while let Some(document) = scan.next().await.expect("readable") {
            let document = document.expect("no other program writes here");
            let DocumentId::Integer(id) = document.id else {
                panic!("{case}: another id: {:?}", document.id);
            };
            let json = String::from_utf8(document.json).expect("UTF-8");
            state.insert((collection.name.clone(), id), json);
        }
    }
    assert_eq!(check.summary().documents, state.len() as u64, "{case}");
    state
}

/// Asserts that a prefix of the history is stored, and returns its length.
async fn committed(database: &Database, history: &History, case: &str) -> usize {
    let found = state(database, case).await;
    let after = history.states.iter().position(|state| *state == found);
    after.unwrap_or_else(|| panic!("{case}: no transaction left this: {found:?}"))
}

#[tokio::test]
async fn crashes_at_any_moment_lose_no_document_and_leave_no_partial_one() {
    crashes_at_any_moment(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crashes_at_any_moment_with_a_log_lose_no_document_and_leave_no_partial_one() {
    crashes_at_any_moment(true).await;
}

async fn crashes_at_any_moment(logged: bool) {
    let first = crate::seed::test_seed();
    for seed in (0..SEEDS).map(|seed| first.wrapping_add(seed)) {
        let chance = &mut chance(seed);
        let history = History::new(chance, 24);
        let disk = Recorded::new(logged);
        let (begun, acknowledged) = run(&history, &disk, chance).await;
        let before = |moments: &[usize], call| moments.iter().filter(|at| **at <= call).count();
        for crash in 0..CRASHES {
            let call = chance.random_range(0..=disk.calls());
            let case = format!("seed {seed}, crash {crash}, before the call {call}");
            let found = disk.after_crash(call, chance);
            let least = before(&acknowledged, call);
            let most = before(&begun, call);
            recovers(found, &history, least..=most, chance, &case).await;
        }
    }
}

/// Runs a history, with some concurrent transactions. Returns for each the number of disk calls
/// before it began, and before it was acknowledged.
async fn run(history: &History, disk: &Recorded, chance: &mut StdRng) -> (Vec<usize>, Vec<usize>) {
    let database = disk.open().await.expect("a new store");
    let (mut begun, mut acknowledged) = (Vec::new(), Vec::new());
    let mut rest = &history.transactions[..];
    while !rest.is_empty() {
        let (round, behind) = rest.split_at(chance.random_range(1..5).min(rest.len()));
        begun.extend(vec![disk.calls(); round.len()]);
        let writes = round.iter().map(|changes| async {
            write(&database, changes).await.expect("committed");
            disk.calls()
        });
        acknowledged.extend(join_all(writes).await);
        rest = behind;
    }
    (begun, acknowledged)
}

/// Opens the contents after a crash, and after a second crash during recovery.
async fn recovers(
    found: Contents,
    history: &History,
    bounds: RangeInclusive<usize>,
    chance: &mut StdRng,
    case: &str,
) {
    let disk = Recorded::holding(found);
    let Some(database) = reopened(&disk, &bounds, case).await else {
        return;
    };
    let there = committed(&database, history, case).await;
    assert!(bounds.contains(&there), "{case}: {there} of {bounds:?}");
    let opened = disk.calls();
    let again = disk.after_crash(chance.random_range(0..=opened), chance);
    let more = [Change::Put("D", 9, "1".to_owned())];
    write(&database, &more).await.expect("it continues");
    state(&database, case).await;
    drop(database);

    let case = format!("{case}, and again");
    let disk = Recorded::holding(again);
    if let Some(database) = reopened(&disk, &bounds, &case).await {
        let again = committed(&database, history, &case).await;
        assert_eq!(again, there, "{case}");
    }
}

/// Opens the database on a disk. `None` if it is rejected, which is allowed before it was created
/// completely.
async fn reopened(disk: &Recorded, bounds: &RangeInclusive<usize>, case: &str) -> Option<Database> {
    match disk.open().await {
        Ok(database) => Some(database),
        Err(error) => {
            assert_eq!(*bounds.start(), 0, "{case}: {error}");
            assert_unavailable::<()>(Err(error));
            None
        }
    }
}

#[tokio::test]
async fn any_failing_disk_call_loses_no_document_and_stops_writes() {
    any_failing_disk_call(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn any_failing_disk_call_of_a_store_with_a_log_loses_no_document() {
    any_failing_disk_call(true).await;
}

async fn any_failing_disk_call(logged: bool) {
    let seed = crate::seed::test_seed();
    let chance = &mut chance(seed);
    let history = History::new(chance, 12);
    let disk = Recorded::new(logged);
    let database = disk.open().await.expect("a new store");
    for changes in &history.transactions {
        write(&database, changes).await.expect("committed");
    }
    let calls = disk.calls();
    drop(database);
    println!("{calls} calls");
    for call in 0..calls {
        let for_good = chance.random_bool(0.5);
        let fails = Failing { call, for_good };
        let case = format!("seed {seed}, {fails:?}");
        let disk = Recorded::failing(logged, fails);
        let acknowledged = until_it_fails(&disk, &history, &case).await;
        let found = [disk.image(), disk.after_crash(disk.calls(), chance)];
        for (found, whole) in found.into_iter().zip([true, false]) {
            let case = format!("{case}, {acknowledged} acknowledged, no crash: {whole}");
            let bounds = acknowledged..=acknowledged + 1;
            recovers(found, &history, bounds, chance, &case).await;
        }
    }
}

/// Runs a history sequentially until the disk fails. Returns the number of acknowledged
/// transactions.
async fn until_it_fails(disk: &Recorded, history: &History, case: &str) -> usize {
    let database = match disk.open().await {
        Ok(database) => database,
        Err(error) => {
            assert_not_acknowledged::<()>(Err(error));
            return 0;
        }
    };
    let mut acknowledged = 0;
    let mut failed = None;
    for changes in &history.transactions {
        let mut written = write(&database, changes).await;
        if let Err(error) = &written
            && error.message().contains("nothing was changed")
        {
            // Space could not be allocated: the transaction can be repeated.
            written = write(&database, changes).await;
            if written
                .as_ref()
                .is_err_and(|error| error.message().contains("nothing was changed"))
            {
                return acknowledged;
            }
        }
        match written {
            Ok(()) if failed.is_none() => acknowledged += 1,
            Ok(()) => panic!("{case}: it writes on after {failed:?}"),
            Err(error) => {
                let told = format!("{error}");
                assert_not_acknowledged::<()>(Err(error));
                assert!(told.contains("until it is reopened"), "{case}: {told}");
                failed = Some(told);
            }
        }
    }
    if failed.is_some() {
        assert_unavailable(database.store().ready().await);
        assert_unavailable(database.snapshot().await.map(|_| ()));
        let reason = database.store().failed().await;
        assert!(reason.detail().is_some_and(|detail| !detail.is_empty()));
    }
    acknowledged
}

#[tokio::test]
async fn a_full_disk_loses_no_document_and_leaves_no_partial_one() {
    let seed = crate::seed::test_seed();
    let chance = &mut chance(seed);
    let history = History::new(chance, 400);
    for round in 0..6 {
        let disk = Disk::new();
        let database = open(disk.clone()).await.expect("a new store");
        if round % 2 == 0 {
            disk.fill();
        }
        disk.take_only(chance.random_range(0..3_000_000));
        let mut acknowledged = 0;
        let error = loop {
            let changes = history.transactions.get(acknowledged);
            match write(&database, changes.expect("the disk is full by now")).await {
                Ok(()) => acknowledged += 1,
                Err(error) => break error,
            }
        };
        let case = format!("seed {seed}, round {round}, {acknowledged} acknowledged: {error}");
        assert_not_acknowledged::<()>(Err(error));
        assert_unavailable(write(&database, &history.transactions[0]).await);
        drop(database);
        for found in [disk.copy(), disk.after_crash(chance)] {
            let database = open(found).await.expect("there is room again");
            let there = committed(&database, &history, &case).await;
            let bounds = acknowledged..=acknowledged + 1;
            assert!(bounds.contains(&there), "{case}: {there}");
        }
    }
}

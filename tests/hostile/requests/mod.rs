//! Random hostile requests.

mod filters;
mod lists;
mod parts;
mod references;
pub(crate) mod responses;
mod typed;
mod writes;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::client::{body, get, post};
use super::templates::Template;

/// Generates requests, deterministically for a seed.
pub(crate) struct Maker {
    pub(crate) random: StdRng,
    client: usize,
    families: Vec<(&'static str, AnyFamily)>,
}

/// Generates an operation.
type Family = fn(&mut Maker) -> Operation;

/// A family whose operations differ, or the one operation of a template.
#[derive(Clone)]
enum AnyFamily {
    Generated(Family),
    Template(Operation),
}

/// An operation, or the expensive part of a mutation.
#[derive(Clone, Default)]
pub(crate) struct Operation {
    /// The declarations of its variables.
    declared: String,
    fields: String,
    fragments: String,
    /// The members of its variables, as JSON.
    variables: String,
    mutation: bool,
    /// Whether it starts an index build.
    builds: bool,
}

/// A request as bytes.
pub(crate) struct Request {
    pub(crate) family: &'static str,
    /// Its beginning, for messages.
    pub(crate) told: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: Kind,
}

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Query,
    /// It commits if it has no error, and then counts in the ledger.
    Mutation {
        /// Whether it always fails at the end.
        aborted: bool,
        /// Whether it starts an index build.
        builds: bool,
    },
}

/// The bytes of a request that messages show.
const TOLD_BYTES: usize = 240;
/// The maximum length of a URL that fits in a request head.
const URL_BYTES_MAX: usize = 6 << 10;
/// The maximum size of a batch, below the limit of a body.
const BATCH_BYTES_MAX: usize = 3 << 20;

impl Maker {
    /// Creates a generator for one client. It uses the families whose names contain one of these
    /// words. Each template of a query or a mutation is a family.
    pub(crate) fn new(seed: u64, client: usize, words: &[String], templates: &[Template]) -> Self {
        let generated = [
            filters::FAMILIES,
            lists::FAMILIES,
            parts::FAMILIES,
            references::FAMILIES,
            responses::FAMILIES,
            typed::FAMILIES,
            writes::FAMILIES,
        ]
        .concat();
        let wanted =
            |name: &str| words.is_empty() || words.iter().any(|word| name.contains(&**word));
        let generated = generated
            .into_iter()
            .map(|(name, family)| (name, AnyFamily::Generated(family)));
        let templates = templates.iter().filter_map(|template| {
            let operation = Operation::of(template)?;
            Some((template.name, AnyFamily::Template(operation)))
        });
        let all = generated.chain(templates);
        let families: Vec<_> = all.filter(|(name, _)| wanted(name)).collect();
        assert!(!families.is_empty(), "no family is called {words:?}");
        Self {
            random: StdRng::seed_from_u64(seed.wrapping_add(client as u64)),
            client,
            families,
        }
    }

    /// The next request.
    pub(crate) fn request(&mut self) -> Request {
        let (family, operation) = self.operation();
        if operation.mutation {
            return self.mutation(family, operation);
        }
        let (query, variables) = (operation.query(), operation.variables());
        let told = told(&query, &variables);
        let mut request = Request {
            family,
            told,
            bytes: Vec::new(),
            kind: Kind::Query,
        };
        if variables == "{}" && self.chance(4) {
            let bytes = get(&query);
            if bytes.len() <= URL_BYTES_MAX {
                request.bytes = bytes;
                return request;
            }
        }
        let mut bodies = vec![body(&query, &variables)];
        if self.chance(8) {
            for _ in 0..self.random.random_range(1..8) {
                let (_, more) = self.operation();
                if !more.mutation {
                    bodies.push(body(&more.query(), &more.variables()));
                }
            }
        }
        let length: usize = bodies.iter().map(String::len).sum();
        request.bytes = if bodies.len() > 1 && length <= BATCH_BYTES_MAX {
            request.told.insert_str(0, "a batch that begins with ");
            post(&format!("[{}]", bodies.join(",")))
        } else {
            post(&bodies[0])
        };
        request
    }

    fn operation(&mut self) -> (&'static str, Operation) {
        let (name, family) = self.families.choose(&mut self.random).expect("some");
        let (name, family) = (*name, family.clone());
        let operation = match family {
            AnyFamily::Generated(family) => family(self),
            AnyFamily::Template(operation) => operation,
        };
        (name, operation)
    }

    /// A mutation that also counts in the ledger, and may fail in its last field.
    fn mutation(&mut self, family: &'static str, mut operation: Operation) -> Request {
        let aborted = self.chance(5);
        let id = format!("c{}", self.client);
        let mark = format!(
            " mark: incrementDocument(collection: \"ledger\", id: \"{id}\", path: \"/n\") {{ key }}"
        );
        operation.fields += &mark;
        if aborted {
            let fails = format!(
                " fails: insertDocument(collection: \"ledger\", id: \"{id}\", document: 1) {{ key }}"
            );
            operation.fields += &fails;
        }
        let (builds, query, variables) =
            (operation.builds, operation.query(), operation.variables());
        Request {
            family,
            told: told(&query, &variables),
            bytes: post(&body(&query, &variables)),
            kind: Kind::Mutation { aborted, builds },
        }
    }

    /// True once in so many times on average.
    fn chance(&mut self, times: u32) -> bool {
        self.random.random_ratio(1, times)
    }

    /// A number up to a maximum, which it is half of the time.
    fn large(&mut self, most: usize) -> usize {
        if self.random.random() {
            return most;
        }
        self.random.random_range(1..=most)
    }

    fn one_of<T: Copy>(&mut self, several: &[T]) -> T {
        *several.choose(&mut self.random).expect("there are several")
    }
}

impl Operation {
    /// A query without variables.
    fn query_of(fields: String) -> Self {
        Self {
            fields,
            ..Self::default()
        }
    }

    /// The operation of a template; none if it is a subscription.
    fn of(template: &Template) -> Option<Self> {
        let text = template.query.trim();
        if text.starts_with("subscription") {
            return None;
        }
        let (head, rest) = text.split_once('{').expect("a selection");
        let fields = rest.strip_suffix('}').expect("the end of the selection");
        let declared = head.split_once('(').map(|(_, declared)| declared.trim());
        let declared = declared.and_then(|declared| declared.strip_suffix(')'));
        let variables = template.variables.to_string();
        Some(Self {
            declared: declared.unwrap_or_default().to_owned(),
            fields: fields.to_owned(),
            fragments: String::new(),
            variables: variables[1..variables.len() - 1].to_owned(),
            mutation: head.starts_with("mutation"),
            builds: fields.contains("createIndex"),
        })
    }

    fn query(&self) -> String {
        let ty = if self.mutation { "mutation" } else { "query" };
        let declared = match &*self.declared {
            "" => String::new(),
            declared => format!("({declared})"),
        };
        format!("{ty}{declared} {{ {} }} {}", self.fields, self.fragments)
    }

    fn variables(&self) -> String {
        format!("{{{}}}", self.variables)
    }
}

fn told(query: &str, variables: &str) -> String {
    let begin = |text: &str| text.chars().take(TOLD_BYTES).collect::<String>();
    format!(
        "{} with {} ({} and {} bytes)",
        begin(query),
        begin(variables),
        query.len(),
        variables.len()
    )
}

/// Repeats a text and replaces `#` with the number of the repetition.
pub(crate) fn repeated(count: usize, text: &str) -> String {
    (0..count)
        .map(|at| text.replace('#', &at.to_string()))
        .collect()
}

//! Whether a filter is always true, so that every document of any collection passes it.
//!
//! The filter becomes a formula over atoms. An atom is that a place exists, that its value equals a
//! value, or another condition that is true or false depending on the document. The formula is valid
//! if it is true for every assignment of the atoms. The search tries one atom after another and ends
//! at the first assignment for which the formula is false.

use super::{Condition, Filter, Test};
use crate::budget::Steps;
use crate::document::jsonpath::Query;
use crate::document::tree::{Tree, equal_within};
use crate::error::Result;

/// The number of atoms that are compared with each other. Later ones are taken to be different.
const COMPARED_MAX: usize = 64;
/// The work of a search. A filter that needs more counts as always true.
const SEARCH_STEPS_MAX: u64 = 1 << 22;

/// A condition that is true or false depending on the document.
#[derive(Clone, Copy)]
enum Atom<'f> {
    /// A path of names and indexes selects a value.
    Exists(&'f Query),
    /// The value at a path of names and indexes equals this one.
    Equal(&'f Query, &'f Tree),
    /// The value at a path of names and indexes passes a test.
    Passes(&'f Query, &'f Test),
    /// Any other condition.
    Holds(&'f Condition),
}

enum Formula {
    Constant(bool),
    /// The atom with this number.
    Atom(usize),
    Not(Box<Formula>),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

impl Filter {
    /// Whether every document passes the filter, whatever it contains. A filter for which the
    /// decision takes too long counts as always true.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn is_always_true(&self, steps: &Steps<'_>) -> Result<bool> {
        let mut atoms = Vec::new();
        let formula = formula(self, &mut atoms, steps)?;
        let mut search = CounterexampleSearch {
            values: vec![None; atoms.len()],
            atoms,
            work: 0,
            steps,
        };
        for value in [false, true] {
            if !search.holds_for(&formula, value)? {
                return Ok(false);
            }
        }
        search.is_valid(&formula)
    }
}

/// Converts a filter. Its levels bound the recursion.
fn formula<'f>(
    filter: &'f Filter,
    atoms: &mut Vec<Atom<'f>>,
    steps: &Steps<'_>,
) -> Result<Formula> {
    steps.spend(1)?;
    let parts = |parts: &'f [Filter], atoms: &mut Vec<Atom<'f>>| {
        let parts = parts.iter().map(|part| formula(part, atoms, steps));
        parts.collect::<Result<Vec<_>>>()
    };
    Ok(match filter {
        Filter::All(filters) => Formula::All(parts(filters, atoms)?),
        Filter::Any(filters) => Formula::Any(parts(filters, atoms)?),
        Filter::Not(filter) => Formula::Not(Box::new(formula(filter, atoms, steps)?)),
        Filter::Where(condition) => of_condition(condition, atoms, steps)?,
    })
}

fn of_condition<'f>(
    condition: &'f Condition,
    atoms: &mut Vec<Atom<'f>>,
    steps: &Steps<'_>,
) -> Result<Formula> {
    let Condition { at, tests } = condition;
    let is_empty_list = |test: &Test| matches!(test, Test::In(values) if values.is_empty());
    if tests.iter().any(is_empty_list) {
        return Ok(Formula::Constant(false));
    }
    let mut atom = |atom| number_of(atom, atoms, steps).map(Formula::Atom);
    let Some(place) = at.place() else {
        return atom(Atom::Holds(condition));
    };
    let mut parts = Vec::with_capacity(1 + tests.len());
    if !place.is_empty() {
        parts.push(atom(Atom::Exists(at))?);
    }
    for test in tests {
        parts.push(match test {
            Test::Equal(value) => atom(Atom::Equal(at, value))?,
            Test::NotEqual(value) => Formula::Not(Box::new(atom(Atom::Equal(at, value))?)),
            Test::In(values) => {
                let equal = values.iter().map(|value| atom(Atom::Equal(at, value)));
                Formula::Any(equal.collect::<Result<_>>()?)
            }
            test => atom(Atom::Passes(at, test))?,
        });
    }
    Ok(Formula::All(parts))
}

/// The number of an atom. Equal atoms have the same one.
fn number_of<'f>(atom: Atom<'f>, atoms: &mut Vec<Atom<'f>>, steps: &Steps<'_>) -> Result<usize> {
    for (number, known) in atoms.iter().take(COMPARED_MAX).enumerate() {
        if is_same(&atom, known, steps)? {
            return Ok(number);
        }
    }
    atoms.push(atom);
    Ok(atoms.len() - 1)
}

fn is_same(a: &Atom<'_>, b: &Atom<'_>, steps: &Steps<'_>) -> Result<bool> {
    steps.spend(1)?;
    Ok(match (a, b) {
        (Atom::Exists(a), Atom::Exists(b)) => a.place() == b.place(),
        (Atom::Equal(a, value), Atom::Equal(b, other)) => {
            a.place() == b.place() && equal_within(value, other, &mut |work| steps.spend(work))?
        }
        (Atom::Passes(a, test), Atom::Passes(b, other)) => a.place() == b.place() && test == other,
        (Atom::Holds(a), Atom::Holds(b)) => a == b,
        _ => false,
    })
}

struct CounterexampleSearch<'f, 's> {
    atoms: Vec<Atom<'f>>,
    /// The value of each atom that has one.
    values: Vec<Option<bool>>,
    work: u64,
    steps: &'s Steps<'s>,
}

impl CounterexampleSearch<'_, '_> {
    /// Whether the formula is true if all atoms have this value, as far as they can. Most formulas that
    /// are not valid are false for one of the two values, which saves a long search.
    fn holds_for(&mut self, formula: &Formula, value: bool) -> Result<bool> {
        for atom in 0..self.atoms.len() {
            self.values[atom] = Some(value && !self.is_excluded(atom));
        }
        self.steps.spend(self.atoms.len() as u64)?;
        let holds = self.value(formula) != Ok(false);
        self.values.fill(None);
        Ok(holds)
    }

    /// Whether the formula is true for all values of the atoms that have none. The number of atoms
    /// bounds the recursion.
    fn is_valid(&mut self, formula: &Formula) -> Result<bool> {
        let before = self.work;
        let atom = match self.value(formula) {
            Ok(value) => return Ok(value),
            Err(atom) => atom,
        };
        self.steps.spend(self.work - before)?;
        if self.work > SEARCH_STEPS_MAX {
            return Ok(true);
        }
        for value in [false, true] {
            if value && self.is_excluded(atom) {
                continue;
            }
            self.values[atom] = Some(value);
            if !self.is_valid(formula)? {
                return Ok(false);
            }
        }
        self.values[atom] = None;
        Ok(true)
    }

    /// The value of a formula, or the first atom that it depends on and that has no value.
    fn value(&mut self, formula: &Formula) -> std::result::Result<bool, usize> {
        self.work += 1;
        match formula {
            Formula::Constant(value) => Ok(*value),
            Formula::Atom(atom) => self.values[*atom].ok_or(*atom),
            Formula::Not(part) => self.value(part).map(|value| !value),
            Formula::All(parts) => self.first(parts, false),
            Formula::Any(parts) => self.first(parts, true),
        }
    }

    /// `decisive` if a part has this value; else the first atom without a value, or the other value.
    fn first(&mut self, parts: &[Formula], decisive: bool) -> std::result::Result<bool, usize> {
        let mut unknown = None;
        for part in parts {
            match self.value(part) {
                Ok(value) if value == decisive => return Ok(decisive),
                Ok(_) => {}
                Err(atom) => unknown = unknown.or(Some(atom)),
            }
        }
        unknown.map_or(Ok(!decisive), Err)
    }

    /// Whether an atom is false because the value at its place equals another value.
    fn is_excluded(&self, atom: usize) -> bool {
        let Atom::Equal(at, _) = self.atoms[atom] else {
            return false;
        };
        let compared = self.atoms.iter().zip(&self.values).take(COMPARED_MAX);
        atom < COMPARED_MAX
            && compared.enumerate().any(|(other, (known, value))| {
                other != atom
                    && *value == Some(true)
                    && matches!(known, Atom::Equal(known, _) if known.place() == at.place())
            })
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::budget::Budget;
    use crate::document::filter::FilterValue;
    use crate::document::path::Segment;

    fn decided(json: &str) -> bool {
        let budget = Budget::of_background();
        let filter = Filter::from_json(json).expect(json);
        let decided = filter.is_always_true(&Steps::of(&budget));
        decided.expect("in budget")
    }

    #[test]
    fn filters_that_every_document_passes_are_always_true() {
        for json in [
            "{}",
            r#"{"all":[]}"#,
            r#"{"all":[{},{"all":[{}]}]}"#,
            r#"{"not":{"any":[]}}"#,
            r#"{"not":{"any":[{"any":[]},{"not":{}}]}}"#,
            r#"{"not":{"all":[{"any":[]},{"at":"$.a","eq":1}]}}"#,
            r#"{"any":[{},{"at":"$.a","eq":1}]}"#,
            r#"{"not":{"not":{}}}"#,
            r#"{"not":{"at":"$.a","in":[]}}"#,
            r#"{"at":"$","exists":true}"#,
            r#"{"any":[{"at":"$.a","exists":true},{"at":"$.a","exists":false}]}"#,
            r#"{"any":[{"at":"$.a","exists":true},{"at":"$['a']","exists":false}]}"#,
            r#"{"any":[{"at":"$","eq":1},{"at":"$","ne":1.0}]}"#,
            r#"{"any":[{"at":"$.a","exists":false},{"at":"$.a","eq":1},{"at":"$.a","ne":1}]}"#,
            r#"{"not":{"at":"$.a","eq":1,"ne":1}}"#,
            r#"{"not":{"all":[{"at":"$.a","eq":1},{"at":"$.a","eq":2}]}}"#,
            r#"{"any":[{"at":"$.a[*]","eq":1},{"not":{"at":"$.a[*]","eq":1}}]}"#,
            r#"{"any":[{"at":"$.a","lt":1},{"not":{"at":"$.a","lt":1}}]}"#,
        ] {
            assert!(decided(json), "{json}");
        }
    }

    #[test]
    fn filters_that_a_document_can_fail_are_not_always_true() {
        for json in [
            r#"{"any":[]}"#,
            r#"{"not":{}}"#,
            r#"{"at":"$.a","exists":true}"#,
            r#"{"at":"$.a","exists":false}"#,
            r#"{"at":"$.a","in":[]}"#,
            r#"{"at":"$.a","ne":1}"#,
            r#"{"at":"$","ne":1}"#,
            r#"{"not":{"at":"$.a","eq":1}}"#,
            r#"{"any":[{"at":"$.a","eq":1},{"at":"$.a","ne":1}]}"#,
            r#"{"any":[{"at":"$.a","exists":true},{"at":"$.b","exists":false}]}"#,
            r#"{"all":[{},{"not":{"at":"$.a","exists":true}}]}"#,
            r#"{"any":[{"at":"$.a[*]","eq":1},{"at":"$.a[*]","ne":1}]}"#,
        ] {
            assert!(!decided(json), "{json}");
        }
        let many = |part: &dyn Fn(usize) -> String, name: &str| {
            let parts: Vec<String> = (0..900).map(part).collect();
            format!("{{\"{name}\":[{}]}}", parts.join(","))
        };
        let equal = |at: usize| format!("{{\"at\":\"$.a\",\"eq\":{at}}}");
        let other = |at: usize| format!("{{\"not\":{{\"at\":\"$.a{at}\",\"eq\":1}}}}");
        assert!(!decided(&many(&equal, "any")));
        assert!(!decided(&many(&other, "any")));
        assert!(!decided(&many(&other, "all")));
    }

    /// Random filters over two members, whose values are those of [`documents`].
    fn random_filter(random: &mut StdRng, levels: u32) -> String {
        if levels == 0 || random.random_ratio(1, 4) {
            let leaves = [
                "{}",
                r#"{"any":[]}"#,
                r#"{"at":"$","exists":true}"#,
                r#"{"at":"$.a","exists":true}"#,
                r#"{"at":"$.b","exists":false}"#,
                r#"{"at":"$.a","eq":0}"#,
                r#"{"at":"$.a","eq":0.0}"#,
                r#"{"at":"$.a","ne":0}"#,
                r#"{"at":"$.a","eq":1}"#,
                r#"{"at":"$.b","in":[0,1]}"#,
                r#"{"at":"$.b","in":[]}"#,
                r#"{"at":"$.b","ne":1}"#,
            ];
            return (*leaves.choose(random).expect("some")).to_owned();
        }
        let name = ["all", "any", "not"].choose(random).expect("some");
        if *name == "not" {
            return format!("{{\"not\":{}}}", random_filter(random, levels - 1));
        }
        let count = random.random_range(0..4);
        let parts: Vec<String> = (0..count)
            .map(|_| random_filter(random, levels - 1))
            .collect();
        format!("{{\"{name}\":[{}]}}", parts.join(","))
    }

    /// One document for each case that the random filters can distinguish.
    fn documents() -> Vec<[Option<Tree>; 2]> {
        let values = ["", "0", "1", "2"].map(|json| Tree::from_json(json).ok());
        let pairs = values
            .iter()
            .flat_map(|a| values.iter().map(|b| [a.clone(), b.clone()]));
        pairs.collect()
    }

    fn holds(filter: &Filter, document: &[Option<Tree>; 2], steps: &Steps<'_>) -> bool {
        let stored = |place: &[Segment]| {
            let value = match place {
                [] => return FilterValue::Present,
                [Segment::Key(name)] if &**name == "a" => &document[0],
                _ => &document[1],
            };
            value
                .as_ref()
                .map_or(FilterValue::Absent, FilterValue::Value)
        };
        filter.holds(&stored, steps).expect("in budget")
    }

    #[test]
    fn random_filters_are_always_true_if_and_only_if_every_document_passes() {
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        let documents = documents();
        let mut random = StdRng::seed_from_u64(19);
        let mut always = 0;
        for _ in 0..20_000 {
            let json = random_filter(&mut random, 4);
            let filter = Filter::from_json(&json).expect(&json);
            let expected = documents
                .iter()
                .all(|document| holds(&filter, document, &steps));
            assert_eq!(decided(&json), expected, "{json}");
            always += usize::from(expected);
        }
        assert!((2_000..18_000).contains(&always), "{always}");
    }
}

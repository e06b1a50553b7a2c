//! The names of a collection's type and of its root fields.

use crate::document::leaf::abridged;
use crate::limits::GRAPHQL_NAME_BYTES_MAX;
use crate::types::{CollectionType, is_graphql_name};

/// The names of a collection in the schema.
pub(super) struct CollectionNames {
    /// The type of its documents: `Country`.
    pub(super) ty: String,
    /// The field that returns one of them: `country`.
    pub(super) one: String,
    /// The field that returns pages of them: `countries`.
    pub(super) many: String,
}

impl CollectionNames {
    /// The names of a collection with this type.
    ///
    /// # Errors
    /// Why it has none.
    pub(super) fn of(of: &CollectionType) -> Result<Self, String> {
        let root = of.root();
        let given = root.graphql_name.as_deref().map(str::to_owned);
        let plural = root.graphql_plural.as_deref().map(str::to_owned);
        let mut both = given.iter().chain(&plural);
        if let Some(long) = both.find(|given| !is_usable(given)) {
            return Err(too_long(long));
        }
        let title = root.title.as_deref().map(pascal_case);
        let candidates = [given, title, Some(singular(&pascal_case(of.collection())))];
        let ty = candidates.into_iter().flatten().find(|it| is_usable(it)).ok_or_else(|| {
            format!(
                "the name of the collection {:?} makes no name of GraphQL: give its type one in the schema, \
                 such as \"x-graphql\": {{\"name\": \"Country\", \"plural\": \"countries\"}}",
                abridged(of.collection())
            )
        })?;
        let one = decapitalized(&ty);
        let collection = decapitalized(&pascal_case(of.collection()));
        let collection = (collection != one).then_some(collection);
        let candidates = [plural, collection, Some(plural_of(&one))];
        let many = candidates
            .into_iter()
            .flatten()
            .find(|it| is_usable(it))
            .unwrap_or_else(|| format!("{one}List"));
        Ok(Self { ty, one, many })
    }
}

/// Why a name is not usable.
pub(super) fn too_long(name: &str) -> String {
    format!(
        "the name {:?} has {} bytes; the limit is {GRAPHQL_NAME_BYTES_MAX}",
        abridged(name),
        name.len()
    )
}

/// Whether a name is one of GraphQL, and not too long.
pub(super) fn is_usable(name: &str) -> bool {
    is_graphql_name(name) && name.len() <= GRAPHQL_NAME_BYTES_MAX
}

/// The letters and digits of a text, each word with a capital.
pub(super) fn pascal_case(text: &str) -> String {
    let mut name = String::new();
    let mut begins = true;
    // Longer names are not usable.
    for character in text.chars().take(2 * GRAPHQL_NAME_BYTES_MAX) {
        if !character.is_ascii_alphanumeric() {
            begins = true;
            continue;
        }
        name.push(if begins {
            character.to_ascii_uppercase()
        } else {
            character
        });
        begins = false;
    }
    name
}

fn decapitalized(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

/// Endings after which English plurals have `es`.
const SIBILANTS: [&str; 5] = ["s", "x", "z", "ch", "sh"];

/// The singular of a word by the common rules of English. A title or a given name is better.
fn singular(word: &str) -> String {
    let singular = if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    } else if let Some(stem) = word.strip_suffix("es")
        && ["ss", "x", "ch", "sh", "zz"]
            .iter()
            .any(|end| stem.ends_with(end))
        && stem.len() > 2
    {
        stem
    } else if ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word
    } else {
        word.strip_suffix('s')
            .filter(|stem| !stem.is_empty())
            .unwrap_or(word)
    };
    singular.to_owned()
}

fn plural_of(word: &str) -> String {
    let vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    if let Some(stem) = word
        .strip_suffix('y')
        .filter(|stem| !stem.is_empty() && !vowel(stem))
    {
        return format!("{stem}ies");
    }
    if SIBILANTS.iter().any(|end| word.ends_with(end)) {
        return format!("{word}es");
    }
    format!("{word}s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, Steps};

    fn names(collection: &str, schema: &str) -> Result<[String; 3], String> {
        let budget = Budget::of_background();
        let of = CollectionType::parse(collection, schema, &Steps::of(&budget));
        let CollectionNames { ty, one, many } = CollectionNames::of(&of.expect(schema))?;
        Ok([ty, one, many])
    }

    #[test]
    fn names_come_from_the_annotations_or_the_collection() {
        for (collection, schema, expected) in [
            ("countries", "{}", ["Country", "country", "countries"]),
            ("boxes", "{}", ["Box", "box", "boxes"]),
            ("addresses", "{}", ["Address", "address", "addresses"]),
            ("houses", "{}", ["House", "house", "houses"]),
            ("status", "{}", ["Status", "status", "statuses"]),
            ("D", "{}", ["D", "d", "ds"]),
            ("s", "{}", ["S", "s", "ses"]),
            (
                "bug-reports",
                "{}",
                ["BugReport", "bugReport", "bugReports"],
            ),
            ("country", "{}", ["Country", "country", "countries"]),
            ("day", "{}", ["Day", "day", "days"]),
            (
                "日本",
                r#"{"title": "Place in Japan"}"#,
                ["PlaceInJapan", "placeInJapan", "placeInJapans"],
            ),
            (
                "people",
                r#"{"title": "Person"}"#,
                ["Person", "person", "people"],
            ),
            (
                "x",
                r#"{"title": "Person", "x-graphql": {"name": "human", "plural": "humanity"}}"#,
                ["human", "human", "humanity"],
            ),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(
                names(collection, schema),
                Ok(expected),
                "{collection} {schema}"
            );
        }
    }

    #[test]
    fn collections_without_letters_need_a_name() {
        for collection in ["日本", "1st", "-", &"a".repeat(GRAPHQL_NAME_BYTES_MAX + 1)] {
            let error = names(collection, "{}").expect_err(collection);
            assert!(error.contains("x-graphql"), "{error}");
        }
    }
}

//! Names of GraphQL for members that have others.

use std::collections::HashSet;

pub(super) use crate::types::parse::{FIELDS_OF_DOCUMENT, is_graphql_name as is_name};

/// The names of the fields of one object type that are taken.
pub(super) struct FieldNames(HashSet<String>);

impl FieldNames {
    /// Of an object whose members have these names.
    pub(super) fn of<'n>(members: impl Iterator<Item = &'n String>, is_document: bool) -> Self {
        let mut names: HashSet<String> = members.filter(|name| is_name(name)).cloned().collect();
        if is_document {
            names.extend(FIELDS_OF_DOCUMENT.map(str::to_owned));
        }
        Self(names)
    }

    /// The field of a member, if it has to be another name.
    pub(super) fn other_name(&mut self, member: &str, is_document: bool) -> Option<String> {
        let is_taken = is_document && FIELDS_OF_DOCUMENT.contains(&member);
        if is_name(member) && !is_taken {
            return None;
        }
        let proposed = camel_case(member);
        let mut name = proposed.clone();
        let mut number = 1;
        while !self.0.insert(name.clone()) {
            number += 1;
            name = format!("{proposed}_{number}");
        }
        Some(name)
    }
}

/// The letters and digits of a text, with a capital where others were between.
fn camel_case(text: &str) -> String {
    let mut name = String::new();
    let mut is_behind_other = false;
    for character in text.chars() {
        if !character.is_ascii_alphanumeric() {
            is_behind_other = !name.is_empty();
            continue;
        }
        if name.is_empty() && character.is_ascii_digit() {
            name.push('_');
        }
        name.push(if is_behind_other {
            character.to_ascii_uppercase()
        } else {
            character
        });
        is_behind_other = false;
    }
    if name.is_empty() {
        return "member".to_owned();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_names_of_graphql_and_different() {
        let members = [
            "content-type",
            "contentType",
            "1st",
            "__compat",
            "id",
            "日本",
            "",
        ];
        let members: Vec<String> = members.map(str::to_owned).into();
        let mut names = FieldNames::of(members.iter(), true);
        let other: Vec<_> = members
            .iter()
            .map(|member| names.other_name(member, true))
            .collect();
        let expected = [
            Some("contentType_2"),
            None,
            Some("_1st"),
            Some("compat"),
            Some("id_2"),
            Some("member"),
            Some("member_2"),
        ];
        let expected: Vec<_> = expected.map(|it| it.map(str::to_owned)).into();
        assert_eq!(other, expected);
    }
}

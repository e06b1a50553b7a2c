//! Which source file imports which, read from `use` declarations and from paths in the code.
//!
//! A module that only re-exports a name does not count as its user, and a path through a re-export
//! leads to the file that defines the name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// The names of a module below the crate, outermost first. Empty: the crate's root.
pub(crate) type Module = Vec<String>;

/// The imports of all source files.
pub(crate) struct Imports {
    code: BTreeMap<Module, String>,
    reexports: BTreeMap<(Module, String), Module>,
}

/// A `use` declaration: whether it re-exports, and each path that it names.
struct Declaration {
    reexports: bool,
    paths: Vec<Vec<String>>,
}

impl Imports {
    /// The imports of these files, whose code has no comments.
    pub(crate) fn of<'f>(files: impl Iterator<Item = (&'f Path, &'f str)>) -> Self {
        let code = files.map(|(path, code)| (module(path), code.to_owned()));
        let mut imports = Self {
            code: code.collect(),
            reexports: BTreeMap::new(),
        };
        for (module, code) in &imports.code {
            let declarations = declarations(code).0;
            for path in declarations
                .into_iter()
                .filter(|it| it.reexports)
                .flat_map(|it| it.paths)
            {
                if let (Some(target), Some(name)) = (imports.absolute(module, &path), path.last()) {
                    imports
                        .reexports
                        .insert((module.clone(), name.clone()), target);
                }
            }
        }
        imports
    }

    /// The modules that a module uses, tests left out.
    pub(crate) fn used_by(&self, module: &Module) -> BTreeSet<Module> {
        let (declarations, rest) = declarations(&self.code[module]);
        let imported = declarations.into_iter().filter(|it| !it.reexports);
        let imported = imported.flat_map(|it| it.paths);
        let inline = paths(&rest);
        let targets = imported.chain(inline).filter_map(|path| {
            let target = self.absolute(module, &path)?;
            Some(self.definition(target))
        });
        targets
            .filter(|target| target != module && !is_test(target) && !target.is_empty())
            .collect()
    }

    /// All modules but tests.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &Module> {
        self.code.keys().filter(|module| !is_test(module))
    }

    /// A circle of modules that import each other; none if there is none.
    pub(crate) fn circle(&self) -> Option<Vec<Module>> {
        let mut done = BTreeSet::new();
        self.modules()
            .find_map(|module| self.circle_from(module, &mut Vec::new(), &mut done))
    }

    fn circle_from(
        &self,
        module: &Module,
        way: &mut Vec<Module>,
        done: &mut BTreeSet<Module>,
    ) -> Option<Vec<Module>> {
        if let Some(begin) = way.iter().position(|on_way| on_way == module) {
            return Some(way[begin..].to_vec());
        }
        if done.contains(module) {
            return None;
        }
        way.push(module.clone());
        let used = self.used_by(module);
        let circle = used
            .iter()
            .find_map(|used| self.circle_from(used, way, done));
        way.pop();
        done.insert(module.clone());
        circle
    }

    /// A path as one from the crate's root; none if it leads out of the crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (&module[..], &path[1..]),
            "super" => (
                module.get(..module.len().checked_sub(supers)?)?,
                &path[supers..],
            ),
            child => {
                let mut below = module.clone();
                below.push(child.to_owned());
                self.code
                    .contains_key(&below)
                    .then_some((&module[..], path))?
            }
        };
        Some([base, rest].concat())
    }

    /// The module that defines what an absolute path names.
    fn definition(&self, mut path: Vec<String>) -> Module {
        for _ in 0..8 {
            let is_module = |length: &usize| self.code.contains_key(&path[..*length]);
            let length = (0..=path.len()).rev().find(is_module).unwrap_or_default();
            let (module, rest) = path.split_at(length);
            let Some(name) = rest.first() else {
                return path;
            };
            let Some(target) = self.reexports.get(&(module.to_vec(), name.clone())) else {
                return module.to_vec();
            };
            path = [target, &rest[1..]].concat();
        }
        panic!("{path:?} is re-exported in a circle");
    }
}

fn is_test(module: &[String]) -> bool {
    module.last().is_some_and(|name| name == "tests")
}

fn module(path: &Path) -> Module {
    let below = path.with_extension("");
    let names = below.components().skip(1).filter_map(|name| match name {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    let mut names: Module = names.collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib")) {
        names.pop();
    }
    names
}

/// The `use` declarations at the beginning of lines, and the code without them.
fn declarations(code: &str) -> (Vec<Declaration>, String) {
    let code = code
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let (mut found, mut rest) = (Vec::new(), String::new());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let Some((visibility, begin)) = line.split_once("use ").filter(|(before, _)| {
            before.is_empty() || (before.starts_with("pub") && !before.contains("fn"))
        }) else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let mut text = begin.to_owned();
        while !text.contains(';') {
            text.push_str(lines.next().expect("the end of a declaration"));
        }
        let mut paths = Vec::new();
        expand(&[], text.split(';').next().unwrap_or_default(), &mut paths);
        found.push(Declaration {
            reexports: !visibility.is_empty(),
            paths,
        });
    }
    (found, rest)
}

/// The paths of a tree such as `a::{b, c::{d, e}}`.
fn expand(prefix: &[String], tree: &str, paths: &mut Vec<Vec<String>>) {
    let (head, inner) = match tree.split_once('{') {
        Some((head, inner)) => (head, inner.trim_end().strip_suffix('}')),
        None => (tree, None),
    };
    let head = head.split(" as ").next().unwrap_or_default();
    let names = head
        .split("::")
        .map(str::trim)
        .filter(|name| !name.is_empty() && *name != "*");
    let path: Vec<String> = prefix
        .iter()
        .cloned()
        .chain(names.map(str::to_owned))
        .collect();
    let Some(inner) = inner else {
        paths.push(path);
        return;
    };
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, character) in inner.char_indices().chain([(inner.len(), ',')]) {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[begin..at].trim().is_empty() {
                    expand(&path, &inner[begin..at], paths);
                }
                begin = at + 1;
            }
            _ => {}
        }
    }
}

/// The paths of several names in code.
fn paths(code: &str) -> Vec<Vec<String>> {
    let words = code.split(|next: char| !(next.is_alphanumeric() || next == '_' || next == ':'));
    let paths = words.filter(|word| word.contains("::") && !word.starts_with("::"));
    let names = paths.map(|path| path.split("::").map(str::to_owned).collect());
    names.collect()
}

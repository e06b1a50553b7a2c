//! Products of a shop, generated from their numbers: about thirty leaves and a kilobyte of JSON
//! each. Brands, categories and tags have a skewed distribution.

use std::fmt::Write as _;

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

const SEED: u64 = 0x5EED;
const DEPARTMENTS: [&str; 20] = [
    "Kitchen",
    "Garden",
    "Lighting",
    "Bathroom",
    "Office",
    "Toys",
    "Sports",
    "Camping",
    "Music",
    "Painting",
    "Sewing",
    "Baking",
    "Bicycles",
    "Cameras",
    "Storage",
    "Textiles",
    "Pets",
    "Workshop",
    "Stationery",
    "Travel",
];
const LINES: [&str; 8] = [
    "Basics",
    "Outdoor",
    "Children",
    "Professional",
    "Vintage",
    "Compact",
    "Replacement",
    "Premium",
];
const SHELVES: [&str; 6] = [
    "Small",
    "Medium",
    "Large",
    "Sets",
    "Accessories",
    "Spare parts",
];
const ADJECTIVES: [&str; 20] = [
    "Quiet",
    "Sturdy",
    "Folding",
    "Bright",
    "Slim",
    "Heavy",
    "Woven",
    "Brushed",
    "Plain",
    "MultiRange",
    "Nordic",
    "Double",
    "Little",
    "Grand",
    "Smart",
    "Soft",
    "Classic",
    "Modern",
    "Rustic",
    "Light",
];
const MATERIALS: [&str; 12] = [
    "Oak",
    "Steel",
    "Linen",
    "Glass",
    "Cork",
    "Copper",
    "Bamboo",
    "Wool",
    "Leather",
    "Marble",
    "Cotton",
    "Aluminium",
];
const THINGS: [&str; 24] = [
    "Kettle", "Lamp", "Stool", "Basket", "Board", "Knife", "Mug", "Rack", "Brush", "Tray", "Clock",
    "Frame", "Bench", "Hook", "Jar", "Bowl", "Tent", "Saddle", "Tripod", "Easel", "Spool", "Mat",
    "Case", "Shelf",
];
const COLOURS: [&str; 9] = [
    "black", "white", "red", "olive", "navy", "sand", "grey", "petrol", "natural",
];
const ORIGINS: [&str; 8] = ["PT", "DE", "IT", "SE", "PL", "VN", "IN", "CN"];
const WORDS: [&str; 48] = [
    "the",
    "a",
    "with",
    "and",
    "for",
    "its",
    "made",
    "from",
    "that",
    "keeps",
    "every",
    "day",
    "handle",
    "surface",
    "solid",
    "edges",
    "warm",
    "to",
    "touch",
    "easy",
    "clean",
    "lasts",
    "years",
    "of",
    "use",
    "small",
    "rooms",
    "large",
    "tables",
    "finished",
    "by",
    "hand",
    "in",
    "our",
    "workshop",
    "oiled",
    "twice",
    "safe",
    "dishwasher",
    "not",
    "suited",
    "café",
    "style",
    "fits",
    "standard",
    "sizes",
    "spare",
    "parts",
];
const TAGS: usize = 300;
const BRANDS: usize = 200;

/// One product.
pub(crate) struct Product {
    /// Unique for each product.
    pub(crate) slug: String,
    /// Its name.
    pub(crate) name: String,
    /// In cents.
    pub(crate) cents: u64,
    /// The id of its category.
    pub(crate) category: Category,
    /// The whole document.
    pub(crate) json: String,
}

/// A category of the lowest level.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Category {
    department: usize,
    line: usize,
    shelf: usize,
}

impl Category {
    /// All categories.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..DEPARTMENTS.len() * LINES.len() * SHELVES.len()).map(Self::new)
    }

    fn new(number: usize) -> Self {
        let (above, shelf) = (number / SHELVES.len(), number % SHELVES.len());
        Self {
            department: above / LINES.len(),
            line: above % LINES.len(),
            shelf,
        }
    }

    /// Its id.
    pub(crate) fn id(self) -> String {
        format!("{}-{:02}", self.parent_id(), self.shelf)
    }

    /// The id of its parent category.
    pub(crate) fn parent_id(self) -> String {
        format!("c-{:02}-{:02}", self.department, self.line)
    }

    /// The categories from the top down to this one.
    fn ancestors(self) -> String {
        let names = [
            (
                format!("c-{:02}", self.department),
                DEPARTMENTS[self.department],
            ),
            (self.parent_id(), LINES[self.line]),
            (self.id(), SHELVES[self.shelf]),
        ];
        let ancestors = names.iter().map(|(id, name)| {
            let slug = name.to_lowercase().replace(' ', "-");
            format!(r#"{{"_id":"{id}","name":"{name}","slug":"{slug}"}}"#)
        });
        ancestors.collect::<Vec<_>>().join(",")
    }
}

impl Product {
    /// Generates the product of this number deterministically.
    pub(crate) fn new(number: u64) -> Self {
        let random =
            &mut SmallRng::seed_from_u64(SEED ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let words = [&ADJECTIVES[..], &MATERIALS, &THINGS].map(|words| one_of(random, words));
        let name = words.join(" ");
        let slug = format!("{}-{number}", words.join("-").to_lowercase());
        let category = Category::new(skewed(
            random,
            DEPARTMENTS.len() * LINES.len() * SHELVES.len(),
        ));
        let cents = cents(random);
        let json = format!(
            r#"{{"sku":"P{number:09}","slug":"{slug}","name":"{name}","brand":"Brand {brand}","category":"{id}","ancestors":[{ancestors}],"price":{price},"currency":"EUR","tags":[{tags}],"stock":{{"count":{count},"warehouse":"W{warehouse}"}},"rating":{{"average":{average}.{tenth},"count":{ratings}}},"attributes":{{{attributes}}},"active":{active},"created":"20{year}-{month:02}-{day:02}T{hour:02}:30:00Z","description":"{description}"}}"#,
            brand = skewed(random, BRANDS),
            id = category.id(),
            ancestors = category.ancestors(),
            price = price(cents),
            tags = tags(random),
            count = skewed(random, 2_000),
            warehouse = random.random_range(1..=6),
            average = random.random_range(2..=4),
            tenth = random.random_range(1..=9),
            ratings = skewed(random, 5_000),
            attributes = attributes(random),
            active = random.random_bool(0.93),
            year = random.random_range(15..=25),
            month = random.random_range(1..=12),
            day = random.random_range(1..=28),
            hour = random.random_range(0..=23),
            description = description(random),
        );
        Self {
            slug,
            name,
            cents,
            category,
            json,
        }
    }

    /// The price as formatted in the JSON.
    pub(crate) fn price(&self) -> String {
        price(self.cents)
    }
}

fn price(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// From a few euros to several thousand, mostly between ten and fifty.
fn cents(random: &mut SmallRng) -> u64 {
    let bell: f64 = (0..6).map(|_| random.random_range(-0.7..0.7)).sum();
    let euros = (3.2 + bell).exp();
    let ending = *[99, 99, 99, 95, 49].choose(random).expect("some");
    (euros as u64) * 100 + ending
}

/// Returns an index below `count`. Small ones are much more frequent.
fn skewed(random: &mut SmallRng, count: usize) -> usize {
    let share: f64 = random.random();
    ((share * share * count as f64) as usize).min(count - 1)
}

fn one_of<'w>(random: &mut SmallRng, words: &[&'w str]) -> &'w str {
    words.choose(random).expect("not empty")
}

fn tags(random: &mut SmallRng) -> String {
    let count = random.random_range(1..=5);
    let tags = (0..count).map(|_| format!("\"tag-{}\"", skewed(random, TAGS)));
    tags.collect::<Vec<_>>().join(",")
}

/// A random set of attributes, including objects.
fn attributes(random: &mut SmallRng) -> String {
    let mut side = || random.random_range(4..120);
    let dimensions = format!(
        r#""dimensions":{{"width":{},"height":{},"depth":{}}}"#,
        side(),
        side(),
        side()
    );
    let attributes = [
        format!(r#""colour":"{}""#, one_of(random, &COLOURS)),
        format!(r#""material":"{}""#, one_of(random, &MATERIALS)),
        format!(r#""weight":{}"#, random.random_range(20..20_000)),
        dimensions,
        format!(r#""warranty":{}"#, random.random_range(1..=10)),
        format!(r#""origin":"{}""#, one_of(random, &ORIGINS)),
        format!(r#""washable":{}"#, random.random_bool(0.4)),
        format!(r#""pieces":{}"#, random.random_range(1..=12)),
    ];
    let count = random.random_range(2..=6);
    let mut chosen: Vec<&str> = attributes
        .choose_multiple(random, count)
        .map(|text| &**text)
        .collect();
    chosen.sort_unstable();
    chosen.join(",")
}

fn description(random: &mut SmallRng) -> String {
    let mut text = String::new();
    for _ in 0..random.random_range(40..=110) {
        let _infallible = write!(text, "{} ", one_of(random, &WORDS));
    }
    text.truncate(text.trim_end().len());
    text.push('.');
    text
}

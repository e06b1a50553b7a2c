// The data of `phyllo sample`. The documents are files that are loaded when they are asked for. `build.mjs` knows
// where they are.
import countries from 'sample/countries.ndjson';
import countryType from 'sample/countries.schema.json';
import guides from 'sample/guides.ndjson';
import guideType from 'sample/guides.schema.json';

/** The names of the files are relative to this module, not to the page. */
const fileOf = (name: string) => new URL(name, import.meta.url).href;

export const SAMPLES = [
  { collection: 'countries', url: fileOf(countries), schema: countryType },
  { collection: 'guides', url: fileOf(guides), schema: guideType },
];

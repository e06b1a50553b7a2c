// The files of `phyllo sample`, loaded when they are asked for. `build.mjs` knows where they are.
import countries from 'sample/countries.ndjson';
import guides from 'sample/guides.ndjson';

/** The names of the files are relative to this module, not to the page. */
const fileOf = (name: string) => new URL(name, import.meta.url).href;

export const SAMPLES = [
  { collection: 'countries', url: fileOf(countries) },
  { collection: 'guides', url: fileOf(guides) },
];

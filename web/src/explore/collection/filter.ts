// The conditions of the filter builder, as a filter of the API and as a query.
import { formatJson, jsonMistake, RawJson } from '../../api/json';
import type { DocumentFilter, DocumentOrder, JsonKind } from '../../api/generated';
import { jsonPathOf, type Path } from '../place';

export type Operator = keyof typeof OPERATORS;

/** In words. `any case` is no operator of the API: it becomes a regular expression. */
export const OPERATORS = {
  eq: 'is',
  ne: 'is not',
  lt: '<',
  lte: '≤',
  gt: '>',
  gte: '≥',
  startsWith: 'begins with',
  contains: 'contains',
  containsAnyCase: 'contains, any case',
  exists: 'exists',
  missing: 'is missing',
} as const;

export interface Condition {
  /** JSONPath. */
  at: string;
  operator: Operator;
  /** As it was typed. */
  value: string;
}

export interface Search {
  conditions: readonly Condition[];
  match: 'all' | 'any';
  /** What some string of a document contains, in any case; empty if it is not searched for. */
  text: string;
}

export interface Order {
  /** Null for the key of the document. */
  by: Path | null;
  descending: boolean;
}

/** A path as it is meant: without a root, it is of the whole document, as the names of the columns are. */
export function rooted(at: string): string {
  if (at === '' || at.startsWith('$')) return at;
  return at.startsWith('[') || at.startsWith('.') ? `$${at}` : `$.${at}`;
}

export const NO_SEARCH: Search = { conditions: [], match: 'all', text: '' };

export const isSearching = ({ conditions, text }: Search) => conditions.length > 0 || text !== '';

export const hasValue = (operator: Operator) => operator !== 'exists' && operator !== 'missing';
/** A choice of values fits them. */
export const COMPARES_WHOLE: readonly Operator[] = ['eq', 'ne'];
const isOnText = (operator: Operator) => ['startsWith', 'contains', 'containsAnyCase'].includes(operator);

/**
 * The JSON that was typed: text without quotation marks is a string, and so is everything at a path at
 * which only strings were seen, or that is compared as text.
 */
export function literalOf({ operator, value }: Condition, kinds: readonly JsonKind[]): string {
  if (value === 'null' && kinds.includes('NULL') && !isOnText(operator)) return value;
  const some = kinds.filter((kind) => kind !== 'NULL');
  const strings = isOnText(operator) || (some.length > 0 && some.every((kind) => kind === 'STRING'));
  const quoted = value.startsWith('"') && jsonMistake(value) === undefined;
  if (quoted) return value;
  return strings || jsonMistake(value) !== undefined ? JSON.stringify(value) : value;
}

/** Null if nothing is searched for. `kindsAt` gives the kinds that were seen at a path. */
export function filterOf(search: Search, kindsAt: (at: string) => readonly JsonKind[]): DocumentFilter | null {
  const tests = search.conditions.map((condition) => testOf(condition, literalOf(condition, kindsAt(condition.at))));
  const found = search.text === '' ? [] : [{ at: anyCase(EVERYWHERE, search.text), exists: true }];
  if (search.match === 'any') return combined('all', [combined('any', tests), ...found]);
  return combined('all', [...tests, ...found]);
}

/** A single filter needs no combination. */
function combined(match: Search['match'], filters: readonly (DocumentFilter | null)[]): DocumentFilter | null {
  const some = filters.filter((filter) => filter !== null);
  return some.length > 1 ? { [match]: some } : (some[0] ?? null);
}

function testOf({ at, operator }: Condition, literal: string): DocumentFilter {
  switch (operator) {
    case 'exists':
      return { at, exists: true };
    case 'missing':
      return { at, exists: false };
    case 'startsWith':
    case 'contains':
      return { at, [operator]: String(JSON.parse(literal)) };
    case 'containsAnyCase':
      return { at: anyCase(at, String(JSON.parse(literal))), exists: true };
    default:
      return { at, [operator]: new RawJson(literal) };
  }
}

/** All members and elements of a document, at any depth. */
const EVERYWHERE = '$..*';

/** Steps of one name or index. */
const SINGULAR = String.raw`(?:\.[A-Za-z_]\w*|\['(?:[^'\\]|\\.)*'\]|\["(?:[^"\\]|\\.)*"\]|\[-?\d+\])`;
const OF_ONE = new RegExp(String.raw`^\$${SINGULAR}*$`);
const OF_EACH = new RegExp(String.raw`^(.*)(?:\.\*|\[\*\])(${SINGULAR}*)$`, 's');
const OF_ALL = new RegExp(String.raw`^(.*)\.\.([A-Za-z_]\w*${SINGULAR}*)$`, 's');

/** Selects something if a string at the path contains the text, in capital or small letters (RFC 9535 §2.4.7). */
function anyCase(at: string, text: string): string {
  const pattern = JSON.stringify([...text].map(eitherCase).join(''));
  if (at === EVERYWHERE) return `$..[?search(@, ${pattern})]`;
  const each = OF_EACH.exec(at);
  const all = OF_ALL.exec(at);
  if (OF_ONE.test(at)) return `$[?search(${at}, ${pattern})]`;
  if (each) return `${each[1]}[?search(@${each[2]}, ${pattern})]`;
  if (all) return `${all[1]}..[?search(@.${all[2]}, ${pattern})]`;
  return `$[?search(value(${at}), ${pattern})]`;
}

function eitherCase(char: string): string {
  const [lower, upper] = [char.toLowerCase(), char.toUpperCase()];
  const single = [...lower].length === 1 && [...upper].length === 1;
  if (single && lower !== upper) return `[${lower}${upper}]`;
  return /[\\.*+?()[\]{}|^$-]/.test(char) ? `\\${char}` : char;
}

/** The paths that an index could have to serve the search; empty if none can. */
export function indexablePaths(search: Search): string[] {
  if (search.match === 'any' && search.conditions.length > 1) return [];
  const equal = search.conditions.filter(({ operator }) => operator === 'eq');
  const ranges = search.conditions.filter(({ operator }) => ['lt', 'lte', 'gt', 'gte', 'startsWith'].includes(operator));
  const paths = [...equal, ...ranges.slice(0, 1)].map(({ at }) => at);
  return [...new Set(paths)];
}

/** The paths whose conditions search inside of strings, which no index serves. */
export const searchedPaths = ({ conditions }: Search): string[] =>
  conditions.filter(({ operator }) => operator === 'contains' || operator === 'containsAnyCase').map(({ at }) => at);

/** A name for an index on these paths. */
export const indexNameOf = (paths: readonly string[]): string =>
  paths.map((path) => path.replaceAll(/\W+/g, '_').replace(/^_+|_+$/g, '')).join('_') || 'value';

export function orderOf(order: Order | undefined): DocumentOrder[] | null {
  return order ? [{ by: order.by && jsonPathOf(order.by), descending: order.descending }] : null;
}

/** The query of the table with its variables, for GraphiQL. */
export function tableQuery(
  collection: string,
  where: DocumentFilter | null,
  order: Order | undefined,
  columns: readonly Path[],
): { query: string; variables: string } {
  const fields = columns.map((path, index) => {
    const last = String(path.at(-1) ?? 'root');
    const name = /^[A-Za-z_]\w*$/.test(last) && !last.startsWith('__') ? last : `column${index + 1}`;
    const unique = columns.slice(0, index).some((other) => String(other.at(-1)) === last) ? `${name}${index + 1}` : name;
    return `      ${unique}: subdocument(path: ${JSON.stringify(path)}) { id value }`;
  });
  const query = [
    'query Table($collection: String!, $where: DocumentFilter, $orderBy: [DocumentOrder!], $after: String) {',
    '  documents(collection: $collection, where: $where, orderBy: $orderBy, first: 50, after: $after) {',
    '    nodes {',
    '      key',
    ...fields,
    '    }',
    '    pageInfo { hasNextPage endCursor }',
    '    plan { index scanned examined returned }',
    '  }',
    '}',
    '',
  ].join('\n');
  return { query, variables: formatJson({ collection, where, orderBy: orderOf(order), after: null }) };
}

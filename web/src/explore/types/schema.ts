// The type of a collection: what its JSON Schema (docs/types.md) says about each place. Values in it stay text, as in
// json.ts.
import { findNodeAtLocation, parseTree, type Node } from 'jsonc-parser';
import type { JsonKind } from '../../api/generated';
import type { Path, Segment } from '../place';

export type SchemaKind = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

export interface Reference {
  collection: string;
}

/** The schema of a place, with references to `$defs` followed. */
export class Schema {
  readonly #text: string;
  readonly #root: Node;
  /** What is written at the place, which can describe what it refers to. */
  readonly #written: Node;
  readonly #node: Node;

  private constructor(text: string, root: Node, written: Node) {
    this.#text = text;
    this.#root = root;
    this.#written = written;
    this.#node = followed(root, written);
  }

  /** Undefined if the text is no schema. */
  static parse(text: string): Schema | undefined {
    const root = parseTree(text);
    return root?.type === 'object' ? new Schema(text, root, root) : undefined;
  }

  /** Empty if the type leaves open what the value is. */
  get kinds(): readonly SchemaKind[] {
    const type = this.#keyword('type');
    if (type) return (type.type === 'array' ? (type.children ?? []) : [type]).map(({ value }) => value as SchemaKind);
    return [...new Set((this.values ?? []).map(kindOfText))];
  }

  /** The JSON texts of the only values. */
  get values(): readonly string[] | undefined {
    const only = this.#keyword('const');
    const listed = this.#keyword('enum')?.children ?? (only && [only]);
    return listed?.map((value) => this.#textOf(value));
  }

  get nullable(): boolean {
    return this.kinds.includes('null');
  }

  get format(): string | undefined {
    return this.#string('format');
  }

  get title(): string | undefined {
    return this.#string('title');
  }

  get description(): string | undefined {
    return this.#string('description') ?? this.title;
  }

  get deprecated(): boolean {
    return this.#keyword('deprecated')?.value === true;
  }

  /** The documents of which the value is a key. */
  get reference(): Reference | undefined {
    const collection = valueAt(this.#node, ['x-reference', 'collection']);
    return typeof collection === 'string' ? { collection } : undefined;
  }

  get properties(): readonly (readonly [string, Schema])[] {
    return membersOf(this.#keyword('properties')).map(([name, node]) => [name, this.#at(node)] as const);
  }

  get required(): ReadonlySet<string> {
    return new Set((this.#keyword('required')?.children ?? []).map(({ value }) => String(value)));
  }

  /** Of members that are no properties; undefined if the type says nothing about them. */
  get others(): Schema | undefined {
    const others = this.#keyword('additionalProperties');
    return others?.type === 'object' ? this.#at(others) : undefined;
  }

  get items(): Schema | undefined {
    const listed = [this.#keyword('items'), this.#keyword('prefixItems')?.children?.[0]];
    const items = listed.find((node) => node?.type === 'object');
    return items && this.#at(items);
  }

  /** Undefined where the type says nothing. */
  at(path: Path): Schema | undefined {
    return path.reduce<Schema | undefined>((schema, step) => schema && schema.#below(step), this);
  }

  /** What else the value must be, in words. */
  get bounds(): readonly string[] {
    return Object.entries(BOUNDS).flatMap(([keyword, words]) => {
      const bound = this.#keyword(keyword);
      return bound ? [words(this.#textOf(bound))] : [];
    });
  }

  #below(step: Segment): Schema | undefined {
    if (typeof step === 'number') return this.items;
    const properties = this.#keyword('properties');
    const property = properties && findNodeAtLocation(properties, [step]);
    return property ? this.#at(property) : this.others;
  }

  #at(node: Node): Schema {
    return new Schema(this.#text, this.#root, node);
  }

  /** A keyword of the place itself comes before one of what it refers to. */
  #keyword(name: string): Node | undefined {
    return findNodeAtLocation(this.#written, [name]) ?? findNodeAtLocation(this.#node, [name]);
  }

  #string(name: string): string | undefined {
    const value: unknown = this.#keyword(name)?.value;
    return typeof value === 'string' ? value : undefined;
  }

  #textOf({ offset, length }: Node): string {
    return this.#text.slice(offset, offset + length);
  }
}

const BOUNDS: Record<string, (bound: string) => string> = {
  minimum: (bound) => `at least ${bound}`,
  exclusiveMinimum: (bound) => `more than ${bound}`,
  maximum: (bound) => `at most ${bound}`,
  exclusiveMaximum: (bound) => `less than ${bound}`,
  multipleOf: (bound) => `a multiple of ${bound}`,
  minLength: (bound) => `at least ${counted(bound, 'character')}`,
  maxLength: (bound) => `at most ${counted(bound, 'character')}`,
  pattern: (bound) => `matches ${bound}`,
  minItems: (bound) => `at least ${counted(bound, 'element')}`,
  maxItems: (bound) => `at most ${counted(bound, 'element')}`,
};

const counted = (count: string, what: string) => `${count} ${what}${count === '1' ? '' : 's'}`;

/** A definition can be another reference; the server rejects those that never end. */
const REFERENCES_MAX = 100;

function followed(root: Node, written: Node): Node {
  let node = written;
  for (let count = 0; count < REFERENCES_MAX; count++) {
    const reference = valueAt(node, ['$ref']);
    if (typeof reference !== 'string') return node;
    const steps = reference.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const target = findNodeAtLocation(root, steps);
    if (!target) return node;
    node = target;
  }
  return node;
}

const valueAt = (node: Node, path: string[]): unknown => findNodeAtLocation(node, path)?.value;

function membersOf(object: Node | undefined): (readonly [string, Node])[] {
  return (object?.children ?? []).flatMap(({ children }) => {
    const [name, value] = children ?? [];
    return name && value ? [[String(name.value), value] as const] : [];
  });
}

function kindOfText(json: string): SchemaKind {
  if (json.startsWith('"')) return 'string';
  if (json === 'null') return 'null';
  return json === 'true' || json === 'false' ? 'boolean' : 'number';
}

/** In the words of the API. */
export function jsonKindsOf({ kinds }: Schema): JsonKind[] {
  const named = kinds.map((kind) => (kind === 'integer' ? 'NUMBER' : (kind.toUpperCase() as JsonKind)));
  return [...new Set(named)];
}

/** What a value must be, in words; empty if the type leaves it open. */
export function expectationOf(schema: Schema): string {
  const { kinds, values, format, bounds, reference } = schema;
  const kind = values ? '' : kinds.map((kind) => (kind === 'integer' ? 'whole number' : kind)).join(' or ');
  const key = reference && `key of ${reference.collection}`;
  return [kind, format, key, ...bounds].filter((part) => part).join(', ');
}

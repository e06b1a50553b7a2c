// Which input fits a value of a type, and the JSON that it means. Values to values; the components are beside it.
import { jsonMistake } from '../../api/json';
import { isPlainText, textOfString } from '../document/strings';
import type { Schema } from './schema';

/**
 * `choice`: one of a few values. `line`: a string without line breaks. `time`: a date and a time in UTC. `text`: a string.
 * `json`: anything.
 */
export type InputKind = 'choice' | 'date' | 'time' | 'line' | 'number' | 'reference' | 'text' | 'json';

export interface Draft {
  input: InputKind;
  /** As it was typed or chosen. */
  typed: string;
}

const LINES = ['uuid', 'email', 'uri'];

/** The input that fits a place; `json` if the type leaves it open, and for objects and arrays. */
export function inputFor(schema: Schema | undefined): InputKind {
  if (!schema) return 'json';
  if (schema.values) return 'choice';
  const kinds = schema.kinds.filter((kind) => kind !== 'null');
  const [kind] = kinds;
  if (kinds.length !== 1) return 'json';
  if (kind === 'boolean') return 'choice';
  if (schema.reference && kind !== 'object' && kind !== 'array') return 'reference';
  if (kind === 'number' || kind === 'integer') return 'number';
  if (kind !== 'string') return 'json';
  if (schema.format === 'date') return 'date';
  if (schema.format === 'date-time') return 'time';
  return LINES.includes(schema.format ?? '') ? 'line' : 'text';
}

/** The JSON texts to choose from. */
export function choicesOf(schema: Schema): readonly string[] {
  if (schema.values) return schema.values;
  return schema.nullable ? ['true', 'false', 'null'] : ['true', 'false'];
}

/** A draft of a value that is not there yet: nothing is typed. */
export function emptyDraft(schema: Schema | undefined): Draft {
  const input = inputFor(schema);
  if (input !== 'json') return { input, typed: '' };
  if (!schema || schema.kinds.length === 0) return { input: 'text', typed: '' };
  return { input, typed: schema.kinds[0] === 'array' ? '[]' : schema.kinds[0] === 'object' ? '{}' : '' };
}

/** A draft of a stored value. What the input cannot show exactly is shown as JSON. */
export function draftOf(json: string, schema: Schema | undefined): Draft {
  const input = inputFor(schema);
  const typed = schema && typedIn(input, json, schema);
  if (typed !== undefined) return { input, typed };
  return untypedDraft(json);
}

/** A string as the text that it is, and anything else as JSON. */
export function untypedDraft(json: string): Draft {
  const plain = json.startsWith('"') && isPlainText(json);
  return plain ? { input: 'text', typed: textOfString(json) } : { input: 'json', typed: json };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;

/** What is typed in the input for this value; undefined if the input cannot show it. */
function typedIn(input: InputKind, json: string, schema: Schema): string | undefined {
  if (input === 'choice') return choicesOf(schema).includes(json) ? json : undefined;
  if (input === 'number') return /^-?\d/.test(json) ? json : undefined;
  if (input === 'reference' && /^-?\d+$/.test(json)) return json;
  if (input === 'json' || !json.startsWith('"') || !isPlainText(json)) return undefined;
  const text = textOfString(json);
  switch (input) {
    case 'text':
      return text;
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined;
    case 'time': {
      const time = text.replace(/Z$/, '');
      return time !== text && TIME.test(time) ? time : undefined;
    }
    case 'reference':
      return keyOf(text);
    case 'line':
      return text.includes('\n') ? undefined : text;
  }
}

/** The JSON that a draft means, of which `mistakeIn` says whether it is any. */
export function jsonOf({ input, typed }: Draft, schema: Schema | undefined): string {
  switch (input) {
    case 'choice':
    case 'json':
      return typed;
    case 'number':
      return typed.trim();
    case 'time':
      return JSON.stringify(`${/T\d\d:\d\d$/.test(typed) ? `${typed}:00` : typed}Z`);
    case 'reference':
      return valueOfKey(typed, schema);
    case 'date':
    case 'line':
    case 'text':
      return JSON.stringify(typed);
  }
}

/** What must be corrected before the draft can be stored. The server says what else does not fit. */
export function mistakeIn(draft: Draft): string | undefined {
  const { input, typed } = draft;
  if (input === 'json') return jsonMistake(typed);
  if (input === 'text' || input === 'line') return undefined;
  if (typed === '') return input === 'choice' ? 'Choose a value' : 'A value is required';
  const isNumber = /^-?\d/.test(typed.trim()) && jsonMistake(typed.trim()) === undefined;
  return input === 'number' && !isNumber ? 'A number is expected' : undefined;
}

/** Another draft of the same value: as JSON, or as the input that fits. */
export function switched(draft: Draft, schema: Schema | undefined, toJson: boolean): Draft {
  if (mistakeIn(draft) !== undefined) return toJson ? { input: 'json', typed: '' } : emptyDraft(schema);
  const json = jsonOf(draft, schema);
  return toJson ? { input: 'json', typed: json } : draftOf(json, schema);
}

/** As the API writes keys: the text of an integer is a string only with its quotation marks. */
const keyOf = (text: string) => (/^-?\d+$/.test(text) ? JSON.stringify(text) : text);

/** The value that refers to a document with this key. */
export function valueOfKey(key: string, schema: Schema | undefined): string {
  if (/^-?\d+$/.test(key) && !schema?.kinds.includes('string')) return key;
  return key.startsWith('"') && jsonMistake(key) === undefined ? key : JSON.stringify(key);
}

/** The key of the document that a stored value refers to; undefined if it is none. */
export function keyOfValue(json: string): string | undefined {
  if (/^-?\d+$/.test(json)) return json;
  return json.startsWith('"') ? keyOf(textOfString(json)) : undefined;
}

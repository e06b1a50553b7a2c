// A new document of a type, from a field for each member. Values to values; the form is in NewDocumentFields.tsx.
import { pointerOf, type Path } from '../place';
import { emptyDraft, inputFor, jsonOf, mistakeIn, type Draft } from './inputs';
import type { Schema } from './schema';

export interface Member {
  name: string;
  pointer: string;
  schema: Schema;
  required: boolean;
  /** Of an object that has fields of its own. */
  members: readonly Member[] | undefined;
}

/** What was typed, by JSON Pointer. An optional member without a draft, or with an empty one, is left out. */
export type Drafts = ReadonlyMap<string, Draft>;

/** Objects further inside are written as JSON, because a type can contain itself. */
const DEPTH_MAX = 3;

/** The properties of an object, those that are required first. */
export function membersOf(schema: Schema, path: Path = []): readonly Member[] {
  const { required, properties } = schema;
  const members = properties.map(([name, of]) => {
    const at = [...path, name];
    const inside = of.kinds.includes('object') && of.properties.length > 0 && at.length < DEPTH_MAX;
    const members = inside ? membersOf(of, at) : undefined;
    return { name, pointer: pointerOf(at), schema: of, required: required.has(name), members };
  });
  return [...members.filter(({ required }) => required), ...members.filter(({ required }) => !required)];
}

/** The draft of a member; nothing is typed if it may be left out. */
export function draftOfMember({ pointer, schema, required }: Member, drafts: Drafts): Draft {
  return drafts.get(pointer) ?? (required ? emptyDraft(schema) : { input: inputFor(schema), typed: '' });
}

/** JSON with the members that are required or typed. */
export function documentOf(members: readonly Member[], drafts: Drafts): string {
  const parts = members.flatMap((member) => {
    if (!isIncluded(member, drafts)) return [];
    const value = member.members ? documentOf(member.members, drafts) : jsonOf(draftOfMember(member, drafts), member.schema);
    return [`${JSON.stringify(member.name)}:${value}`];
  });
  return `{${parts.join(',')}}`;
}

/** Whether all fields have what they need. */
export function isComplete(members: readonly Member[], drafts: Drafts): boolean {
  return members.every((member) => {
    if (!isIncluded(member, drafts)) return true;
    return member.members ? isComplete(member.members, drafts) : mistakeIn(draftOfMember(member, drafts)) === undefined;
  });
}

const isIncluded = (member: Member, drafts: Drafts): boolean => member.required || isTyped(member, drafts);

function isTyped({ pointer, members }: Member, drafts: Drafts): boolean {
  return members ? members.some((inner) => isTyped(inner, drafts)) : (drafts.get(pointer)?.typed ?? '') !== '';
}

/** The pointers of the fields. */
export function fieldsOf(members: readonly Member[]): string[] {
  return members.flatMap(({ pointer, members }) => (members ? fieldsOf(members) : [pointer]));
}

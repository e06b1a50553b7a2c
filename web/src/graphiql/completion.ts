// Completes names of collections, keys and paths inside of the strings of a query, from the store.
import type * as Monaco from 'monaco-editor';
import { CollectionsDocument, KeysDocument, LevelDocument, SampleDocument } from '../api/generated';
import { request } from '../api/request';
import { sampledPaths } from '../explore/collection/columns';
import { jsonPathOf, pointerOf } from '../explore/place';
import { typedRoots } from './readTypedExamples';
import { stringAt, type StringAt } from './stringAt';

/** Children that are offered for a path. */
const CHILDREN = 100;

/** Returns how to stop. */
export function completeFromStore(monaco: typeof Monaco): () => void {
  const provider = monaco.languages.registerCompletionItemProvider('graphql', {
    triggerCharacters: ['"', '/', '$', '.'],
    async provideCompletionItems(model, position) {
      const found = stringAt(model.getValue(), model.getOffsetAt(position));
      const texts = found ? await candidates(found).catch(() => []) : [];
      const { lineNumber, column } = position;
      const typed = found?.typed.length ?? 0;
      const range = new monaco.Range(lineNumber, column - typed, lineNumber, column);
      const kind = monaco.languages.CompletionItemKind.Value;
      // The text as it is written between quotation marks.
      const written = (text: string) => JSON.stringify(text).slice(1, -1);
      return { suggestions: texts.map((label) => ({ label, kind, range, insertText: written(label), filterText: written(label) })) };
    },
  });
  return () => provider.dispose();
}

async function candidates({ argument, field, typed, collection, id }: StringAt): Promise<string[]> {
  if (argument === 'collection') {
    return (await request(CollectionsDocument, {})).collections.map(({ name }) => name);
  }
  if (argument === 'id') return keysOf(collection, typed);
  if (argument === 'key') {
    const typedCollection = (await typedRoots()).find(({ one, type }) => [one, `update${type}`, `delete${type}`].includes(field));
    return typedCollection ? keysOf(typedCollection.collection, typed) : [];
  }
  if (argument === 'jsonPath') {
    return sampledPaths(await request(SampleDocument, { collection })).map(({ path }) => jsonPathOf(path));
  }
  if (id === undefined) return [];
  // JSON Pointers of a level are those of its parent with one more step.
  const path = typed.slice(0, Math.max(typed.lastIndexOf('/'), 0));
  const { document } = await request(LevelDocument, { collection, id, path, first: CHILDREN });
  return (document?.children.nodes ?? []).map((place) => pointerOf(place.path));
}

async function keysOf(collection: string, typed: string): Promise<string[]> {
  const keys = typed === '' ? null : { prefix: typed };
  return (await request(KeysDocument, { collection, keys })).documents.nodes.map(({ key }) => key);
}

import { useState } from 'react';
import { openInGraphiql } from '../../graphiql/handover';
import { hrefOfPlace, jsonPathOf, pointerOf, queryOf, type Path } from '../place';
import { MenuButton } from '../MenuButton';
import { readCurrent } from './applyEdit';
import type { DocumentPlace } from './edit';

type Copied = (at: DocumentPlace, path: Path) => string | Promise<string>;

const FORMS: Record<string, Copied> = {
  Value: valueOf,
  'JSON Pointer': (_, path) => pointerOf(path),
  List: (_, path) => JSON.stringify(path),
  JSONPath: (_, path) => jsonPathOf(path),
  Link: ({ collection, id }, path) => new URL(hrefOfPlace(collection, id, path), location.href).href,
  'GraphQL query': ({ collection, id }, path) => queryOf(collection, id, path),
};
/** Of the document as a whole. */
const NAMES: typeof FORMS = {
  Key: ({ id }) => id,
  Collection: ({ collection }) => collection,
};
const PART = 'Open as the root';
const GRAPHIQL = 'Open in GraphiQL';

/** The JSON that is stored, up to the size that is read for the editor. */
async function valueOf(at: DocumentPlace, path: Path): Promise<string> {
  const { text } = await readCurrent(at, path, true);
  if (text === undefined) throw new Error('Nothing is stored here.');
  return text;
}

/** Copies the place in one of its notations, or its value, or opens it elsewhere. */
export function CopyMenu({ at, path, tabIndex }: { at: DocumentPlace; path: Path; tabIndex: number }) {
  const [said, setSaid] = useState('');
  const forms = path.length === 0 ? { ...FORMS, ...NAMES } : FORMS;
  const copy = async (form: Copied | undefined) => {
    const text = (await form?.(at, path)) ?? '';
    await navigator.clipboard.writeText(text).catch(() => Promise.reject(new Error('The browser did not allow it')));
  };
  const choose = (choice: string) => {
    if (choice === PART) return void (location.hash = hrefOfPlace(at.collection, at.id, path));
    if (choice === GRAPHIQL) return openInGraphiql({ query: queryOf(at.collection, at.id, path) });
    return copy(forms[choice]).then(() => setSaid('Copied'), ({ message }: Error) => setSaid(message));
  };
  return (
    <span className="copy">
      <MenuButton
        text="Copy"
        label={`Copy ${pointerOf(path) || 'the document'} as`}
        items={[...Object.keys(forms), ...(path.length === 0 ? [] : [PART]), GRAPHIQL]}
        tabIndex={tabIndex}
        onChoose={(choice) => void choose(choice)}
      />
      <span role="status">{said}</span>
    </span>
  );
}

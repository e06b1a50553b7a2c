import { useState } from 'react';
import { openInGraphiql } from '../../graphiql/handover';
import { hrefOf } from '../../route';
import { jsonPathOf, pointerOf, queryOf, textOfPath, type Path } from '../place';
import type { DocumentPlace } from './edit';

const FORMS: Record<string, (at: DocumentPlace, path: Path) => string> = {
  'JSON Pointer': (_, path) => pointerOf(path),
  List: (_, path) => JSON.stringify(path),
  JSONPath: (_, path) => jsonPathOf(path),
  Link: ({ collection, id }, path) => new URL(addressOf(collection, id, path), location.href).href,
  'GraphQL query': ({ collection, id }, path) => queryOf(collection, id, path),
};
/** Of the document as a whole. */
const NAMES: typeof FORMS = {
  Key: ({ id }) => id,
  Collection: ({ collection }) => collection,
};
const PART = 'Open as the root';
const GRAPHIQL = 'Open in GraphiQL';

const addressOf = (collection: string, id: string, path: Path) =>
  path.length === 0 ? hrefOf('c', collection, id) : hrefOf('c', collection, id, textOfPath(path));

/** Copies the place in one of its notations, or opens it elsewhere. */
export function CopyMenu({ at, path, tabIndex }: { at: DocumentPlace; path: Path; tabIndex: number }) {
  const [said, setSaid] = useState('');
  const forms = path.length === 0 ? { ...FORMS, ...NAMES } : FORMS;
  const choose = (choice: string) => {
    if (choice === PART) return void (location.hash = addressOf(at.collection, at.id, path));
    if (choice === GRAPHIQL) return openInGraphiql({ query: queryOf(at.collection, at.id, path) });
    return navigator.clipboard.writeText(forms[choice]?.(at, path) ?? '').then(
      () => setSaid('Copied'),
      () => setSaid('The browser did not allow it'),
    );
  };
  return (
    <span className="copy">
      <select
        aria-label={`Copy ${pointerOf(path) || 'the document'} as`}
        value=""
        tabIndex={tabIndex}
        onChange={(event) => void choose(event.target.value)}
      >
        <option value="" disabled>Copy</option>
        {[...Object.keys(forms), ...(path.length === 0 ? [] : [PART]), GRAPHIQL].map((form) => <option key={form}>{form}</option>)}
      </select>
      <span role="status">{said}</span>
    </span>
  );
}

import { useState } from 'react';
import { openInGraphiql } from '../../graphiql/handover';
import { jsonPathOf, pointerOf, queryOf, type Path } from '../place';
import type { DocumentPlace } from './edit';

const FORMS: Record<string, (at: DocumentPlace, path: Path) => string> = {
  'JSON Pointer': (_, path) => pointerOf(path),
  List: (_, path) => JSON.stringify(path),
  JSONPath: (_, path) => jsonPathOf(path),
  'GraphQL query': ({ collection, id }, path) => queryOf(collection, id, path),
};
const GRAPHIQL = 'Open in GraphiQL';

/** Copies the place in one of its notations. */
export function CopyMenu({ at, path, tabIndex }: { at: DocumentPlace; path: Path; tabIndex: number }) {
  const [said, setSaid] = useState('');
  const choose = (choice: string) => {
    if (choice === GRAPHIQL) return openInGraphiql({ query: queryOf(at.collection, at.id, path) });
    return navigator.clipboard.writeText(FORMS[choice]?.(at, path) ?? '').then(
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
        {[...Object.keys(FORMS), GRAPHIQL].map((form) => <option key={form}>{form}</option>)}
      </select>
      <span role="status">{said}</span>
    </span>
  );
}

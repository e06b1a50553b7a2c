import { useState } from 'react';
import { jsonPathOf, pointerOf, queryOf, type Path } from './place';

/** Copies the place in one of its notations. */
export function CopyMenu({ collection, id, path }: { collection: string; id: string; path: Path }) {
  const [said, setSaid] = useState('');
  const forms: Record<string, () => string> = {
    'JSON Pointer': () => pointerOf(path),
    List: () => JSON.stringify(path),
    JSONPath: () => jsonPathOf(path),
    'GraphQL query': () => queryOf(collection, id, path),
  };
  const copy = (form: string) =>
    navigator.clipboard.writeText(forms[form]?.() ?? '').then(
      () => setSaid('Copied'),
      () => setSaid('The browser did not allow it'),
    );
  return (
    <span className="copy">
      <select
        aria-label={`Copy ${pointerOf(path) || 'the document'} as`}
        value=""
        onChange={(event) => void copy(event.target.value)}
      >
        <option value="" disabled>Copy</option>
        {Object.keys(forms).map((form) => <option key={form}>{form}</option>)}
      </select>
      <span role="status">{said}</span>
    </span>
  );
}

import { useId, useState } from 'react';
import { hrefOf } from '../../route';
import { pathOfText } from '../place';
import type { DocumentPlace } from './edit';

/** Opens a part of the document by its path: access rules can allow it where they forbid the document. */
export function OpenPart({ at, path }: { at: DocumentPlace; path: string }) {
  const [typed, setTyped] = useState(path);
  const [wrong, setWrong] = useState(false);
  const mistakeId = useId();
  return (
    <form
      className="open-part"
      onSubmit={(event) => {
        event.preventDefault();
        if (pathOfText(typed) === undefined) return setWrong(true);
        location.hash = hrefOf('c', at.collection, at.id, typed);
      }}
    >
      <label>
        Path{' '}
        <input
          value={typed}
          placeholder="/name"
          spellCheck={false}
          aria-invalid={wrong}
          aria-describedby={mistakeId}
          onChange={(event) => (setTyped(event.target.value), setWrong(false))}
        />
      </label>
      <button type="submit">Open this part</button>
      <p id={mistakeId} className={wrong ? 'mistake' : 'about'} role="status">
        A JSON Pointer, as <code>/tags/0</code>, or a list, as <code>["tags", 0]</code>. Use a list if a name consists of digits.
      </p>
    </form>
  );
}

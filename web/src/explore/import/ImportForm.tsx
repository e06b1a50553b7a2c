import { useId, useState } from 'react';
import { shownName, tokensOf } from '../place';
import type { ImportOptions } from './importFile';

interface Props {
  file: File | undefined;
  collection: string;
  /** Whether the token is known to allow changes. */
  ready: boolean;
  onFile: (file: File | undefined) => void;
  onImport: (options: ImportOptions) => void;
  onCancel: () => void;
}

const stemOf = (file: File | undefined) => file?.name.replace(/(?<=.)\.[^.]*$/, '') ?? '';

/** Asks for the file, the collection and the keys. */
export function ImportForm({ file, collection, ready, onFile, onImport, onCancel }: Props) {
  const [typed, setTyped] = useState<string>();
  const [pointer, setPointer] = useState('');
  const [prefix, setPrefix] = useState<string>();
  const into = typed ?? (collection || stemOf(file));
  const name = prefix ?? stemOf(file);
  const member = pointer === '' ? null : tokensOf(pointer);
  const about = useId();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (member !== undefined && ready) onImport({ collection: into, member, name });
      }}
    >
      <label>
        <span>File</span>
        {file ? (
          <output><bdi>{shownName(file.name)}</bdi></output>
        ) : (
          <input type="file" required accept=".json,.ndjson,.jsonl,.txt,application/json" onChange={(event) => onFile(event.target.files?.[0])} />
        )}
      </label>
      <label>
        <span>Collection</span>
        <input value={into} required spellCheck={false} onChange={(event) => setTyped(event.target.value)} />
      </label>
      <label>
        <span>Member with the key</span>
        <input
          value={pointer}
          placeholder="/doc_id"
          spellCheck={false}
          aria-invalid={member === undefined}
          aria-describedby={about}
          onChange={(event) => setPointer(event.target.value)}
        />
      </label>
      <label>
        <span>Generated keys begin with</span>
        <input value={name} required spellCheck={false} onChange={(event) => setPrefix(event.target.value)} />
      </label>
      <p id={about} className={member === undefined ? 'mistake' : 'about'}>
        {member === undefined
          ? 'The member is written as a JSON Pointer, such as /code.'
          : 'The file is a JSON document, a JSON array of documents, or lines with one document each. Without a member, the key is doc_id, and a document that has none gets a generated key. A document with a key of its own replaces what is stored under it.'}
      </p>
      <div className="buttons">
        <button type="submit" className="primary" disabled={!ready || !file || member === undefined}>Import</button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </div>
    </form>
  );
}

import { useId, useState } from 'react';
import { jsonPathOf, pathOfJsonPath, pointerOf, type Path } from '../place';
import { COLUMNS_MAX, type SampledPath } from './columns';

interface Props {
  paths: readonly SampledPath[];
  columns: readonly Path[];
  onColumns: (columns: Path[]) => void;
}

/** Which paths of the type, of the sample, or typed ones are columns of the table. */
export function ColumnPicker({ paths, columns, onColumns }: Props) {
  const chosen = new Set(columns.map(pointerOf));
  const toggle = (path: Path) => {
    const pointer = pointerOf(path);
    onColumns(chosen.has(pointer) ? columns.filter((column) => pointerOf(column) !== pointer) : [...columns, path]);
  };
  const known = new Set(paths.map(({ path }) => pointerOf(path)));
  const shown = [...paths.map(({ path }) => path), ...columns.filter((column) => !known.has(pointerOf(column)))];
  return (
    <details className="columns">
      <summary>Columns</summary>
      <fieldset>
        <legend>At most {COLUMNS_MAX} columns</legend>
        {shown.map((path) => (
          <label key={pointerOf(path)}>
            <input
              type="checkbox"
              checked={chosen.has(pointerOf(path))}
              disabled={columns.length >= COLUMNS_MAX && !chosen.has(pointerOf(path))}
              onChange={() => toggle(path)}
            />{' '}
            <bdi>{jsonPathOf(path)}</bdi>
          </label>
        ))}
        {columns.length < COLUMNS_MAX && <OtherColumn onPath={(path) => !chosen.has(pointerOf(path)) && toggle(path)} />}
      </fieldset>
    </details>
  );
}

/** Adds a column by the JSONPath of any place. */
function OtherColumn({ onPath }: { onPath: (path: Path) => void }) {
  const [typed, setTyped] = useState('');
  const mistakeId = useId();
  const path = pathOfJsonPath(typed);
  const mistake = typed === '' || path ? '' : 'A path of names and indexes is expected, such as $.name.common';
  return (
    <form
      className="other-column"
      onSubmit={(event) => {
        event.preventDefault();
        if (!path) return;
        onPath(path);
        setTyped('');
      }}
    >
      <input
        aria-label="JSONPath of another column"
        aria-describedby={mistakeId}
        aria-invalid={mistake !== ''}
        placeholder="$.path"
        value={typed}
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
      />
      <button type="submit" disabled={!path}>Add</button>
      <span id={mistakeId} className="mistake" role="status">{mistake}</span>
    </form>
  );
}

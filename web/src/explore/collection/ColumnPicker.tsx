import { jsonPathOf, pointerOf, type Path } from '../place';
import { COLUMNS, type SampledPath } from './columns';

interface Props {
  paths: readonly SampledPath[];
  columns: readonly Path[];
  onColumns: (columns: Path[]) => void;
}

/** Which of the sampled paths are columns of the table. */
export function ColumnPicker({ paths, columns, onColumns }: Props) {
  const chosen = new Set(columns.map(pointerOf));
  const toggle = (path: Path) => {
    const pointer = pointerOf(path);
    onColumns(chosen.has(pointer) ? columns.filter((column) => pointerOf(column) !== pointer) : [...columns, path]);
  };
  return (
    <details className="columns">
      <summary>Columns</summary>
      <fieldset>
        <legend>At most {COLUMNS} columns</legend>
        {paths.map(({ path }) => (
          <label key={pointerOf(path)}>
            <input
              type="checkbox"
              checked={chosen.has(pointerOf(path))}
              disabled={columns.length >= COLUMNS && !chosen.has(pointerOf(path))}
              onChange={() => toggle(path)}
            />{' '}
            <bdi>{jsonPathOf(path)}</bdi>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

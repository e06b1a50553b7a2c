import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { PlaceFragment } from '../../api/generated';
import { hrefOf } from '../../route';
import { jsonPathOf, pointerOf, shownName, type Path } from '../place';
import { summaryOf } from '../kinds';
import type { Order } from './filter';
import type { Documents } from './useDocuments';

const ROW_HEIGHT = 34;
/** The next page is read when so many rows are left. */
const AHEAD = 5;

interface Props {
  collection: string;
  columns: readonly Path[];
  documents: Documents;
  order: Order | undefined;
  onOrder: (order: Order | undefined) => void;
}

/** Only the visible rows are in the page. Scrolling to the end reads the next page. */
export function Table({ collection, columns, documents, order, onOrder }: Props) {
  const { rows, values, next, loading, more, error } = documents;
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const last = shown.at(-1)?.index ?? -1;
  const wanted = next !== null && !loading && !error && last >= rows.length - AHEAD && last >= AHEAD;
  useEffect(() => {
    if (wanted) more();
  }, [wanted, more]);
  return (
    <div className="frame" ref={frame} tabIndex={0} role="region" aria-label="Documents">
      <table aria-rowcount={next === null ? rows.length + 1 : -1}>
        <thead>
          <tr>
            <Heading column={null} order={order} onOrder={onOrder} />
            {columns.map((column) => (
              <Heading key={pointerOf(column)} column={column} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          <tr aria-hidden="true" style={{ height: above }} />
          {shown.map(({ index }) => {
            const row = rows[index];
            return row && (
              <tr key={row.key} aria-rowindex={index + 2} className={classOf(row.changes)} style={{ height: ROW_HEIGHT }}>
                <th scope="row"><a href={hrefOf('c', collection, row.key)}><bdi>{shownName(row.key)}</bdi></a></th>
                {columns.map((column, index) => {
                  const cell = row.cells[index];
                  return <td key={pointerOf(column)}>{cell && <Cell place={cell} text={values.get(cell.id)} />}</td>;
                })}
              </tr>
            );
          })}
          <tr aria-hidden="true" style={{ height: Math.max(below, 0) }} />
        </tbody>
      </table>
    </div>
  );
}

/** A value that is not read is summed up. */
function Cell({ place, text }: { place: PlaceFragment; text: string | undefined }) {
  return text === undefined ? <i>{summaryOf(place)}</i> : <code className={place.kind.toLowerCase()}>{text}</code>;
}

/** Two names, so that the animation starts again. */
const classOf = (changes: number) => (changes === 0 ? undefined : changes % 2 ? 'changed' : 'changed-again');

interface HeadingProps {
  /** Null for the key. */
  column: Path | null;
  order: Order | undefined;
  onOrder: (order: Order | undefined) => void;
}

/** Sorts ascending, then descending, then by key again. Without an order, keys are ascending. */
function Heading({ column, order, onOrder }: HeadingProps) {
  const mine = (order && sameColumn(order.by, column)) || (!order && column === null);
  const descending = mine && order?.descending === true;
  const next = descending ? undefined : { by: column, descending: mine };
  return (
    <th scope="col" aria-sort={mine ? (descending ? 'descending' : 'ascending') : undefined}>
      <button type="button" onClick={() => onOrder(next)}>
        {column === null ? 'key' : jsonPathOf(column).replace(/^\$\.?/, '')} {mine && (descending ? '↓' : '↑')}
      </button>
    </th>
  );
}

const sameColumn = (one: Path | null, other: Path | null) => (one && other ? pointerOf(one) === pointerOf(other) : one === other);

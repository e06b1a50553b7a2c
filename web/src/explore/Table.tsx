import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { PlaceFragment } from '../api/generated';
import { hrefOf } from '../route';
import { jsonPathOf, pointerOf, shownName, type Path } from './place';
import { summaryOf, type Values } from './values';

const ROW_HEIGHT = 34;

export interface Order {
  by: Path;
  descending: boolean;
}

export interface Row {
  key: string;
  cells: (PlaceFragment | null)[];
}

interface Props {
  collection: string;
  columns: readonly Path[];
  rows: readonly Row[];
  values: Values;
  order: Order | undefined;
  onOrder: (order: Order | undefined) => void;
}

/** Only the visible rows are in the page. */
export function Table({ collection, columns, rows, values, order, onOrder }: Props) {
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
  return (
    <div className="frame" ref={frame} tabIndex={0} role="region" aria-label="Documents">
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col">key</th>
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
              <tr key={row.key} aria-rowindex={index + 2} style={{ height: ROW_HEIGHT }}>
                <th scope="row"><a href={hrefOf('c', collection, row.key)}><bdi>{shownName(row.key)}</bdi></a></th>
                {row.cells.map((cell, column) => (
                  <td key={column}>{cell && (values.get(cell.id) ?? <i>{summaryOf(cell)}</i>)}</td>
                ))}
              </tr>
            );
          })}
          <tr aria-hidden="true" style={{ height: Math.max(below, 0) }} />
        </tbody>
      </table>
    </div>
  );
}

interface HeadingProps {
  column: Path;
  order: Order | undefined;
  onOrder: (order: Order | undefined) => void;
}

/** Sorts ascending, then descending, then by key again. */
function Heading({ column, order, onOrder }: HeadingProps) {
  const mine = order && pointerOf(order.by) === pointerOf(column) ? order : undefined;
  const sort = mine && (mine.descending ? 'descending' : 'ascending');
  const next = mine?.descending ? undefined : { by: column, descending: mine !== undefined };
  return (
    <th scope="col" aria-sort={sort}>
      <button type="button" onClick={() => onOrder(next)}>
        {jsonPathOf(column).replace(/^\$\.?/, '')} {mine && (mine.descending ? '↓' : '↑')}
      </button>
    </th>
  );
}

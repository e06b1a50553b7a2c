import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { Failure } from '../Failure';
import { pointerOf } from '../place';
import { isContainer } from '../kinds';
import type { DocumentPlace } from './edit';
import { MoreRow } from './MoreRow';
import { PlaceRow, type Form } from './PlaceRow';
import { rowsOf, type Row } from './tree';
import type { Edits } from './useEdits';
import type { TreeControl } from './useTree';

const ROW_HEIGHT = 32;

interface Props {
  at: DocumentPlace;
  control: TreeControl;
  edits: Edits;
  editable: boolean;
}

/** The rows of a tree; only the visible ones are in the page. The keys are those of the pattern Treegrid of WAI-ARIA. */
export function TreeGrid({ at, control, edits, editable }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => rowsOf(control.tree), [control.tree]);
  const [active, setActive] = useState('');
  // On phones the active row is higher: it changes when the button is released, so that no row moves away below.
  const pressed = useRef(false);
  const [form, setForm] = useState<{ id: string; form: Form }>();
  const open = useRef(form);
  open.current = form;
  const focused = Math.max(rows.findIndex((row) => idOf(row) === active), 0);
  const edited = rows.findIndex((row) => row.type === 'place' && row.place.id === form?.id);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => idOf(rows[index]),
    overscan: 5,
    // The row that has the focus and the one that is edited stay in the page.
    rangeExtractor(range) {
      const kept = [focused, edited].filter((index) => rows[index]?.type === 'place');
      return [...new Set([...defaultRangeExtractor(range), ...kept])].sort((one, other) => one - other);
    },
  });

  const focusRow = (index: number, wanted = () => true) => {
    const row = rows[index];
    if (!row) return;
    setActive(idOf(row));
    virtual.scrollToIndex(index);
    requestAnimationFrame(() => focusShown(frame.current, index, wanted, FRAMES));
  };
  const press = (row: Row) => {
    pressed.current = true;
    const release = () => {
      pressed.current = false;
      if (row.type === 'place') setActive(row.pointer);
    };
    addEventListener('mouseup', release, { once: true });
  };
  // Errors of another form go with it.
  const openForm = (id: string, form: Form) => {
    if (edits.violations.length > 0) edits.dismiss();
    setForm({ id, form });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[focused];
    const onRow = event.target instanceof HTMLElement && event.target.dataset['index'] !== undefined;
    if (!onRow || !row || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = moveOf(event.key, rows, focused);
    if (move !== undefined) {
      event.preventDefault();
      return focusRow(move);
    }
    if (row.type !== 'place') return;
    const forms: Record<string, Form | undefined> = { F2: 'edit', Delete: 'remove', Insert: isContainer(row.place) ? 'add' : undefined };
    const opens = { Enter: true, ArrowRight: !row.open, ArrowLeft: row.open }[event.key] === true;
    const asked = forms[event.key] ?? (event.key === 'Enter' && !isContainer(row.place) ? 'edit' : undefined);
    if (asked && editable) openForm(row.place.id, asked);
    else if (opens && isContainer(row.place)) control.toggle(row.place);
    else return;
    event.preventDefault();
  };
  // An edit that ends late closes its own form only, and leaves the focus where the user has moved it.
  const closeForm = (index: number, id: string, closed: Form | undefined) => {
    const isOther = () => open.current?.id !== id || open.current.form !== closed;
    if (isOther()) return;
    setForm(undefined);
    const stayed = () => {
      // Another form, which was opened meanwhile, keeps the focus.
      if (open.current && isOther()) return false;
      const focused = document.activeElement;
      return focused === document.body || frame.current?.querySelector('.form')?.contains(focused) === true;
    };
    if (stayed()) focusRow(index, stayed);
  };

  return (
    <div className="frame tree" ref={frame} role="treegrid" aria-label="Document" aria-rowcount={-1} onKeyDown={onKeyDown}>
      <div role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          if (!row) return null;
          const depth = { '--depth': row.depth };
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              role="row"
              className={index === focused ? 'row active' : 'row'}
              style={{ transform: `translateY(${start}px)`, ...depth }}
              tabIndex={row.type !== 'place' ? undefined : index === focused ? 0 : -1}
              aria-level={row.depth + 1}
              aria-expanded={row.type === 'place' && isContainer(row.place) ? row.open : undefined}
              aria-posinset={row.type === 'place' && row.index !== undefined ? row.index + 1 : undefined}
              aria-setsize={row.type === 'place' ? row.siblings : undefined}
              onMouseDown={() => press(row)}
              onFocus={() => row.type === 'place' && !pressed.current && setActive(row.pointer)}
            >
              {row.type === 'failure' && (
                <div role="gridcell">
                  <Failure error={row.error} onRetry={() => control.more(row.parent)} />
                </div>
              )}
              {row.type === 'more' && <MoreRow row={row} onMore={() => control.more(row.parent)} />}
              {row.type === 'place' && (
                <PlaceRow
                  at={at}
                  row={row}
                  edits={edits}
                  control={control}
                  editable={editable}
                  active={index === focused}
                  form={form?.id === row.place.id ? form.form : undefined}
                  onForm={(next) => (next ? openForm(row.place.id, next) : closeForm(index, row.place.id, form?.form))}
                />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Frames within which a row is in the page after it was scrolled to. */
const FRAMES = 10;

function focusShown(frame: HTMLElement | null, index: number, wanted: () => boolean, frames: number): void {
  if (!wanted()) return;
  const row = frame?.querySelector<HTMLElement>(`[data-index="${index}"]`);
  if (row) row.focus();
  else if (frames > 0) requestAnimationFrame(() => focusShown(frame, index, wanted, frames - 1));
}

function idOf(row: Row | undefined): string {
  if (!row) return '';
  return row.type === 'place' ? row.pointer : `${row.type} ${pointerOf(row.parent.path)}`;
}

/** The place to which a key moves; undefined for other keys. Other rows have nothing to do there. */
function moveOf(key: string, rows: readonly Row[], from: number): number | undefined {
  const row = rows[from];
  const isPlace = ({ type }: Row) => type === 'place';
  const next = () => rows.findIndex((row, index) => index > from && isPlace(row));
  if (key === 'ArrowDown') return next();
  if (key === 'ArrowUp') return rows.findLastIndex((row, index) => index < from && isPlace(row));
  if (key === 'Home') return 0;
  if (key === 'End') return rows.findLastIndex(isPlace);
  if (row?.type !== 'place') return undefined;
  if (key === 'ArrowRight' && row.open) return next();
  if (key !== 'ArrowLeft' || row.open) return undefined;
  return rows.findLastIndex((other, index) => index < from && isPlace(other) && other.depth < row.depth);
}

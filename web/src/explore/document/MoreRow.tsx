import { useEffect, useRef } from 'react';
import type { Row } from './tree';

/** The end of what is read of a level. It is in the page only while it is near the visible rows, and asks for the next page. */
export function MoreRow({ row, onMore }: { row: Row & { type: 'more' }; onMore: () => void }) {
  const { level, parent } = row;
  const { loading, places } = level;
  const latest = useRef(onMore);
  latest.current = onMore;
  useEffect(() => {
    if (!loading && places.length > 0) latest.current();
  }, [loading, places.length]);
  const of = parent.length === null || level.from !== undefined ? '' : ` of ${parent.length.toLocaleString('en')}`;
  return (
    <div role="gridcell" className="more">
      <i>{loading || places.length === 0 ? 'Loading …' : `${places.length.toLocaleString('en')}${of} shown`}</i>
    </div>
  );
}

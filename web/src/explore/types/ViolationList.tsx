import type { Violation } from '../../api/request';
import { hrefOf } from '../../route';
import { shownName } from '../place';
import { sayViolation } from './violations';

/** Errors of a type, each with the place that is at or below that of the field. */
export function Violations({ of, at, id }: { of: readonly Violation[]; at: string; id?: string }) {
  if (of.length === 0) return null;
  return (
    <div className="violations" role="alert" id={id}>
      {of.map((violation) => <p key={`${violation.place} ${violation.expected}`}>{sayViolation(violation, at)}</p>)}
    </div>
  );
}

/** Places of stored documents that do not fit. They can be opened. */
export function StoredViolations({ collection, of }: { collection: string; of: readonly (Violation & { key: string })[] }) {
  if (of.length === 0) return null;
  return (
    <ul className="violations" aria-label="Places that do not fit" tabIndex={0}>
      {of.map((violation, index) => (
        <li key={index}>
          <a href={hrefOf('c', collection, violation.key)}><bdi>{shownName(violation.key)}</bdi></a>{' '}
          <code>{shownName(violation.place)}</code> {sayViolation(violation, violation.place)}
        </li>
      ))}
    </ul>
  );
}

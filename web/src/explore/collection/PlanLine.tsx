import type { Plan } from './useDocuments';

/** How the page of documents was found. */
export function PlanLine({ plan }: { plan: Plan }) {
  const { index, examined, scanned } = plan;
  const count = (value: number) => value.toLocaleString('en');
  return (
    <span>
      {index === null ? 'Without an index' : <>Index <strong>{index}</strong></>}: {count(examined)} documents examined, {count(scanned)} keys read
    </span>
  );
}

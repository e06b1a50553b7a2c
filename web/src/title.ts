import { shownName } from './explore/place';
import type { Route } from './route';

/** The title of the browser tab: the innermost name first. */
export function titleOf([view, ...names]: Route): string {
  const shown = view === 'graphiql' ? ['GraphiQL'] : names.filter((name) => name !== '').map(shownName).reverse();
  return [...shown, 'Phyllo'].join(' · ');
}

// GraphiQL gives the role of a tab to list items that have two buttons each, so that screen readers reach neither. They
// are a list of buttons here, of which one is current. The current one is scrolled into view.

/** Corrects the roles below `container`, also of tabs that are added. Returns how to stop. */
export function correctTabRoles(container: Element): () => void {
  const observer = new MutationObserver(() => correct(container));
  correct(container);
  observer.observe(container, { attributes: true, attributeFilter: ['aria-selected'], childList: true, subtree: true });
  return () => observer.disconnect();
}

function correct(container: Element): void {
  container.querySelectorAll('.graphiql-tabs[role="tablist"]').forEach((list) => list.setAttribute('role', 'list'));
  for (const item of container.querySelectorAll('.graphiql-tab[aria-selected]')) {
    const current = item.getAttribute('aria-selected') === 'true';
    item.setAttribute('role', 'listitem');
    item.removeAttribute('aria-selected');
    item.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', String(current));
    if (current) item.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}

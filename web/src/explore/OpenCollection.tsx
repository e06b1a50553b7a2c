import { hrefOf } from '../route';

/** Opens a collection or a document that is not listed, by its name. */
export function OpenCollection() {
  return (
    <form
      className="open-collection"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const [name, key] = [String(fields.get('name')), String(fields.get('key'))];
        location.hash = key === '' ? hrefOf('c', name) : hrefOf('c', name, key);
      }}
    >
      <details>
        <summary>Open by name</summary>
        <label>Collection <input name="name" required spellCheck={false} /></label>
        <label>Key <input name="key" placeholder="all documents" spellCheck={false} /></label>
        <button type="submit">Open</button>
      </details>
    </form>
  );
}
